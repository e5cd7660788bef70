"""The server, against a bare ASGI app on the same HTTP stack, and over pipes against the usual file server of npm."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import psutil

from tests.benchmarks.measure import ROOT, Row, Sample, Series, compare, interleaved, limit
from tests.benchmarks.setting import Setting

VERSION = "2026-07-28"
PREFIX = "io.modelcontextprotocol/"
META = {
    PREFIX + "protocolVersion": VERSION,
    PREFIX + "clientInfo": {"name": "bench", "version": "1"},
    PREFIX + "clientCapabilities": {},
}
CALLS = 200  # of one sample; what counts is their median
CLIENTS = 8
LOAD_S = 3.0
IDLE_S = 3.0
MANY_CALLS = 16_000
BARE = """
import sys
import uvicorn

BODY = b'{"jsonrpc":"2.0","id":1,"result":{}}'

async def app(scope, receive, send):
    while (await receive()).get("more_body"):
        pass
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(BODY)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": BODY})

uvicorn.run(app, port=int(sys.argv[1]), lifespan="off", log_level="error", access_log=False, timeout_keep_alive=600)
"""
HOST_INFO = ("machine", {"operation": "host_info"})
READ = ("fs", {"operation": "read", "path": "a.txt"})
EXEC = ("machine", {"operation": "exec", "command": "true"})


def serving(setting: Setting) -> list[Row]:
    folder = setting.folder / "serving"
    folder.mkdir()
    (folder / "a.txt").write_bytes(b"0123456789abcde\n" * 256)
    with hearth(folder) as server, bare() as plain:
        rows = list(_latency(setting, server, plain))
        rows += _load(setting, server)
    return [*rows, *_resources(setting, folder), *_over_pipes(setting, folder)]


# Servers and clients.


@dataclass(frozen=True, slots=True)
class Server:
    port: int
    process: psutil.Process

    def client(self) -> Client:
        return Client(self.port)


class Client:
    """One connection that is kept; as little of a client as there can be."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=30)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._port = port

    def request(self, method: str, params: dict[str, Any], name: str = "") -> bytes:
        """The bytes of a request."""
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": META}}).encode()
        lines = [
            "POST /mcp HTTP/1.1", f"Host: 127.0.0.1:{self._port}", "Content-Type: application/json",
            "Accept: application/json, text/event-stream", f"MCP-Protocol-Version: {VERSION}", f"Mcp-Method: {method}",
            *([f"Mcp-Name: {name}"] if name else []), f"Content-Length: {len(body)}", "", "",
        ]  # fmt: skip
        return "\r\n".join(lines).encode() + body

    def call(self, tool: str, arguments: dict[str, Any]) -> bytes:
        return self.request("tools/call", {"name": tool, "arguments": arguments}, tool)

    def send(self, request: bytes) -> bytes:
        """The body of the answer."""
        self._socket.sendall(request)
        received = b""
        while b"\r\n\r\n" not in received:
            received += self._more()
        head, _, body = received.partition(b"\r\n\r\n")
        assert b" 200 " in head[:20], received[:500]
        length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
        while len(body) < length:
            body += self._more()
        return body

    def _more(self) -> bytes:
        data = self._socket.recv(262_144)
        if not data:
            raise ConnectionError("the server closed the connection")
        return data

    def close(self) -> None:
        self._socket.close()


def _environment(folder: Path) -> dict[str, str]:
    names = ("HOME", "USERPROFILE", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "LOCALAPPDATA", "APPDATA")
    return {**os.environ, "PYTHONPATH": str(ROOT), **dict.fromkeys(names, str(folder / "home"))}


def _words(folder: Path, *more: str) -> list[str]:
    return [sys.executable, "-m", "hearth", "serve", "--json", "--root", str(folder), *more]


