"""Knowing that an answer was written whole to a client that is there, which is when its arrivals count as offered."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from typing import Any

from hearth.mcp.guard import Asgi, Message, Receive, Scope, Send

KEY = "hearth.delivery"
SESSION = b"mcp-session-id"
PATIENCE_S = (0.0, 0.05, 0.2, 1.0)  # for a client that reads slowly


class Delivery:
    """What waits for one answer to be written."""

    __slots__ = ("_callbacks",)

    def __init__(self) -> None:
        self._callbacks: list[Callable[[], None]] = []

    def then(self, callback: Callable[[], None]) -> None:
        self._callbacks.append(callback)

    def is_awaited(self) -> bool:
        return bool(self._callbacks)

    def written(self) -> None:
        for callback in self._callbacks:
            callback()


def told(app: Asgi) -> Asgi:
    """An ASGI app whose requests have a `Delivery`, and whose clients of the older kind get a session."""

    async def deliver(scope: Scope, receive: Receive, send: Send) -> None:
        delivery = scope[KEY] = Delivery()
        session, receive = await _session(scope, receive)

        async def tell(message: Message) -> None:
            if session is not None and message["type"] == "http.response.start" and message["status"] == 200:
                message["headers"] = [*message.get("headers", ()), (SESSION, session)]
            last = message["type"] == "http.response.body" and not message.get("more_body")
            there = last and delivery.is_awaited() and _is_there(send)
            await send(message)
            if there:
                _when_written(send, delivery, 0)

        await app(scope, receive, tell)

    return deliver


def _when_written(send: Send, delivery: Delivery, tries: int) -> None:
    """Tell once the system has taken all of it; give up on a client that does not read, or is gone."""
    transport = getattr(getattr(send, "__self__", None), "transport", None)
    if transport is None:
        delivery.written()
        return

    def look() -> None:
        if not transport.get_write_buffer_size():
            delivery.written()
        elif tries + 1 < len(PATIENCE_S) and not transport.is_closing():
            _when_written(send, delivery, tries + 1)

    # What is written goes to the system at the end of this turn of the loop.
    asyncio.get_running_loop().call_later(PATIENCE_S[tries], look)


def _is_there(send: Send) -> bool:
    """Whether the connection behind uvicorn's `send` still stands, which itself does not tell."""
    cycle: Any = getattr(send, "__self__", None)
    return cycle is None or not (cycle.disconnected or cycle.transport.is_closing())


async def _session(scope: Scope, receive: Receive) -> tuple[bytes | None, Receive]:
    """A new session's name for a client that initializes without one."""
    if any(name == SESSION for name, _ in scope["headers"]):
        return None, receive
    first: Message | None = await receive()
    body = first.get("body", b"") if first else b""

    async def again() -> Message:
        nonlocal first
        message, first = first, None
        return message if message is not None else await receive()

    return os.urandom(16).hex().encode() if b'"initialize"' in body else None, again
