"""A server in this process whose sockets are real, and bytes to send to it."""

from __future__ import annotations

import contextlib
import http.client
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from hearth.cancellation import Cancellation
from hearth.mcp import http as server_http
from hearth.mcp import server
from hearth.mcp.app import App
from hearth.runtime import Runtime
from tests.mcp.processes import told


@dataclass
class Live:
    """A server that answers on a port."""

    port: int
    app: App

    def connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)

    def call(self, tool: str, **arguments: Any) -> Any:
        """The document that a tool answers with."""
        with contextlib.closing(self.connection()) as connection:
            return told(connection, tool, **arguments)

    def exchange(self, data: bytes) -> bytes:
        """All that comes back for some bytes until the server closes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=10) as connection:
            connection.sendall(data)
            received = b""
            while chunk := connection.recv(65_536):
                received += chunk
            return received


@contextlib.contextmanager
def live(runtime: Runtime, **changes: Any) -> Iterator[Live]:
    """A server with these settings of `serve`."""
    settings = replace(runtime.settings, serve=replace(runtime.settings.serve, shutdown_grace_s=0, **changes))
    app, stop, ready = App(runtime.for_call(settings=settings)), Cancellation(), threading.Event()
    with contextlib.closing(server_http.listen(app, "127.0.0.1", 0)) as listening:
        thread = threading.Thread(
            target=server_http.serve, args=(app, server.build(app), listening, stop, ready.set), name="server"
        )
        thread.start()
        try:
            assert ready.wait(10)
            yield Live(listening.port, app)
        finally:
            stop.set()
            thread.join(10)
            assert not thread.is_alive()