@contextlib.contextmanager
def hearth(folder: Path) -> Iterator[Server]:
    words = _words(folder, "--port", "0")
    with subprocess.Popen(words, cwd=folder, env=_environment(folder), stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            url = json.loads(process.stdout.readline())["url"]
            yield Server(int(url.rsplit(":", 1)[1].split("/")[0]), psutil.Process(process.pid))
        finally:
            process.terminate()


@contextlib.contextmanager
def bare() -> Iterator[Server]:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    with subprocess.Popen([sys.executable, "-c", BARE, str(port)]) as process:
        try:
            deadline = time.monotonic() + 20
            while True:
                with contextlib.suppress(OSError):
                    socket.create_connection(("127.0.0.1", port), timeout=1).close()
                    break
                assert time.monotonic() < deadline
            yield Server(port, psutil.Process(process.pid))
        finally:
            process.terminate()


# One connection.


def _latency(setting: Setting, server: Server, plain: Server) -> Iterator[Row]:
    client, other = server.client(), plain.client()
    requests = {
        "bare": (other, other.call(*HOST_INFO)),
        "host_info": (client, client.call(*HOST_INFO)),
        "read": (client, client.call(*READ)),
        "list": (client, client.request("tools/list", {})),
    }
    contenders = {name: _median(partial(of.send, request)) for name, (of, request) in requests.items()}
    contenders["write"] = _median(_writer(client))
    series = interleaved(contenders, setting.rounds)
    yield compare(
        "`host_info` over HTTP, one connection",
        "a bare ASGI app",
        series["host_info"],
        series["bare"],
        most=10,
        of="wall_ms",
    )
    for name, what, most in (
        ("host_info", "`host_info`", 1.2), ("read", "`fs read` of 4 KiB", 1.6), ("write", "`fs write` of 4 KiB", 3.5),
        ("list", "`tools/list`", 3.0),
    ):  # fmt: skip
        yield limit(f"{what} over HTTP, one connection", series[name], of="wall_ms", most=most, to_reach=f"{most:g} ms")
    client.close()
    other.close()


def _median(call: Callable[[], Any]) -> Callable[[], Sample]:
    def sample() -> Sample:
        taken = []
        for _ in range(CALLS):
            started = time.perf_counter()
            call()
            taken.append((time.perf_counter() - started) * 1000)
        return Sample(statistics.median(taken), 0)

    return sample


def _writer(client: Client) -> Callable[[], bytes]:
    number = 0

    def write() -> bytes:
        nonlocal number
        number += 1
        data = f"{number:015}\n" * 256
        return client.send(client.call("fs", {"operation": "write", "path": "b.txt", "data": data}))

    return write


# Many connections.


def _load(setting: Setting, server: Server) -> Iterator[Row]:
    for call, what, least, most_ms in ((HOST_INFO, "`host_info`", 1_000, 25.0), (EXEC, "`exec true`", 450, None)):
        runs = [_under_load(server, *call) for _ in range(setting.rounds)]
        rates = Series(tuple(Sample(rate, 0) for rate, _ in runs))
        low, high = rates.spread("wall_ms")
        rate = rates.median("wall_ms")
        yield Row(
            f"{what} with {CLIENTS} clients", "-", "calls/s", rate, (low, high), f"{least:,} calls/s", rate >= least
        )
        if most_ms is not None:
            slow = Series(tuple(Sample(p99, 0) for _, p99 in runs))
            yield limit(
                f"{what} with {CLIENTS} clients, p99", slow, of="wall_ms", most=most_ms, to_reach=f"{most_ms:g} ms"
            )


def _under_load(server: Server, tool: str, arguments: dict[str, Any]) -> tuple[float, float]:
    """Calls a second, and the 99th percentile in ms."""
    taken: list[float] = []
    end = time.monotonic() + LOAD_S

    def work() -> None:
        with contextlib.closing(server.client()) as client:
            request = client.call(tool, arguments)
            while time.monotonic() < end:
                started = time.perf_counter()
                client.send(request)
                taken.append((time.perf_counter() - started) * 1000)

    threads = [threading.Thread(target=work) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return len(taken) / LOAD_S, statistics.quantiles(taken, n=100)[98]


# Starting, memory, doing nothing.


def _resources(setting: Setting, folder: Path) -> Iterator[Row]:
    starts, idle, fresh, used = [], [], [], []
    for _ in range(min(setting.rounds, 3)):
        started = time.perf_counter()
        with hearth(folder) as server:
            with contextlib.closing(server.client()) as client:
                client.send(client.request("server/discover", {}))
                starts.append(Sample((time.perf_counter() - started) * 1000, 0))
                client.send(client.call(*HOST_INFO))
            fresh.append(Sample(0, 0, server.process.memory_info().rss))
            before = sum(server.process.cpu_times()[:2])
            time.sleep(IDLE_S)
            idle.append(Sample((sum(server.process.cpu_times()[:2]) - before) / IDLE_S * 100, 0))
            with contextlib.closing(server.client()) as client:
                request = client.call(*READ)
                for _ in range(MANY_CALLS):
                    client.send(request)
            used.append(Sample(0, 0, server.process.memory_info().rss))
    yield limit(
        "start until `server/discover` is answered", Series(tuple(starts)), of="wall_ms", most=1_000, to_reach="1 s"
    )
    yield limit("resident, idle", Series(tuple(fresh)), of="rss_bytes", most=85, to_reach="85 MiB")
    yield limit(
        f"resident after {MANY_CALLS:,} calls", Series(tuple(used)), of="rss_bytes", most=120, to_reach="120 MiB"
    )
    low, high = Series(tuple(idle)).spread("wall_ms")
    share = Series(tuple(idle)).median("wall_ms")
    yield Row("processor of a server that nobody asks", "-", "%", share, (low, high), "0.1 %", share < 0.1)


# Pipes.


class Pipes:
    """A server that was started, over its pipes."""

    def __init__(self, words: list[str], folder: Path) -> None:
        self.process = subprocess.Popen(
            words, cwd=folder, env=_environment(folder), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def send(self, message: dict[str, Any]) -> bytes:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()
        return self.process.stdout.readline() if "id" in message else b""

    def close(self) -> None:
        self.process.kill()
        self.process.communicate()


def _over_pipes(setting: Setting, folder: Path) -> Iterator[Row]:
    npm = Path(os.environ.get("MCP_PEERS", "nowhere")) / "node_modules"
    program = npm / "@modelcontextprotocol" / "server-filesystem" / "dist" / "index.js"
    own = Pipes(_words(folder, "--stdio"), folder)
    own.send({"id": 0, "method": "server/discover", "params": {"_meta": META}})
    read = {"id": 1, "method": "tools/call", "params": {"name": READ[0], "arguments": READ[1], "_meta": META}}
    contenders = {"hearth": _median(lambda: own.send(read))}
    theirs = None
    if program.exists():
        theirs = Pipes([str(npm / "node" / "bin" / "node"), str(program), str(folder)], folder)
        client = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        theirs.send({"id": 0, "method": "initialize", "params": client})
        theirs.send({"method": "notifications/initialized"})
        arguments = {"path": str(folder / "a.txt")}
        asked = {"id": 1, "method": "tools/call", "params": {"name": "read_text_file", "arguments": arguments}}
        peer = theirs
        assert b"0123456789abcde" in peer.send(asked)
        contenders["npm"] = _median(lambda: peer.send(asked))
    series = interleaved(contenders, setting.rounds)
    own.close()
    if theirs is None:
        yield limit("`fs read` of 4 KiB over pipes", series["hearth"], of="wall_ms", most=0.95, to_reach="0.95 ms")
    else:
        theirs.close()
        yield compare(
            "`fs read` of 4 KiB over pipes",
            "`@modelcontextprotocol/server-filesystem`",
            series["hearth"],
            series["npm"],
            most=1.1,
            of="wall_ms",
        )
