"""The server as a process: sockets, bounds on what comes over them, and how it ends."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from hearth.errors import NotLoopback
from hearth.mcp import http
from tests.conftest import Done
from tests.marks import WINDOWS
from tests.mcp import processes
from tests.mcp.processes import Server, post, served

pytestmark = pytest.mark.timeout(20)  # importing the SDK takes a second on a free machine


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One for all tests that leave it as it is: it takes most of a second to start."""
    work = tmp_path_factory.mktemp("work")
    with served(work, home=work / "home") as made:
        yield made


@pytest.fixture
def server(work: Path) -> Iterator[Server]:
    with served(work) as made:
        yield made


def exchange(server: Server, data: bytes, *, finish: bool = False) -> bytes:
    """All that comes back for some bytes until the server closes."""
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        connection.sendall(data)
        if finish:
            connection.shutdown(socket.SHUT_WR)
        received = b""
        while chunk := connection.recv(65_536):
            received += chunk
        return received


def test_it_tells_where_it_is_and_ends_when_it_is_told_to(server: Server) -> None:
    with contextlib.closing(server.connection()) as connection:
        status, answer = post(connection, "server/discover", {})
        assert (status, answer["result"]["supportedVersions"]) == (200, ["2026-07-28"])
        connection.request("GET", "/readyz")
        assert connection.getresponse().status == 200
    assert server.call("machine", operation="host_info")["pid"] == server.process.pid
    if not WINDOWS:
        server.process.terminate()
        assert server.process.wait(5) == 143


def test_a_relative_path_starts_at_the_root_wherever_the_server_was_started(work: Path, tmp_path: Path) -> None:
    (work / "a.txt").write_bytes(b"here")
    with served(work, folder=tmp_path) as server:
        assert server.call("fs", operation="read", path="a.txt")["data"] == "here"


def test_a_page_of_another_origin_and_a_rebound_name_are_refused(shared: Server) -> None:
    for headers, status in (
        ({"Origin": "https://evil.example"}, 403),
        ({"Host": "evil.example"}, 421),
        ({"Host": "localhost:80.evil"}, 421),
    ):
        with contextlib.closing(shared.connection()) as connection:
            connection.request("POST", "/mcp", "{}", headers)
            assert connection.getresponse().status == status


def test_a_large_body_is_refused_before_it_is_sent(shared: Server) -> None:
    head = f"POST /mcp HTTP/1.1\r\nHost: localhost:{shared.port}\r\nContent-Length: 999999999\r\n\r\n"
    assert exchange(shared, head.encode()).startswith(b"HTTP/1.1 413 ")


def test_an_endless_head_is_cut_off(shared: Server) -> None:
    head = f"POST /mcp HTTP/1.1\r\nHost: localhost:{shared.port}\r\nX: ".encode() + b"x" * 70_000
    assert exchange(shared, head).startswith(b"HTTP/1.1 431 ")


@pytest.mark.parametrize("data", [b"\x16\x03\x01\x00\xa5", b"nonsense\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n"])
def test_what_is_no_http_is_answered_400_and_closed(shared: Server, data: bytes) -> None:
    assert exchange(shared, data).startswith(b"HTTP/1.1 400 ")


def test_a_websocket_is_not_opened(shared: Server) -> None:
    head = (
        f"GET /mcp HTTP/1.1\r\nHost: localhost:{shared.port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nConnection: close\r\n\r\n"
    )
    assert exchange(shared, head.encode()).startswith(b"HTTP/1.1 405 ")


def test_requests_in_one_packet_are_answered_in_their_order(shared: Server) -> None:
    one = f"GET /{{}} HTTP/1.1\r\nHost: localhost:{shared.port}\r\n{{}}\r\n"
    data = one.format("healthz", "") + one.format("x", "") + one.format("readyz", "Connection: close\r\n")
    received = exchange(shared, data.encode())
    assert re.findall(rb"HTTP/1.1 (\d+)", received) == [b"200", b"404", b"200"]


