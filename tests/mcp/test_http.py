"""The server as a process: where it listens, what it costs, and how it ends."""

from __future__ import annotations

import contextlib
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hearth.errors import NotLoopback
from hearth.mcp import http
from tests.conftest import Done
from tests.marks import WINDOWS
from tests.mcp import processes
from tests.mcp.processes import post, served

pytestmark = pytest.mark.timeout(20)  # importing the SDK takes a second on a free machine

signals = pytest.mark.skipif(WINDOWS, reason="Windows has no signal that asks another process to end")


def test_it_tells_where_it_is_and_ends_when_it_is_told_to(work: Path, tmp_path: Path) -> None:
    (work / "a.txt").write_bytes(b"here")
    with served(work, folder=tmp_path) as server:
        with contextlib.closing(server.connection()) as connection:
            status, answer = post(connection, "server/discover", {})
            assert (status, answer["result"]["supportedVersions"]) == (200, ["2026-07-28"])
            connection.request("GET", "/readyz")
            assert connection.getresponse().status == 200
        assert server.call("machine", operation="host_info")["pid"] == server.process.pid
        # A relative path starts at the root, wherever the server was started.
        assert server.call("fs", operation="read", path="a.txt")["data"] == "here"
        _the_second_one_on_its_port_names_it(server, work)
        if not WINDOWS:
            server.process.terminate()
            assert server.process.wait(5) == 143


def _the_second_one_on_its_port_names_it(server: processes.Server, work: Path) -> None:
    given = processes.words("--port", str(server.port), "--json", "--root", str(work))
    done = subprocess.run(given, env=processes.environment(), capture_output=True, check=False, timeout=15)
    error = json.loads(done.stdout)["error"]
    assert (done.returncode, error["code"]) == (1, "port_taken")
    assert error["details"]["holder"]["pid"] == server.process.pid
    assert f"process {server.process.pid}" in error["message"]


@signals
def test_a_held_call_ends_with_the_grace_and_its_program_with_it(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEARTH_SERVE_SHUTDOWN_GRACE_S", "0")
    with served(work) as server:
        answers: list[object] = []
        program = "import pathlib, time; pathlib.Path('began').touch(); time.sleep(60)"
        given = {"operation": "exec", "command": sys.executable, "args": ["-c", program]}
        thread = threading.Thread(target=lambda: answers.append(server.call("machine", **given)))
        thread.start()
        processes.until((work / "began").exists)
        started = time.monotonic()
        server.process.send_signal(signal.SIGHUP)
        assert server.process.wait(6) == 129
        assert time.monotonic() - started < 2.5
        thread.join(5)
        assert [answer["state"] for answer in answers] == ["cancelled"]  # type: ignore[index]


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.1", "example.com", "127.0.0.1.evil", "*"])
def test_other_machines_are_not_served(hearth: Callable[..., Done], host: str) -> None:
    done = hearth("serve", "--host", host, "--json")
    assert (done.status, done.json["error"]["code"]) == (2, "not_loopback")


@pytest.mark.parametrize(
    ("host", "address"), [("localhost", "127.0.0.1"), ("[::1]", "::1"), ("127.0.0.9", "127.0.0.9")]
)
def test_names_of_this_machine_alone_are_understood(host: str, address: str) -> None:
    assert http.loopback(host) == address
    with pytest.raises(NotLoopback):
        http.loopback(f"{host}.example")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a process's time so cheaply")
def test_a_server_that_nobody_asks_does_nothing(work: Path) -> None:
    with served(work, no_worker=False) as server:
        server.call("machine", operation="host_info")

        def ticks() -> int:
            fields = Path(f"/proc/{server.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
            return int(fields[11]) + int(fields[12])

        def switches() -> int:
            status = Path(f"/proc/{server.process.pid}/status").read_text()
            return int(status.split("voluntary_ctxt_switches:")[1].split()[0])

        before, woken = ticks(), switches()
        threading.Event().wait(1.0)
        assert ticks() - before <= 1
        assert switches() - woken <= 3  # uvicorn's own server wakes ten times a second
