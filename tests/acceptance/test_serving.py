"""A server under what the world does to it: too many, too slow, too little of everything."""

from __future__ import annotations

import contextlib
import json
import random
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.marks import posix_only
from tests.mcp import mutations, processes
from tests.mcp.conftest import PORT
from tests.mcp.processes import Server, served, told

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]

# A program that may have few files open becomes hearth.
FEW = """
import os, resource, sys
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
os.execv(sys.argv[1], sys.argv[1:])
"""


def request(server: Server, *lines: str, body: bytes = b"") -> bytes:
    head = [f"Host: 127.0.0.1:{server.port}", f"Content-Length: {len(body)}", *lines]
    return "\r\n".join(["POST /mcp HTTP/1.1", *head, "", ""]).encode() + body


@contextlib.contextmanager
def opened(server: Server, count: int) -> Iterator[list[socket.socket]]:
    with contextlib.ExitStack() as stack:
        yield [
            stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=30)) for _ in range(count)
        ]


def status(connection: socket.socket) -> bytes:
    """The status of the next answer, which is read whole."""
    received = b""
    while not received.endswith((b"}", b"time")):
        data = connection.recv(4_096)
        assert data, received
        received += data
    return received[:12]


def test_a_thousand_connections_stay_open_and_each_is_answered(work: Path) -> None:
    with served(work) as server, opened(server, 1_000) as connections:
        probe = f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode()
        for _ in range(2):
            for connection in connections:
                connection.sendall(probe)
            assert Counter(map(status, connections)) == {b"HTTP/1.1 200": 1_000}
        assert server.call("machine", operation="host_info")["state"] == "completed"


def test_clients_that_send_a_byte_now_and_then_keep_nobody_else_from_being_answered(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEARTH_SERVE_REQUEST_TIMEOUT_S", "3")
    with served(work) as server, opened(server, 200) as connections:
        half = request(server, "Content-Type: application/json", body=b"{}")
        for place, connection in enumerate(connections):
            connection.sendall(half[: 10 + place % (len(half) - 11)])
        taken = []
        with contextlib.closing(server.connection()) as quick:
            for _ in range(100):
                started = time.monotonic()
                assert told(quick, "machine", operation="host_info")["state"] == "completed"
                taken.append(time.monotonic() - started)
        assert sorted(taken)[90] < 0.5
        assert Counter(map(status, connections)) == {b"HTTP/1.1 408": 200}


@posix_only("only POSIX counts the files of a process")
def test_a_server_that_may_open_few_files_refuses_and_lives_on(work: Path) -> None:
    words = [sys.executable, "-c", FEW, *processes.words("--port", "0", "--json", "--no-worker", "--root", str(work))]
    with subprocess.Popen(words, cwd=work, env=processes.environment(), stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            server = Server(process, json.loads(process.stdout.readline())["url"])
            states: list[str] = []

            def call() -> None:
                with contextlib.suppress(OSError, ValueError):  # a connection too many is turned away
                    states.append(server.call("machine", operation="exec", command="true")["state"])

            threads = [threading.Thread(target=call) for _ in range(24)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(60)
            assert "completed" in states
            assert set(states) <= {"completed", "blocked"}
            assert server.call("machine", operation="exec", command="true")["state"] == "completed"
            assert process.poll() is None
        finally:
            process.terminate()
            assert process.wait(10) == 143


def test_a_database_that_another_process_holds_delays_writes_and_nothing_else(work: Path, home: Path) -> None:
    (work / "a.txt").write_bytes(b"here")
    with served(work) as server:
        server.call("fs", operation="write", path="b.txt", data="x")
        database = next(home.rglob("hearth.sqlite3"))
        holder = sqlite3.connect(database, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        written: list[str] = []
        thread = threading.Thread(
            target=lambda: written.append(server.call("fs", operation="write", path="c.txt", data="y")["state"])
        )
        thread.start()
        started = time.monotonic()
        for _ in range(20):
            assert server.call("fs", operation="read", path="a.txt")["data"] == "here"
        assert time.monotonic() - started < 3
        holder.execute("ROLLBACK")
        holder.close()
        thread.join(30)
        assert written == ["completed"]
        assert (work / "c.txt").read_bytes() == b"y"


FINE = (200, 202, 400, 403, 404, 405, 406, 408, 413, 421, 431)


def test_ten_thousand_malformed_requests_are_refused_and_leave_no_trace(work: Path, home: Path) -> None:
    (work / "a.txt").write_bytes(b"hello world")
    chance = random.Random(20_261_130)
    with served(work) as server:
        seen: Counter[int] = Counter()
        for _ in range(10_000):
            seen[int(exchanged(server, raw(server, chance)).split(b" ")[1])] += 1
        assert set(seen) <= set(FINE)
        assert len(seen) >= 6
        assert server.call("machine", operation="host_info")["state"] == "completed"
        server.process.kill()
        _, told = server.process.communicate()
    assert told == b""
    assert not list(home.rglob("crashes"))


def raw(server: Server, chance: random.Random) -> bytes:
    """A request that is nearly right, or hardly a request at all."""
    headers, body = mutations.mutated(chance)
    lines = [f"{name}: {value}" for name, value in headers]
    lines = [line.replace(f":{PORT}", f":{server.port}") for line in lines]
    path = chance.choice(["/mcp"] * 20 + ["/", "/mcp/", "/%6dcp", "//", "/\u00e9"])
    method = chance.choice(["POST"] * 20 + ["GET", "PUT", "OPTIONS", "BREW"])
    length = chance.choice([len(body)] * 20 + [len(body) + 5, 1 << 40])
    text = "\r\n".join([f"{method} {path} HTTP/1.1", *lines, f"Content-Length: {length}", "Connection: close", "", ""])
    data = text.encode("latin-1", "replace") + body
    return data if chance.random() < 0.9 else data[: chance.randrange(len(data))] + b"\r\n\r\n"


def exchanged(server: Server, data: bytes) -> bytes:
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as connection:
        received = b""
        with contextlib.suppress(ConnectionResetError, BrokenPipeError):  # closed before all of it was read
            connection.sendall(data)
            connection.shutdown(socket.SHUT_WR)
            while chunk := connection.recv(65_536):
                received += chunk
        return received or b"HTTP/1.1 408 "


def test_many_calls_leave_no_memory_behind(work: Path) -> None:
    psutil = pytest.importorskip("psutil")
    (work / "a.txt").write_bytes(b"0123456789abcde\n" * 256)
    with served(work) as server, contextlib.closing(server.connection()) as connection:
        sizes = []
        for calls in (4_000, 12_000):
            for _ in range(calls):
                assert told(connection, "fs", operation="read", path="a.txt")["state"] == "completed"
            sizes.append(psutil.Process(server.process.pid).memory_info().rss)
        assert sizes[1] < sizes[0] * 1.10
