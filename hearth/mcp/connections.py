"""Connections of the HTTP server: how many there may be, and how long one may take over the head of a request."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

if TYPE_CHECKING:
    from uvicorn.config import Config
    from uvicorn.server import ServerState


@dataclass(frozen=True, slots=True)
class Limits:
    """`idle_seconds`: between two requests, and before the first."""

    connections: int = 2_048
    head_bytes: int = 64 * 1024
    head_seconds: float = 10.0
    idle_seconds: float = 120.0


class Connection(HttpToolsProtocol):
    """One connection. What a client leaves half done, it loses."""

    def __init__(self, limits: Limits, config: Config, state: ServerState) -> None:
        super().__init__(config=config, server_state=state, app_state={})
        self._limits = limits
        self._head_timer: asyncio.TimerHandle | None = None
        self._head_bytes = 0
        self.timeout_keep_alive = limits.idle_seconds  # type: ignore[assignment]

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        if len(self.connections) > self._limits.connections:
            self._end(b"503 Service Unavailable", "too many connections")
            return
        self.timeout_keep_alive_task = self.loop.call_later(self._limits.idle_seconds, self.timeout_keep_alive_handler)

    def connection_lost(self, exc: Exception | None) -> None:
        self._disarm()
        self._unset_keepalive_if_required()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        self._head_bytes += len(data)
        if self._head_timer is None and (self.cycle is None or self.cycle.response_complete):
            self._head_timer = self.loop.call_later(self._limits.head_seconds, self._head_is_late)
        super().data_received(data)
        if self._head_bytes > self._limits.head_bytes:
            self._end(b"431 Request Header Fields Too Large", "the head of the request is too large")

    def on_header(self, name: bytes, value: bytes) -> None:
        super().on_header(name, value.strip(b" \t"))  # RFC 9110, 5.5: blanks around a value are not a part of it

    def on_headers_complete(self) -> None:
        self._disarm()
        self._head_bytes = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._head_bytes = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._head_bytes = 0
        super().on_message_complete()

    def timeout_keep_alive_handler(self) -> None:
        # Closing waits for what was written to be read, which a client may never do.
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        super().timeout_keep_alive_handler()

    def _head_is_late(self) -> None:
        self._head_timer = None
        self._end(b"408 Request Timeout", "the head of the request did not come in time")

    def _end(self, status: bytes, message: str) -> None:
        self._disarm()
        if self.transport.is_closing():
            return
        if self.cycle is None or self.cycle.response_complete:  # else this would come into the midst of an answer
            lines = [b"HTTP/1.1 " + status, b"content-type: text/plain", b"connection: close"]
            lines.append(b"content-length: %d" % len(message))
            self.transport.write(b"\r\n".join([*lines, b"", message.encode()]))
        self.transport.close()

    def _disarm(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None
