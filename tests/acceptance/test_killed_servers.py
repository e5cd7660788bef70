"""Servers that are killed, stopped and doubled while calls are under way: nothing that was told gets lost."""

from __future__ import annotations

import contextlib
import http.client
import json
import random
import signal
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.marks import posix_only
from tests.mcp.conftest import MODERN
from tests.mcp.processes import META, Server, served, until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]
CALLS = 500
SHORTLY = "import time, random; time.sleep(random.random() / 5)"


def call(connection: http.client.HTTPConnection, tool: str, request: str | None = None, **arguments: Any) -> Any:
    """The document that a tool answers the conversation `mine` with."""
    meta = META | {"hearth/conversation": "mine"} | ({"hearth/request": request} if request else {})
    params = {"name": tool, "arguments": arguments, "_meta": meta}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": MODERN,
        "Mcp-Method": "tools/call",
        "Mcp-Name": tool,
    }
    connection.request("POST", "/mcp", json.dumps(message), headers)
    return json.loads(connection.getresponse().read())["result"]["structuredContent"]


class Clients:
    """Eight clients of one conversation, who write lines and begin programs; what they were told."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._left = list(range(CALLS))
        self._lock = threading.Lock()
        self.answers: dict[int, Any] = {}
        self.sent: set[int] = set()

    def run(self) -> None:
        threads = [threading.Thread(target=self._work) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)

    def _work(self) -> None:
        cut = contextlib.suppress(OSError, ValueError, KeyError, http.client.HTTPException)
        with contextlib.closing(self._server.connection()) as connection, cut:
            while (number := self._next()) is not None:
                self.answers[number] = one(connection, number)

    def _next(self) -> int | None:
        with self._lock:
            if not self._left:
                return None
            self.sent.add(self._left[-1])
            return self._left.pop()


def one(connection: http.client.HTTPConnection, number: int) -> Any:
    if number % 5:
        line = f"{number}\n"
        return call(
            connection, "fs", f"r{number}", operation="write", path=f"{number % 16}.log", data=line, append=True
        )
    return call(connection, "machine", operation="exec", command=sys.executable, args=["-c", SHORTLY], wait_ms=0)


def test_a_server_that_is_killed_amid_500_calls_loses_and_doubles_nothing(work: Path) -> None:
    chance = random.Random(20_261_130)
    with served(work) as server:
        clients = Clients(server)
        runner = threading.Thread(target=clients.run)
        runner.start()
        goal = chance.randrange(100, 400)
        until(lambda: len(clients.answers) >= goal)
        server.process.kill()
        runner.join(60)
    assert goal <= len(clients.answers) < CALLS
    with served(work) as server, contextlib.closing(server.connection()) as connection:
        futures = {answer["future_id"] for answer in clients.answers.values() if "future_id" in answer}
        again = {number: one(connection, number) for number in sorted(clients.sent) if number % 5}
        for number, answer in clients.answers.items():
            if number % 5 and answer["state"] == "completed":
                assert again[number]["receipt"] == answer["receipt"], "the same request has the same answer"
        told = sorted(arrived(connection, futures))
        assert futures <= set(told)
    lines = Counter(int(line) for file in work.glob("*.log") for line in file.read_text("utf-8").split())
    assert set(lines.values()) == {1}, "no request was done twice"
    cut = {number for number, answer in again.items() if answer["state"] == "blocked"}
    assert all(again[number]["error"]["code"] == "interrupted" for number in cut)
    assert len(cut) <= 8, "no more than were under way"
    assert set(lines) >= set(again) - cut


def arrived(connection: http.client.HTTPConnection, wanted: set[str]) -> set[str]:
    """The futures that arrived, once all that are wanted have."""
    seen: set[str] = set()
    ack = 0
    deadline = time.monotonic() + 60
    # What was told before the server was killed may have been acknowledged; that can be read again.
    since = 0
    while (page := call(connection, "run", operation="arrivals", since=since))["told"]:
        seen |= {item["id"] for item in page["told"]}
        since = page["told"][-1]["seq"]
    while not wanted <= seen:
        assert time.monotonic() < deadline
        for item in call(connection, "machine", operation="host_info", ack=ack)["arrivals"]:
            seen.add(item["id"])
            ack = item["seq"]
    return seen


@posix_only("Windows has no SIGTERM that a program could hear")
def test_a_server_that_is_stopped_stores_what_it_was_doing(work: Path) -> None:
    code = "import time, pathlib; pathlib.Path('begun').touch(); time.sleep(0.5); print('done')"
    with served(work) as server, contextlib.closing(server.connection()) as connection:
        program: dict[str, Any] = {"operation": "exec", "command": sys.executable, "args": ["-c", code]}
        id_ = call(connection, "machine", **program, detach=True)["future_id"]
        until((work / "begun").exists)
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(20) == 143
    with served(work) as server, contextlib.closing(server.connection()) as connection:
        ended = call(connection, "task", operation="get", id=id_)["future"]
        assert (ended["state"], ended["result"]["stdout"].strip()) == ("completed", "done")
        assert id_ in arrived(connection, {id_})


@posix_only("Windows has no SIGTERM that a program could hear")
def test_what_does_not_end_in_the_grace_is_blocked_and_a_job_goes_on(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEARTH_SERVE_SHUTDOWN_GRACE_S", "1")
    waits = "import pathlib, sys, time; pathlib.Path(sys.argv[1]).touch()\n"
    waits += "while not pathlib.Path('go').exists(): time.sleep(0.05)"
    with served(work, no_worker=False) as server, contextlib.closing(server.connection()) as connection:
        program: dict[str, Any] = {"command": sys.executable, "args": ["-c", waits, "called"]}
        future = call(connection, "machine", operation="exec", **program, detach=True)["future_id"]
        program["args"] = ["-c", waits, "submitted"]
        job = call(connection, "task", operation="submit", **program)["jobs"][0]["id"]
        until((work / "called").exists)
        until((work / "submitted").exists)
        server.process.send_signal(signal.SIGTERM)
        started = time.monotonic()
        assert server.process.wait(20) == 143
        assert time.monotonic() - started < 1 + 2 + 1, "the grace and two seconds, and one for a busy machine"
    (work / "go").touch()
    with served(work) as server, contextlib.closing(server.connection()) as connection:
        ended = call(connection, "task", operation="get", id=future)["future"]
        assert (ended["state"], ended["result"]["error"]["code"]) == ("blocked", "interrupted")
        waited = call(connection, "task", operation="wait", ids=[job])
        assert waited["jobs"][0]["state"] == "completed"


def test_two_servers_on_one_data_directory_leave_each_other_alone(work: Path) -> None:
    waits = "import pathlib, time\nwhile not pathlib.Path('go').exists(): time.sleep(0.05)"
    with served(work) as one_server, served(work) as other, contextlib.closing(one_server.connection()) as first:
        program: dict[str, Any] = {"operation": "exec", "command": sys.executable, "args": ["-c", waits]}
        id_ = call(first, "machine", **program, detach=True)["future_id"]
        other.process.kill()
        other.process.wait(10)
        with served(work) as third, contextlib.closing(third.connection()) as connection:
            assert call(connection, "task", operation="get", id=id_)["future"]["state"] in ("pending", "running")
            (work / "go").touch()
            waited = call(connection, "task", operation="wait", ids=[id_])
            assert waited["futures"][0]["state"] == "completed"
            assert id_ in arrived(connection, {id_})
