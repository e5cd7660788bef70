"""A short way for the call that nearly all calls are: `tools/call` of 2026-07-28, in its plainest form.

Whatever is odd about a request, or would be refused, goes the SDK's long way unchanged: this module never decides
that a request is wrong. A test sends the same thousands of mutated requests both ways and compares. The SDK's way
costs about three times as much, most of it for streams that a plain answer does not need.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcp_types import methods
from pydantic import ValidationError

from hearth import __version__
from hearth.mcp import calls
from hearth.mcp.calls import Context
from hearth.mcp.deliveries import KEY, Delivery
from hearth.mcp.envelope import Reply, encode
from hearth.mcp.guard import Asgi, Receive, Scope, Send, again

if TYPE_CHECKING:
    from hearth.mcp.app import App
    from hearth.mcp.tools import Tool

VERSION = "2026-07-28"
PREFIX = "io.modelcontextprotocol/"
ENVELOPE = frozenset((PREFIX + "protocolVersion", PREFIX + "clientInfo", PREFIX + "clientCapabilities"))
MESSAGE = frozenset(("jsonrpc", "id", "method", "params"))
PARAMS = frozenset(("name", "arguments", "_meta"))
PLAIN_META = ("openai/", "hearth/")  # what a client may say beside the envelope without asking for anything
MAX_BODY = 1024 * 1024
MAX_CLIENTS = 256
ROUTING = frozenset((b"mcp-protocol-version", b"mcp-method", b"mcp-name"))
ACCEPTED = frozenset((b"application/json, text/event-stream", b"application/json,text/event-stream", b"*/*"))
JSON = b"application/json"
WATCH_AFTER_S = 0.02  # a call that takes longer is worth a look at whether somebody still waits for it
PING_S = 15.0  # as the SDK
STREAM = ((b"content-type", b"text/event-stream"), (b"cache-control", b"no-cache, no-transform"))
SERVER_INFO = {PREFIX + "serverInfo": {"name": "hearth", "version": __version__}}
# What stands behind the document in every answer.
TAIL = f',"resultType":"complete","_meta":{encode(SERVER_INFO)}}}}}'


@dataclass(frozen=True, slots=True)
class Taken:
    """A request that the lane answers."""

    id: int | str
    tool: Tool
    arguments: dict[str, Any]
    meta: dict[str, Any]


class Lane:
    """Says which requests it takes, and answers these."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._clients: set[str] = set()  # envelopes that the SDK's own check let pass

    def take(self, message: Any) -> Taken | None:
        """The call that a message is; None where it is anything but the plainest form of one."""
        if not isinstance(message, dict) or message.keys() != MESSAGE or message["jsonrpc"] != "2.0":
            return None
        id_, params = message["id"], message["params"]
        is_plain_id = (type(id_) is int and abs(id_) < 1 << 53) or (type(id_) is str and id_.isascii())
        if message["method"] != "tools/call" or not is_plain_id or not isinstance(params, dict):
            return None
        if params.keys() != PARAMS or not isinstance(params["arguments"], dict):
            return None
        name, meta = params["name"], params["_meta"]
        tool = self._app.tools.find(name) if isinstance(name, str) else None
        if tool is None or not isinstance(meta, dict) or not self._knows(meta):
            return None
        return Taken(id_, tool, params["arguments"], meta)

    def _knows(self, meta: dict[str, Any]) -> bool:
        envelope = {key: value for key, value in meta.items() if not key.startswith(PLAIN_META)}
        if not envelope.keys() <= ENVELOPE or envelope.get(PREFIX + "protocolVersion") != VERSION:
            return False
        if not isinstance(envelope.get(PREFIX + "clientCapabilities"), dict):
            return False
        try:
            key = json.dumps(envelope, sort_keys=True, allow_nan=False)
            if key not in self._clients:
                methods.validate_client_request("tools/call", VERSION, {"name": "x", "_meta": envelope})
                if len(self._clients) < MAX_CLIENTS and len(key) < 4_096:
                    self._clients.add(key)
        except (ValidationError, ValueError):
            return False
        return True

    async def answer(self, taken: Taken, headers: Mapping[str, str], delivery: Delivery | None) -> str:
        """The whole JSON-RPC message."""
        context = Context(taken.meta, headers, delivery=delivery)
        reply = await calls.answer(self._app, taken.tool, taken.arguments, context)
        return message_of(taken.id, reply)


