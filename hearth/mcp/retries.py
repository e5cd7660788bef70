"""Requests that come again: a call that changes something is noted before it begins, so that the same request under
the same id is answered and not done once more.

A client names a request by the header `X-Request-Id`, or by `hearth/request` in `_meta`. The ids of JSON-RPC never
count: two clients both start with 1.
"""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections import OrderedDict
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from hearth.clock import parse_timestamp
from hearth.engine.waiting import wait_until
from hearth.errors import Interrupted, RequestIdReused
from hearth.mcp.envelope import Reply, encode
from hearth.store import conversations, requests
from hearth.store.requests import KEPT_MS, Request

if TYPE_CHECKING:
    from hearth.mcp.arguments import Call
    from hearth.runtime import Runtime
    from hearth.store.futures import Owner

HEADER = "x-request-id"
META = "hearth/request"
MAX_LENGTH = 4_096
MOST_SEEN = 10_000  # of all conversations
OTHERS_S = 45.0  # for another server to end what came to it first


class Key(NamedTuple):
    """A request of a conversation, by fingerprint, and the fingerprint of what it asks for."""

    conversation: str
    id: str
    digest: str


def key_of(conversation: str, call: Call, meta: Mapping[str, Any], headers: Mapping[str, str]) -> Key | None:
    """The key of a request; None where its client gave it no id."""
    name = headers.get(HEADER, "").strip() or meta.get(META)
    if not isinstance(name, str) or not name.strip() or len(name) > MAX_LENGTH:
        return None
    asked = json.dumps([call.operation, call.value], sort_keys=True, separators=(",", ":"))
    return Key(conversation, _hash(name.strip()), _hash(asked))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


class Seen:
    """The requests of the last ten minutes, for what is not stored: whether one comes again."""

    def __init__(self) -> None:
        self._digests: OrderedDict[tuple[str, str], tuple[str, float]] = OrderedDict()

    def again(self, key: Key) -> bool:
        """Whether this request came before. Raises `RequestIdReused`."""
        now = time.monotonic()
        digest, at = self._digests.get(key[:2], ("", now))
        if now - at >= KEPT_MS / 1000:
            digest = ""
        if digest and digest != key.digest:
            raise reused()
        self._digests[key[:2]] = (key.digest, now)
        self._digests.move_to_end(key[:2])
        if len(self._digests) > MOST_SEEN:
            self._digests.popitem(last=False)
        return bool(digest)


def reused() -> RequestIdReused:
    return RequestIdReused("another request came under this id before")


def begin(runtime: Runtime, owner: Owner, key: Key) -> Reply | None:
    """Note a request before it does anything; the answer where it has one. Raises `RequestIdReused`, `Interrupted`,
    `DatabaseError`, `NoSpace`."""
    with runtime.store.write() as tx:
        found = _known(tx, runtime, key)
        if found is None:
            now = runtime.now()
            made = Request(
                conversation=key.conversation,
                key=key.id,
                digest=key.digest,
                at=now,
                pid=owner.pid,
                pid_start=owner.start,
                boot=owner.boot,
            )
            conversations.touch(tx, key.conversation, now)
            requests.insert(tx, made)
            return None
    if found.answer is None and _is_at_work(runtime, owner, found):
        found = _wait(runtime, key) or found
    if found.answer is None:
        raise Interrupted("this request came before, and its server ended before it was answered")
    return _reply(found.answer)


def _known(tx: sqlite3.Connection, runtime: Runtime, key: Key) -> Request | None:
    found = requests.find(tx, key.conversation, key.id)
    if found is None:
        return None
    if found.answer is not None and runtime.clock.now_ms() - parse_timestamp(found.at) >= KEPT_MS:
        requests.delete(tx, found)
        return None
    if found.digest != key.digest:
        raise reused()
    return found


def _is_at_work(runtime: Runtime, owner: Owner, found: Request) -> bool:
    """Whether another server works on it; this one would have known."""
    if found.pid == owner.pid and found.pid_start == owner.start:
        return False
    return found.boot == owner.boot and runtime.host.process_start(found.pid) == found.pid_start


def _wait(runtime: Runtime, key: Key) -> Request | None:
    def look(view: sqlite3.Connection) -> Request | None:
        found = requests.find(view, key.conversation, key.id)
        return found if found is not None and found.answer is not None else None

    return wait_until(runtime, look, OTHERS_S, starts=False)


def end(tx: sqlite3.Connection, key: Key, reply: Reply, at: str) -> None:
    """Keep the answer for whoever sends the request again."""
    blocks = [block for block in reply.blocks if block["type"] == "resource_link"]
    answer = encode({"document": reply.document, "is_error": reply.is_error, "blocks": blocks})
    requests.answer(tx, key.conversation, key.id, at=at, answer=answer)


def _reply(answer: str) -> Reply:
    kept = json.loads(answer)
    document = kept["document"]
    return Reply(encode(document), document, is_error=kept["is_error"], blocks=tuple(kept["blocks"]))
