"""Requests that are nearly right, made from right ones by a seeded chance."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from typing import Any

from tests.mcp.conftest import MODERN, PORT, PREFIX

Headers = list[tuple[str, str]]
JUNK: list[Any] = [
    None, True, False, 0, -1, 1.5, 1 << 53, 1 << 70, "", "x", "\ud800", "é🌍", "\x00", [], {}, [[]], {"a": None},
    "tools/call", "machine", "fs", "2026-07-28", "2025-06-18", "1e999", ["read"], {"operation": "read"}, "x" * 5_000,
]  # fmt: skip
CALLS = [
    ("machine", {"operation": "which", "names": ["sh", "no-such-program"]}),
    ("fs", {"operation": "read", "path": "a.txt", "limit": 5}),
    ("fs", {"operation": "list"}),
    ("fs", {"operation": "stat"}),
    ("artifact", {"operation": "list"}),
    ("artifact", {"operation": "read", "id": "art_none"}),
]
OTHER_HEADERS = [
    ("X-Request-Id", "abc"), ("Mcp-Param-Path", "x"), ("Mcp-Session-Id", "s"), ("Origin", f"http://localhost:{PORT}"),
    ("Accept", "text/html"), ("Mcp-Name", "fs"), ("MCP-Protocol-Version", "1999-01-01"), ("Last-Event-Id", "1"),
]  # fmt: skip
VALUES = ["", "x", "*/*", "application/json", "APPLICATION/JSON; charset=utf-8", "2025-11-25", "=?base64?ZnM=?=", "é"]


def right(chance: random.Random) -> tuple[Headers, dict[str, Any]]:
    """A request as a client sends it."""
    name, arguments = chance.choice(CALLS)
    meta = {
        PREFIX + "protocolVersion": MODERN,
        PREFIX + "clientInfo": {"name": "t", "version": "1"},
        PREFIX + "clientCapabilities": chance.choice([{}, {"elicitation": {"form": {}}}, {"roots": {}}]),
    } | chance.choice([{}, {}, {"openai/session": "s"}, {"progressToken": 1}, {"other/key": [1]}])
    message = {
        "jsonrpc": "2.0",
        "id": chance.choice([1, "a", 0, -7, "é"]),
        "method": "tools/call",
        "params": {"name": name, "arguments": copy.deepcopy(arguments), "_meta": meta},
    }
    headers = [
        ("Host", f"127.0.0.1:{PORT}"),
        ("Content-Type", "application/json"),
        ("Accept", "application/json, text/event-stream"),
        ("MCP-Protocol-Version", MODERN),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", name),
    ]
    return headers, message


def mutated(chance: random.Random) -> tuple[Headers, bytes]:
    """A request with up to three things changed."""
    headers, message = right(chance)
    for _ in range(chance.randrange(4)):
        if chance.random() < 0.4:
            headers = chance.choice(HEADER_CHANGES)(headers, chance)
        else:
            _change_inside(message, chance)
    body = json.dumps(message, ensure_ascii=chance.random() < 0.8).encode("utf-8", "surrogatepass")
    return headers, _changed_bytes(body, chance) if chance.random() < 0.15 else body


def _dropped(headers: Headers, chance: random.Random) -> Headers:
    gone = chance.randrange(1, len(headers)) if len(headers) > 1 else 0
    return headers[:gone] + headers[gone + 1 :]


def _doubled(headers: Headers, chance: random.Random) -> Headers:
    return [*headers, chance.choice(headers[1:] or headers)]


def _changed(headers: Headers, chance: random.Random) -> Headers:
    place = chance.randrange(len(headers))
    return [
        (name, chance.choice(VALUES)) if here == place else (name, value) for here, (name, value) in enumerate(headers)
    ]


def _added(headers: Headers, chance: random.Random) -> Headers:
    return [*headers, chance.choice(OTHER_HEADERS)]


HEADER_CHANGES: list[Callable[[Headers, random.Random], Headers]] = [_dropped, _doubled, _changed, _added]


def _change_inside(message: dict[str, Any], chance: random.Random) -> None:
    """Take away, replace or add one thing at any depth."""
    holder: Any = message
    while True:
        key = chance.choice(sorted(holder)) if holder else "new"
        inner = holder.get(key)
        if isinstance(inner, dict) and chance.random() < 0.7:
            holder = inner
            continue
        way = chance.random()
        if way < 0.3:
            holder.pop(key, None)
        elif way < 0.8:
            holder[key] = copy.deepcopy(chance.choice(JUNK))
        else:
            holder[chance.choice(["new", "path", "approval_id", "limit", "jsonrpc", "progressToken", "name"])] = (
                copy.deepcopy(chance.choice(JUNK))
            )
        return


def _changed_bytes(body: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(body))
    way = chance.randrange(6)
    if way == 0:
        return body[:place]
    if way == 1:
        return body[:place] + bytes([chance.randrange(256)]) + body[place + 1 :]
    if way == 2:
        return b"[" * chance.choice([1, 50, 100_000]) + body
    if way == 3:
        return body.replace(b'"id": ', b'"id": ' + b"9" * 5_000, 1)
    if way == 4:
        return body.decode("utf-8", "replace").encode("utf-16")
    return b"\xef\xbb\xbf " + body + b"\n"