def test_half_a_request_ends_while_others_are_served(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEARTH_SERVE_REQUEST_TIMEOUT_S", "1")
    with served(work) as server:
        head = f"POST /mcp HTTP/1.1\r\nHost: localhost:{server.port}\r\nContent-Length: 10\r\n"
        halves = [b"POST /m", head.encode(), head.encode() + b"\r\n12345"]
        answers: list[bytes] = []
        threads = [threading.Thread(target=lambda half=half: answers.append(exchange(server, half))) for half in halves]
        for thread in threads:
            thread.start()
        assert server.call("machine", operation="host_info")["state"] == "completed"
        for thread in threads:
            thread.join(10)
        assert [answer.split(b"\r\n")[0] for answer in answers] == [b"HTTP/1.1 408 Request Timeout"] * 3


def test_more_connections_than_the_bound_are_turned_away(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEARTH_SERVE_MAX_CONNECTIONS", "4")
    with served(work) as server, contextlib.ExitStack() as stack:
        for _ in range(4):
            stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=10))
        assert exchange(server, b"").startswith(b"HTTP/1.1 503 ")
        stack.close()
        assert server.call("machine", operation="host_info")["state"] == "completed"


def test_a_client_that_goes_away_takes_its_call_back(server: Server, work: Path) -> None:
    note = "pathlib.Path('new').write_text(str(os.getpid())); os.rename('new', 'pid')"
    program = f"import os, pathlib, time; {note}; time.sleep(60)"
    arguments = {"operation": "exec", "command": "python3", "args": ["-c", program], "timeout_ms": 60_000}
    params = {"name": "machine", "arguments": arguments, "_meta": processes.META}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        connection.sendall(
            (
                f"POST /mcp HTTP/1.1\r\nHost: localhost:{server.port}\r\nContent-Type: application/json\r\n"
                "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n"
                f"Mcp-Method: tools/call\r\nMcp-Name: machine\r\nContent-Length: {len(body)}\r\n\r\n{body}"
            ).encode()
        )
        processes.until(lambda: (work / "pid").exists())
        pid = int((work / "pid").read_text())
        running = server.call("machine", operation="process_list", pids=[pid])
        assert len(running["processes"]) == 1
    waited = server.call("machine", operation="process_wait", pid=pid, timeout_ms=8_000)
    assert waited["state"] == "completed"


@pytest.mark.skipif(WINDOWS, reason="Windows has no signal that asks a process to end and can be sent to another one")
def test_a_held_call_ends_with_the_grace_and_its_program_with_it(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEARTH_SERVE_SHUTDOWN_GRACE_S", "0")
    with served(work) as server:
        answers: list[object] = []
        program = "import pathlib, time; pathlib.Path('began').touch(); time.sleep(60)"
        given = {"operation": "exec", "command": "python3", "args": ["-c", program]}
        thread = threading.Thread(target=lambda: answers.append(server.call("machine", **given)))
        thread.start()
        processes.until(lambda: (work / "began").exists())
        started = time.monotonic()
        server.process.terminate()
        assert server.process.wait(6) == 143
        assert time.monotonic() - started < 2.5
        thread.join(5)
        assert [answer["state"] for answer in answers] == ["cancelled"]  # type: ignore[index]


def test_the_second_server_on_a_port_names_the_first(shared: Server, work: Path) -> None:
    given = processes.words("--port", str(shared.port), "--json", "--root", str(work))
    done = subprocess.run(given, env=processes.environment(), capture_output=True, check=False, timeout=15)
    error = json.loads(done.stdout)["error"]
    assert (done.returncode, error["code"]) == (1, "port_taken")
    assert error["details"]["holder"]["pid"] == shared.process.pid
    assert f"process {shared.process.pid}" in error["message"]


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


@pytest.mark.skipif(not os.path.exists("/proc/self/stat"), reason="only Linux tells a process's time so cheaply")
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


def test_signals_are_not_needed_to_end_a_server_whose_terminal_went_away(work: Path) -> None:
    if WINDOWS:
        pytest.skip("Windows has no SIGHUP")
    with served(work) as server:
        server.process.send_signal(signal.SIGHUP)
        assert server.process.wait(5) == 129
