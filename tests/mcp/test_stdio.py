"""The server over pipes: nothing but the protocol on standard output, and the end when its client goes."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hearth.platforms.local import local_host
from tests.conftest import Done
from tests.marks import WINDOWS
from tests.mcp import processes
from tests.mcp.processes import META

pytestmark = pytest.mark.timeout(20)


class Pipes:
    """A client of a server that it started."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process

    def send(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def line(self) -> bytes:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def receive(self) -> Any:
        return json.loads(self.line())

    def request(self, id_: int, method: str, **params: Any) -> None:
        message = {"jsonrpc": "2.0", "id": id_, "method": method, "params": {**params, "_meta": META}}
        self.send(json.dumps(message).encode())

    def call(self, id_: int, tool: str, **arguments: Any) -> None:
        self.request(id_, "tools/call", name=tool, arguments=arguments)


@contextlib.contextmanager
def started(work: Path, home: Path | None = None, **environment: str) -> Iterator[Pipes]:
    given = processes.words("--stdio", "--no-worker", "--root", str(work), "--verbose")
    with subprocess.Popen(
        given, cwd=work, env=processes.environment(home) | environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        yield Pipes(process)
        process.kill()


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pipes]:
    """One server for all tests that leave it as it is: it takes most of a second to start. Its console is one of
    Windows, as far as it knows."""
    work = tmp_path_factory.mktemp("work")
    with started(work, work / "home", PYTHONIOENCODING="cp1252") as made:
        made.request(0, "server/discover")
        assert made.receive()["result"]["supportedVersions"] == ["2026-07-28"]
        yield made


@pytest.fixture
def pipes(work: Path) -> Iterator[Pipes]:
    with started(work) as made:
        yield made


def test_calls_are_answered_on_standard_output_and_nothing_else_is(shared: Pipes) -> None:
    shared.call(
        2, "machine", operation="exec", command=sys.executable, args=["-c", "print('noise'); raise SystemExit(3)"]
    )
    answer = shared.receive()
    assert answer["id"] == 2
    assert answer["result"]["structuredContent"]["stdout"].strip() == "noise"


def test_text_is_utf8_and_lines_end_alike_everywhere(shared: Pipes) -> None:
    shared.call(1, "fs", operation="write", path="a.txt", data="wörld 🌍\n")
    line = shared.line()
    assert line.endswith(b"}\n")
    assert json.loads(line)["result"]["structuredContent"]["state"] == "completed"
    shared.call(2, "fs", operation="read", path="a.txt")
    assert shared.receive()["result"]["structuredContent"]["data"] == "wörld 🌍\n"


def test_a_program_finds_nothing_of_the_protocol_on_its_input(shared: Pipes) -> None:
    shared.call(
        1, "machine", operation="exec", command=sys.executable, args=["-c", "import sys; print(repr(sys.stdin.read()))"]
    )
    shared.call(2, "machine", operation="host_info")
    answers = {answer["id"]: answer["result"]["structuredContent"] for answer in (shared.receive(), shared.receive())}
    assert answers[1]["stdout"].strip() == "''"
    assert answers[2]["state"] == "completed"


def test_the_former_handshake_is_understood(pipes: Pipes) -> None:
    client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
    pipes.send(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}).encode())
    assert pipes.receive()["result"]["serverInfo"]["name"] == "hearth"
    pipes.send(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}')
    pipes.send(b'{"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "fs", "arguments": {}}}')
    assert pipes.receive()["result"]["isError"] is True


def test_a_line_that_is_no_json_harms_only_itself(shared: Pipes) -> None:
    shared.send(b'{"jsonrpc": "2.0", "id": 2, "method": "a\x0bb"}')
    shared.send(b"nonsense")
    shared.call(3, "machine", operation="host_info")
    answers = [shared.receive()]
    while answers[-1].get("id") != 3:
        answers.append(shared.receive())
    assert answers[-1]["result"]["structuredContent"]["state"] == "completed"


def test_the_server_ends_with_its_client_and_so_does_what_it_runs(work: Path) -> None:
    with contextlib.ExitStack() as stack:
        taken = stack.enter_context(socket.create_server(("127.0.0.1", 0)))  # over pipes no port is needed
        _ends(stack.enter_context(started(work, HEARTH_SERVE_PORT=str(taken.getsockname()[1]))), work)


def _ends(pipes: Pipes, work: Path) -> None:
    program = "import os, pathlib, time; pathlib.Path('new').write_text(str(os.getpid()))"
    program += "; os.rename('new', 'pid'); time.sleep(60)"
    pipes.call(1, "machine", operation="exec", command=sys.executable, args=["-c", program])
    processes.until((work / "pid").exists)
    assert pipes.process.stdin is not None
    pipes.process.stdin.close()
    assert pipes.process.wait(10) == 0
    assert local_host().process_start(int((work / "pid").read_text())) is None


def test_a_cancelled_call_is_taken_back(shared: Pipes) -> None:
    shared.call(2, "machine", operation="exec", command=sys.executable, args=["-c", "import time; time.sleep(60)"])
    shared.send(b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 2}}')
    shared.call(3, "machine", operation="host_info")
    assert shared.receive()["id"] == 3


@pytest.mark.skipif(WINDOWS, reason="Windows has no signal that asks a process to end and can be sent to another one")
def test_a_signal_ends_it_though_its_input_stays_open(pipes: Pipes) -> None:
    pipes.request(1, "server/discover")
    pipes.receive()
    pipes.process.terminate()
    assert pipes.process.wait(5) == 143


def test_a_port_makes_no_sense_over_pipes(hearth: Any) -> None:
    done: Done = hearth("serve", "--stdio", "--port", "3000", "--json")
    assert (done.status, done.json["error"]["code"]) == (2, "invalid_input")


def test_the_client_of_the_pipes_is_told_of_what_it_detached(work: Path) -> None:
    with started(work) as pipes:
        pipes.call(1, "machine", operation="host_info", detach=True)
        pending = pipes.receive()["result"]["structuredContent"]
        assert "conversation" not in pending
        told, number = pending["arrivals"], 1
        while not told:
            number += 1
            pipes.call(number, "machine", operation="host_info")
            told = pipes.receive()["result"]["structuredContent"]["arrivals"]
        assert [item["id"] for item in told] == [pending["future_id"]]
        pipes.call(number + 1, "machine", operation="host_info")
        assert pipes.receive()["result"]["structuredContent"]["arrivals"] == []


def test_what_was_asked_before_the_end_of_input_is_answered(work: Path, home: Path) -> None:
    asked = [
        {"jsonrpc": "2.0", "id": number, "method": method, "params": {"_meta": META}}
        for number, method in enumerate(("tools/list", "server/discover"), 1)
    ]
    done = subprocess.run(
        processes.words("--stdio", "--no-worker", "--root", str(work)),
        cwd=work,
        env=processes.environment(home),
        input="".join(json.dumps(each) + "\n" for each in asked).encode(),
        capture_output=True,
        timeout=15,
        check=False,
    )
    assert sorted(json.loads(line)["id"] for line in done.stdout.splitlines()) == [1, 2]
    assert (done.returncode, done.stderr) == (0, b"")
