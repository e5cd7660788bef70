"""What stands before the protocol: who may ask, for what, how much, and for how long.

A web page can send requests to this machine, and by DNS rebinding even under a name of its own; so the Host and the
Origin must be one of a few exact words. All of this is decided before a byte of the body is read.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from dataclasses import dataclass
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]

PATH = "/mcp"
NAMES = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is not let in: the HTTP status, a sentence, and headers beside it."""

    status: int
    message: str
    headers: tuple[tuple[bytes, bytes], ...] = ()


@dataclass(frozen=True, slots=True)
class Bounds:
    """How large a request's body may be, and how long it may take to come in."""

    body_bytes: int = 8 * 1024 * 1024
    body_seconds: float = 10.0


class Disconnected(Exception):
    """The client went away before its request was whole."""


class Guard:
    """An ASGI app around the one that speaks the protocol."""

    def __init__(
        self,
        app: Asgi,
        *,
        port: int,
        names: Iterable[str] = NAMES,
        origins: Iterable[str] = (),
        bounds: Bounds | None = None,
        is_ready: Callable[[], bool] = lambda: True,
    ) -> None:
        """`names` are what this machine is called in a Host header, `origins` further pages that may call."""
        self._app = app
        own = [f"{name}:{port}" for name in names] + [name for name in names if port == 80]
        self._hosts = frozenset(own_name.encode() for own_name in own)
        self._origins = frozenset([f"http://{name}".encode() for name in own] + [each.encode() for each in origins])
        self._bounds = bounds or Bounds()
        self._probes = {"/healthz": lambda: True, "/readyz": is_ready}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refused = self.refusal(scope)
        if refused is not None:
            await _refuse(refused, scope, send)
        elif scope["path"] in self._probes:
            await _probe(self._probes[scope["path"]](), scope, send)
        else:
            await self._pass_on(scope, receive, send)

    def refusal(self, scope: Scope) -> Refusal | None:
        """Why the head of a request is refused; None when it is let in."""
        headers = scope["headers"]
        hosts = [value.lower() for name, value in headers if name == b"host"]
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return Refusal(421, "this Host is not served here")
        origins = [value.lower() for name, value in headers if name == b"origin"]
        if any(origin not in self._origins for origin in origins):
            return Refusal(403, "this Origin may not call")
        path = scope["path"]
        if path != PATH and path not in self._probes:
            return Refusal(404, f"there is only {PATH}")
        allowed = ("POST",) if path == PATH else ("GET", "HEAD")
        if scope["method"] not in allowed:
            return Refusal(405, f"{path} takes {' and '.join(allowed)}", ((b"allow", ", ".join(allowed).encode()),))
        # A token would be asked for here: after what tells nothing about this server, before anything is read.
        return self._too_large(headers)

    def _too_large(self, headers: list[tuple[bytes, bytes]]) -> Refusal | None:
        length = next((value for name, value in headers if name == b"content-length"), b"0")
        if not length.isdigit() or int(length) > self._bounds.body_bytes:
            return Refusal(413, f"a request has at most {self._bounds.body_bytes} bytes")
        return None

    async def _pass_on(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            async with asyncio.timeout(self._bounds.body_seconds):
                body = await self._read(receive)
        except TimeoutError:
            await _refuse(Refusal(408, "the request did not come in time"), scope, send, close=True)
            return
        except Disconnected:
            return
        if body is None:
            refused = Refusal(413, f"a request has at most {self._bounds.body_bytes} bytes")
            await _refuse(refused, scope, send, close=True)
            return
        await self._app(scope, again(body, receive), send)

    async def _read(self, receive: Receive) -> bytes | None:
        """The whole body; None as soon as it is too large."""
        parts: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Disconnected
            parts.append(message["body"])
            size += len(message["body"])
            if size > self._bounds.body_bytes:
                return None
            if not message["more_body"]:
                return b"".join(parts)


def again(body: bytes, receive: Receive) -> Receive:
    """A `receive` that gives the body once more, whole, and then what comes."""
    given = False

    async def replay() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replay


def _has_body(scope: Scope) -> bool:
    return any(
        (name == b"content-length" and value != b"0") or name == b"transfer-encoding"
        for name, value in scope["headers"]
    )


async def _refuse(refused: Refusal, scope: Scope, send: Send, *, close: bool = False) -> None:
    """Answer, and close a connection whose body nobody is going to read."""
    error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": refused.message}}
    headers = refused.headers
    if close or _has_body(scope):
        headers = (*headers, (b"connection", b"close"))
    await _answer(refused.status, error, headers, scope, send)


async def _probe(fine: bool, scope: Scope, send: Send) -> None:
    await _answer(200 if fine else 503, {"status": "ok" if fine else "unavailable"}, (), scope, send)


async def _answer(
    status: int, document: dict[str, Any], headers: tuple[tuple[bytes, bytes], ...], scope: Scope, send: Send
) -> None:
    body = json.dumps(document).encode()
    own = ((b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()))
    await send({"type": "http.response.start", "status": status, "headers": [*own, *headers]})
    await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body})
