"""A server as a process of its own."""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.mcp.conftest import MODERN, PREFIX

ROOT = Path(__file__).parents[2]
META = {
    PREFIX + "protocolVersion": MODERN,
    PREFIX + "clientInfo": {"name": "t", "version": "1"},
    PREFIX + "clientCapabilities": {},
}


def words(*more: str) -> list[str]:
    return [sys.executable, "-m", "hearth", "serve", *more]


def environment(home: Path | None = None) -> dict[str, str]:
    """This process's, or where `home` is given none of what it says about a user."""
    if home is None:
        return {**os.environ, "PYTHONPATH": str(ROOT)}
    rest = {name: value for name, value in os.environ.items() if not name.startswith(("HEARTH_", "XDG_"))}
    places = dict.fromkeys(("HOME", "USERPROFILE", "LOCALAPPDATA", "APPDATA"), str(home))
    return {**rest, **places, "PYTHONPATH": str(ROOT)}


@dataclass
class Server:
    """A server that answers."""

    process: subprocess.Popen[bytes]
    url: str

    @property
    def port(self) -> int:
        port = urlsplit(self.url).port
        assert port is not None
        return port

    def connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)

    def call(self, tool: str, **arguments: Any) -> Any:
        """The document that a tool answers with."""
        with contextlib.closing(self.connection()) as connection:
            return told(connection, tool, **arguments)


def told(connection: http.client.HTTPConnection, tool: str, **arguments: Any) -> Any:
    status, answer = post(connection, "tools/call", {"name": tool, "arguments": arguments}, tool)
    assert status == 200, answer
    return answer["result"]["structuredContent"]


def post(
    connection: http.client.HTTPConnection, method: str, params: dict[str, Any], name: str | None = None
) -> tuple[int, Any]:
    message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": META}}
    headers = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": MODERN,
        "Mcp-Method": method,
    }
    connection.request("POST", "/mcp", json.dumps(message), headers | ({"Mcp-Name": name} if name else {}))
    response = connection.getresponse()
    return response.status, json.loads(response.read())


@contextlib.contextmanager
def served(
    work: Path, *more: str, no_worker: bool = True, home: Path | None = None, folder: Path | None = None
) -> Iterator[Server]:
    """A server below `work`, which is ended behind the block if it has not ended by itself."""
    given = words("--port", "0", "--json", "--root", str(work), *(["--no-worker"] if no_worker else []), *more)
    with subprocess.Popen(
        given,
        cwd=folder or work,
        env=environment(home),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line, process.stderr.read().decode() if process.stderr else ""
            event = json.loads(line)
            assert event["event"] == "ready"
            yield Server(process, event["url"])
        finally:
            if process.poll() is None:
                process.kill()
            process.communicate()


def until(found: Callable[[], bool]) -> None:
    """Wait for something that no handle tells, such as what a program did to a file."""
    deadline = time.monotonic() + 10
    while not found():
        assert time.monotonic() < deadline
        threading.Event().wait(0.01)
