"""An app and its guard in this process, spoken to as HTTP would, without a socket."""

from __future__ import annotations

import contextlib
import json
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from hearth.mcp import http, server
from hearth.mcp.app import App
from hearth.mcp.guard import Asgi
from hearth.mcp.pool import Limits
from hearth.runtime import Runtime

MODERN = "2026-07-28"
PORT = 3000
PREFIX = "io.modelcontextprotocol/"


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@dataclass(frozen=True, slots=True)
class Response:
    """What came back."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        if self.headers["content-type"] == "text/event-stream":
            return [json.loads(line[6:]) for line in self.body.decode().splitlines() if line.startswith("data: ")][-1]
        return json.loads(self.body)


@dataclass
class Wire:
    """A client that sends what it is told to, right or wrong."""

    app: Asgi
    port: int = PORT
    sent: list[dict[str, Any]] = field(default_factory=list)

    async def http(
        self, method: str, path: str, headers: list[tuple[str, str]], chunks: tuple[bytes, ...] = (b"",)
    ) -> Response:
        """One request. `chunks` are the body as it comes; a request that is never whole ends with the connection."""
        raw = [(name.lower().encode(), value.encode("latin-1")) for name, value in headers]
        scope = {"type": "http", "method": method, "path": path, "headers": raw, "query_string": b"", "scheme": "http"}
        scope |= {
            "http_version": "1.1",
            "server": ("127.0.0.1", self.port),
            "client": ("127.0.0.1", 1),
            "root_path": "",
        }
        incoming = [
            {"type": "http.request", "body": chunk, "more_body": place < len(chunks) - 1}
            for place, chunk in enumerate(chunks)
        ]
        sent: list[Any] = []

        async def receive() -> Any:
            if incoming:
                return incoming.pop(0)
            return await never()

        async def send(message: Any) -> None:
            sent.append(message)

        await self.app(scope, receive, send)
        head = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        return Response(sent[0]["status"], head, b"".join(each.get("body", b"") for each in sent[1:]))

    async def post(self, message: Any, headers: dict[str, str]) -> Response:
        body = message if isinstance(message, bytes) else json.dumps(message).encode()
        usual = {
            "Host": f"127.0.0.1:{self.port}",
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Content-Length": str(len(body)),
        }
        return await self.http("POST", "/mcp", list((usual | headers).items()), (body,))

    async def modern(self, method: str, params: dict[str, Any], name: str | None = None) -> Response:
        headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": method} | ({"Mcp-Name": name} if name else {})
        envelope = {"protocolVersion": MODERN, "clientInfo": {"name": "t", "version": "1"}, "clientCapabilities": {}}
        meta = {PREFIX + key: value for key, value in envelope.items()} | params.pop("_meta", {})
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": {**params, "_meta": meta}}
        return await self.post(message, headers)

    async def legacy(self, method: str, params: dict[str, Any]) -> Response:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return await self.post(message, {"MCP-Protocol-Version": "2025-06-18"})

    async def call(self, tool: str, **arguments: Any) -> Any:
        """The result of a tool."""
        response = await self.modern("tools/call", {"name": tool, "arguments": arguments}, tool)
        return response.json["result"]

    async def told(self, tool: str, **arguments: Any) -> Any:
        """The document that a tool answers with, which is the same in both places."""
        result = await self.call(tool, **arguments)
        assert json.loads(result["content"][0]["text"]) == result["structuredContent"]
        return result["structuredContent"]


async def never() -> Any:
    import anyio

    await anyio.sleep_forever()


Opener = Callable[..., contextlib.AbstractAsyncContextManager[Wire]]


@contextlib.asynccontextmanager
async def opened(runtime: Runtime, *, limits: Limits | None = None, **more: Any) -> AsyncIterator[Wire]:
    app = App(runtime, limits=limits)
    try:
        async with http.protocol(server.build(app, **more), app) as inner:
            yield Wire(http.guarded(app, inner, PORT))
    finally:
        app.cancel()
        app.end()


@pytest.fixture
async def wire(runtime: Runtime) -> AsyncIterator[Wire]:
    """A client of a server whose root is `work`."""
    async with opened(runtime) as made:
        yield made
