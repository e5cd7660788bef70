"""An answer counts as written once the system has all of it and its client was there."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from hearth.mcp.deliveries import KEY, told
from hearth.mcp.guard import Message
from tests.mcp.conftest import Wire
from tests.mcp.test_calls import client

pytestmark = pytest.mark.anyio


class Transport:
    """What uvicorn writes to."""

    def __init__(self, sizes: list[int], *, is_closing: bool = False) -> None:
        self._sizes = sizes
        self._closing = is_closing

    def get_write_buffer_size(self) -> int:
        return self._sizes.pop(0) if self._sizes else 0

    def is_closing(self) -> bool:
        return self._closing


class Cycle:
    """uvicorn's side of one request."""

    def __init__(self, transport: Transport, *, disconnected: bool = False) -> None:
        self.transport = transport
        self.disconnected = disconnected

    async def send(self, _: Message) -> None:
        """As uvicorn, it does not tell that nobody is there."""


async def written(cycle: Cycle, *, whole: bool = True) -> bool:
    done = anyio.Event()

    async def answer(scope: Any, _: Any, send: Any) -> None:
        scope[KEY].then(done.set)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x", "more_body": not whole})

    async def receive() -> Message:
        return {"type": "http.request", "body": b"{}", "more_body": False}

    await told(answer)({"headers": []}, receive, cycle.send)
    with anyio.move_on_after(0.15):
        await done.wait()
    return done.is_set()


async def test_an_answer_to_a_client_that_is_there_is_written() -> None:
    assert await written(Cycle(Transport([])))


async def test_an_answer_is_written_once_the_system_has_it() -> None:
    assert await written(Cycle(Transport([10])))


async def test_an_answer_to_a_client_that_is_gone_is_not() -> None:
    assert not await written(Cycle(Transport([]), disconnected=True))
    assert not await written(Cycle(Transport([], is_closing=True)))


async def test_an_answer_that_is_not_whole_is_not() -> None:
    assert not await written(Cycle(Transport([])), whole=False)


async def test_a_client_of_the_older_kind_gets_a_session_that_is_its_conversation(wire: Wire) -> None:
    begun = await wire.legacy(
        "initialize",
        {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    )
    session = begun.headers["mcp-session-id"]

    async def call(**arguments: Any) -> Any:
        params = {"name": "machine", "arguments": {"operation": "host_info", **arguments}}
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        headers = {"MCP-Protocol-Version": "2025-06-18", "Mcp-Session-Id": session}
        return (await wire.post(message, headers)).json["result"]["structuredContent"]

    pending = await call(detach=True)
    assert "conversation" not in pending
    arrived: list[Any] = pending["arrivals"]
    with anyio.fail_after(4):
        while not arrived:
            arrived = (await call())["arrivals"]
    assert arrived[0]["id"] == pending["future_id"]
    assert (await client(wire)("machine", "host_info"))["arrivals"] == []
