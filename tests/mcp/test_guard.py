"""What is let in, decided in a fixed order before a byte of the body is read."""

from __future__ import annotations

from typing import Any

import pytest

from hearth.mcp.guard import Bounds, Guard, Message, Receive, Scope, Send
from tests.mcp.conftest import Response, Wire, never

pytestmark = pytest.mark.anyio

HOST = ("Host", "127.0.0.1:3000")


async def echo(_: Scope, receive: Receive, send: Send) -> None:
    """Answers with the body that it was given."""
    body = (await receive())["body"]
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": body})


@pytest.fixture
def guarded() -> Wire:
    bounds = Bounds(body_bytes=100, body_seconds=0.05)
    return Wire(Guard(echo, port=3000, origins=["http://localhost:6274"], bounds=bounds))


async def get(wire: Wire, *headers: tuple[str, str], method: str = "POST", path: str = "/mcp") -> Response:
    return await wire.http(method, path, list(headers))


@pytest.mark.parametrize("host", ["127.0.0.1:3000", "localhost:3000", "LocalHost:3000", "[::1]:3000"])
async def test_this_machines_own_names_are_let_in(guarded: Wire, host: str) -> None:
    assert (await get(guarded, ("Host", host))).status == 200


@pytest.mark.parametrize(
    "host",
    [
        "localhost", "localhost:80", "localhost:80.evil", "localhost:3000.evil", "localhost.evil:3000", "evil:3000",
        "127.0.0.1:30000", "127.0.0.1", "127.0.0.2:3000", "[::1]", "::1:3000", "user@localhost:3000", "localhost:3000 ",
        "", "0.0.0.0:3000", "2130706433:3000", "localhost:3000,evil",
    ],
)  # fmt: skip
async def test_every_other_host_is_misdirected(guarded: Wire, host: str) -> None:
    assert (await get(guarded, ("Host", host))).status == 421


async def test_no_host_and_two_hosts_are_misdirected(guarded: Wire) -> None:
    assert (await get(guarded)).status == 421
    assert (await get(guarded, HOST, HOST)).status == 421


@pytest.mark.parametrize(
    "origin", ["http://127.0.0.1:3000", "http://localhost:3000", "http://[::1]:3000", "http://localhost:6274"]
)
async def test_own_pages_and_those_of_the_settings_may_call(guarded: Wire, origin: str) -> None:
    assert (await get(guarded, HOST, ("Origin", origin))).status == 200


@pytest.mark.parametrize(
    "origin",
    [
        "null", "https://evil.example", "http://localhost:3000.evil.com", "http://localhost", "https://localhost:3000",
        "http://localhost:80.evil.com", "http://localhost:62740", "file://", "", "http://localhost:3000/",
    ],
)  # fmt: skip
async def test_every_other_origin_is_forbidden(guarded: Wire, origin: str) -> None:
    assert (await get(guarded, HOST, ("Origin", origin))).status == 403


@pytest.mark.parametrize("path", ["/", "/mcp/", "/MCP", "/mcp/x", "/healthz/", "//mcp", "/.well-known/x"])
async def test_there_is_no_other_path(guarded: Wire, path: str) -> None:
    assert (await get(guarded, HOST, path=path)).status == 404


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT", "HEAD", "OPTIONS", "PATCH", "TRACE"])
async def test_other_methods_are_told_which_is_allowed(guarded: Wire, method: str) -> None:
    refused = await get(guarded, HOST, method=method)
    assert (refused.status, refused.headers["allow"]) == (405, "POST")


@pytest.mark.parametrize("length", ["101", "99999999999999999999", "-1", "1e2", "x"])
async def test_a_body_that_says_it_is_too_large_is_not_read(guarded: Wire, length: str) -> None:
    refused = await get(guarded, HOST, ("Content-Length", length))
    assert (refused.status, refused.headers["connection"]) == (413, "close")


async def test_a_body_that_becomes_too_large_is_cut_off(guarded: Wire) -> None:
    headers = [HOST, ("Transfer-Encoding", "chunked")]
    response = await guarded.http("POST", "/mcp", headers, (b"x" * 60, b"x" * 60))
    assert (response.status, response.headers["connection"]) == (413, "close")


async def test_a_body_at_the_bound_arrives_whole(guarded: Wire) -> None:
    response = await guarded.http("POST", "/mcp", [HOST], (b"x" * 60, b"y" * 40))
    assert (response.status, response.body) == (200, b"x" * 60 + b"y" * 40)


async def test_a_body_that_does_not_come_is_not_waited_for() -> None:
    guard = Guard(echo, port=3000, bounds=Bounds(body_bytes=100, body_seconds=0.02))
    sent: list[Message] = []

    async def receive() -> Any:
        await never()

    async def send(message: Message) -> None:
        sent.append(message)

    head = [(b"host", b"127.0.0.1:3000"), (b"content-length", b"5")]
    await guard({"type": "http", "method": "POST", "path": "/mcp", "headers": head}, receive, send)
    assert sent[0]["status"] == 408


async def test_a_client_that_goes_away_meanwhile_is_not_answered() -> None:
    sent: list[Message] = []

    async def receive() -> Any:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    guard = Guard(echo, port=3000)
    head = [(b"host", b"127.0.0.1:3000")]
    await guard({"type": "http", "method": "POST", "path": "/mcp", "headers": head}, receive, send)
    assert sent == []


@pytest.mark.parametrize(
    ("headers", "method", "path", "status"),
    [
        ([("Host", "evil"), ("Origin", "http://evil")], "GET", "/x", 421),
        ([HOST, ("Origin", "http://evil")], "GET", "/x", 403),
        ([HOST], "GET", "/x", 404),
        ([HOST, ("Content-Length", "999")], "GET", "/mcp", 405),
        ([HOST, ("Content-Length", "999")], "POST", "/mcp", 413),
    ],
)
async def test_the_first_reason_is_the_answer(
    guarded: Wire, headers: list[tuple[str, str]], method: str, path: str, status: int
) -> None:
    assert (await get(guarded, *headers, method=method, path=path)).status == status


async def test_health_is_told_to_who_may_ask(guarded: Wire) -> None:
    fine = await get(guarded, HOST, method="GET", path="/healthz")
    assert (fine.status, fine.json) == (200, {"status": "ok"})
    assert (await get(guarded, ("Host", "evil"), method="GET", path="/healthz")).status == 421
    assert (await get(guarded, HOST, method="POST", path="/healthz")).headers["allow"] == "GET, HEAD"


async def test_a_server_that_ends_is_alive_and_not_ready() -> None:
    wire = Wire(Guard(echo, port=3000, is_ready=lambda: False))
    assert (await get(wire, HOST, method="GET", path="/readyz")).status == 503
    assert (await get(wire, HOST, method="GET", path="/healthz")).status == 200