def message_of(id_: int | str, reply: Reply) -> str:
    """A reply as a JSON-RPC response, of which the document was made JSON already."""
    content = ",".join([f'{{"type":"text","text":{encode(reply.text)}}}', *map(encode, reply.blocks)])
    error = "true" if reply.is_error else "false"
    return (
        f'{{"jsonrpc":"2.0","id":{encode(id_)},"result":{{"content":[{content}],"structuredContent":{reply.text},'
        f'"isError":{error}{TAIL}'
    )


def plain_headers(raw: list[tuple[bytes, bytes]]) -> dict[str, str] | None:
    """The headers of a request in its plainest form; None for any other."""
    made = dict(raw)
    if made.get(b"mcp-protocol-version") != b"2026-07-28" or made.get(b"mcp-method") != b"tools/call":
        return None
    if made.get(b"accept") not in ACCEPTED or made.get(b"content-type") != JSON or b"mcp-name" not in made:
        return None
    if len(made) != len(raw) or any(name.startswith(b"mcp-") and name not in ROUTING for name in made):
        return None  # a header that stands twice, or one that the SDK would look at
    return {name.decode("latin-1"): value.decode("latin-1") for name, value in made.items()}


class HttpLane:
    """The lane as an ASGI app before the one that takes everything else. The guard gives it whole bodies."""

    def __init__(self, lane: Lane, rest: Asgi) -> None:
        self._lane = lane
        self._rest = rest

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        body = (await receive())["body"]
        headers = plain_headers(scope["headers"]) if len(body) <= MAX_BODY else None
        taken = self._take(headers, body) if headers else None
        if taken is None or headers is None:
            await self._rest(scope, again(body, receive), send)
        else:
            await _Exchange(receive, send).run(self._lane.answer(taken, headers, scope.get(KEY)))

    def _take(self, headers: Mapping[str, str], body: bytes) -> Taken | None:
        try:
            taken = self._lane.take(json.loads(body))
        except (ValueError, RecursionError):
            return None
        return taken if taken is not None and headers["mcp-name"] == taken.tool.name else None


class _Exchange:
    """One request that is being answered: with plain JSON, or as a stream where that takes long."""

    def __init__(self, receive: Receive, send: Send) -> None:
        self._receive = receive
        self._send = send
        self._gone = False
        self._streams = False

    async def run(self, answer: Coroutine[Any, Any, str]) -> None:
        loop, own = asyncio.get_running_loop(), asyncio.current_task()
        assert own is not None
        beside: list[asyncio.Task[None]] = []

        def begin_beside() -> None:
            beside.extend((loop.create_task(self._watch(own)), loop.create_task(self._ping())))

        timer = loop.call_later(WATCH_AFTER_S, begin_beside)
        try:
            await self._finish((await answer).encode())
        except asyncio.CancelledError:
            if not self._gone:
                raise
            own.uncancel()
        finally:
            timer.cancel()
            for task in beside:
                task.cancel()

    async def _watch(self, answering: asyncio.Task[Any]) -> None:
        """Take the call back when its client goes away."""
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._gone = True
        answering.cancel()

    async def _ping(self) -> None:
        """After a while begin to answer, so that nothing between here and the client takes the silence for the end."""
        await asyncio.sleep(PING_S)
        self._streams = True
        await self._send({"type": "http.response.start", "status": 200, "headers": STREAM})
        while True:
            await self._send({"type": "http.response.body", "body": b": ping\r\n\r\n", "more_body": True})
            await asyncio.sleep(PING_S)

    async def _finish(self, body: bytes) -> None:
        if self._streams:
            body = b"event: message\r\ndata: " + body + b"\r\n\r\n"
        else:
            headers = [(b"content-type", JSON), (b"content-length", str(len(body)).encode())]
            await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        await self._send({"type": "http.response.body", "body": body})
