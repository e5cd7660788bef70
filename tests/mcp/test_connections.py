"""What comes over real sockets: whole, half, too much, out of order."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from hearth.runtime import Runtime
from tests.mcp import processes
from tests.mcp.sockets import Live, live


@pytest.fixture
def server(runtime: Runtime) -> Iterator[Live]:
    with live(runtime) as made:
        yield made


def head(server: Live, *lines: str) -> bytes:
    return "\r\n".join(["POST /mcp HTTP/1.1", f"Host: localhost:{server.port}", *lines, "", ""]).encode()


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Origin": "https://evil.example"}, 403),
        ({"Host": "evil.example"}, 421),
        ({"Host": "localhost:80.evil"}, 421),
        ({"Content-Type": "text/plain"}, 400),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 400),
    ],
)
def test_what_a_page_can_send_is_refused(server: Live, headers: dict[str, str], status: int) -> None:
    usual = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    with contextlib.closing(server.connection()) as connection:
        connection.request("POST", "/mcp", "{}", usual | headers)
        assert connection.getresponse().status == status


def test_blanks_around_the_value_of_a_header_do_not_count(server: Live) -> None:
    data = f"GET /healthz HTTP/1.1\r\nHost: \t localhost:{server.port}  \t\r\nConnection: close\r\n\r\n"
    assert server.exchange(data.encode()).startswith(b"HTTP/1.1 200 ")


def test_a_large_body_is_refused_before_it_is_sent(server: Live) -> None:
    assert server.exchange(head(server, "Content-Length: 999999999")).startswith(b"HTTP/1.1 413 ")


def test_an_endless_body_is_cut_off(runtime: Runtime) -> None:
    with live(runtime, max_body_bytes=10_000) as server:
        chunks = b"".join(b"400\r\n" + b"x" * 1024 + b"\r\n" for _ in range(20))
        assert server.exchange(head(server, "Transfer-Encoding: chunked") + chunks).startswith(b"HTTP/1.1 413 ")


def test_an_endless_head_is_cut_off(server: Live) -> None:
    data = f"POST /mcp HTTP/1.1\r\nHost: localhost:{server.port}\r\nX: ".encode() + b"x" * 70_000
    assert server.exchange(data).startswith(b"HTTP/1.1 431 ")


@pytest.mark.parametrize(
    "data",
    [
        b"\x16\x03\x01\x00\xa5", b"nonsense\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nA B: c\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
        b"POST /mcp HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    ],
)  # fmt: skip
def test_what_is_no_http_is_answered_400_and_closed(server: Live, data: bytes) -> None:
    assert server.exchange(data).startswith(b"HTTP/1.1 400 ")


def test_a_websocket_is_not_opened(server: Live) -> None:
    lines = ("Connection: Upgrade, close", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AA==")
    assert server.exchange(head(server, *lines).replace(b"POST", b"GET", 1)).startswith(b"HTTP/1.1 405 ")


def test_requests_in_one_packet_are_answered_in_their_order(server: Live) -> None:
    one = f"GET /{{}} HTTP/1.1\r\nHost: localhost:{server.port}\r\n{{}}\r\n"
    data = one.format("healthz", "") + one.format("x", "") + one.format("readyz", "Connection: close\r\n")
    assert re.findall(rb"HTTP/1.1 (\d+)", server.exchange(data.encode())) == [b"200", b"404", b"200"]


def test_half_a_request_ends_while_others_are_served(runtime: Runtime) -> None:
    with live(runtime, request_timeout_s=1) as server:
        half_head = head(server, "Content-Length: 10")
        halves = [b"POST /m", half_head[:-2], half_head + b"12345"]
        answers: list[bytes] = []
        threads = [
            threading.Thread(target=lambda half=half: answers.append(server.exchange(half)), name="half")
            for half in halves
        ]
        for thread in threads:
            thread.start()
        assert server.call("machine", operation="which", names=["x"])["state"]
        for thread in threads:
            thread.join(10)
        assert [answer.split(b"\r\n")[0] for answer in answers] == [b"HTTP/1.1 408 Request Timeout"] * 3


def test_more_connections_than_the_bound_are_turned_away(runtime: Runtime) -> None:
    with live(runtime, max_connections=4) as server:
        with contextlib.ExitStack() as stack:
            for _ in range(4):
                stack.enter_context(socket.create_connection(("127.0.0.1", server.port), timeout=10))
            assert server.exchange(b"").startswith(b"HTTP/1.1 503 ")
        processes.until(lambda: not server.exchange(head(server, "Connection: close")).startswith(b"HTTP/1.1 503 "))


def test_a_client_that_goes_away_takes_its_call_back(server: Live, work: Path) -> None:
    program = "import pathlib, time; pathlib.Path('began').touch(); time.sleep(60)"
    arguments = {"operation": "exec", "command": sys.executable, "args": ["-c", program]}
    params = {"name": "machine", "arguments": arguments, "_meta": processes.META}
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
    lines = (
        "Content-Type: application/json", "Accept: application/json, text/event-stream",
        "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: machine",
        f"Content-Length: {len(body)}",
    )  # fmt: skip
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
        connection.sendall(head(server, *lines) + body.encode())
        processes.until((work / "began").exists)
        assert server.app.held == 1
    processes.until(lambda: server.app.held == 0)
