"""A call from its arguments to its reply: whose it is, how long it is held, and what is told beside it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from hearth import catalog, conversations, dispatch
from hearth.cancellation import Cancellation
from hearth.conversations import MAX_LENGTH, Kind
from hearth.errors import HearthError
from hearth.mcp import envelope, retries
from hearth.mcp.arguments import Call, call_of
from hearth.mcp.common import MAX_WAIT_MS
from hearth.mcp.envelope import Reply
from hearth.mcp.held import Held
from hearth.mcp.mail import MOST_BYTES
from hearth.mcp.pool import NOBODY
from hearth.mcp.progress import Progress
from hearth.operation import Effect, Operation

if TYPE_CHECKING:
    from hearth.mcp.app import App
    from hearth.mcp.deliveries import Delivery
    from hearth.mcp.progress import Report
    from hearth.mcp.retries import Key
    from hearth.mcp.tools import Tool
    from hearth.runtime import Runtime

OPENAI_WAIT_MS = 100  # ChatGPT has other things to do meanwhile
USUAL_WAIT_MS = 10_000
USUAL_TIMEOUT_MS = 30_000  # of what waits
ANSWER_S = 1.0  # what waits gets it beyond its own time, to answer
START_S = 1.0
AGAIN_S = 1.0
SESSION = "mcp-session-id"


@dataclass(frozen=True, slots=True)
class Context:
    """What is known of a request beside its arguments: `_meta`, the HTTP headers in lower case (none over stdio), how
    to tell how far the work is, where the client wants to know, and what tells that its answer was written."""

    meta: Mapping[str, Any]
    headers: Mapping[str, str]
    report: Report | None = None
    delivery: Delivery | None = None


class Whose(NamedTuple):
    """The conversation of a call, and its handle where that was minted for the call."""

    key: str
    minted: str | None = None

    @property
    def has_mail(self) -> bool:
        return self.minted is None


def whose(app: App, context: Context, argument: str | None) -> Whose:
    """Which conversation a call belongs to."""
    meta = context.meta
    for kind, name in (
        (Kind.OPENAI, meta.get("openai/session")),
        (Kind.LOCAL, meta.get("hearth/conversation")),
        (Kind.LOCAL, argument),
        (Kind.SESSION, context.headers.get(SESSION)),
    ):
        if isinstance(name, str) and name.strip() and len(name) <= MAX_LENGTH:
            return Whose(conversations.named(name) if kind is Kind.LOCAL else conversations.fingerprint(kind, name))
    if app.conversation is not None:
        return Whose(app.conversation)
    handle = conversations.new_handle()
    return Whose(conversations.named(handle), handle)


async def answer(app: App, tool: Tool, arguments: Any, context: Context) -> Reply:
    """The reply; only being cancelled raises, which takes back a call that nobody else waits for."""
    mine: Whose | None = None
    try:
        argument = arguments.get("conversation") if isinstance(arguments, dict) else None
        mine = whose(app, context, argument)
        call = call_of(tool, arguments)
        key = retries.key_of(mine.key, call, context.meta, context.headers) if mine.has_mail else None
        is_retry = key is not None and app.seen.again(key)
        if mine.has_mail:
            app.mail.begin(mine.key, call.common.ack, is_retry=is_retry)
        reply = await _reply(app, call, mine, key, context)
    except HearthError as error:
        reply = envelope.failure(error)
    except Exception as error:
        from hearth.crash import internal

        reply = envelope.failure(internal(app.runtime.data_dir, error))
    return await _with_arrivals(app, mine, reply, context.delivery)


async def _reply(app: App, call: Call, mine: Whose, key: Key | None, context: Context) -> Reply:
    _, row = catalog.find(call.operation)
    if row.effect is Effect.READ:
        key = None  # it is done again
    with Progress(context.report) as progress:
        held = app.keyed.get(key[:2]) if key is not None else None
        if held is None:
            held = _begin(app, call, row, mine, key, progress.note)
        elif held.key != key:
            raise retries.reused()
        return await _wait(app, held, call, row, mine)


def _begin(app: App, call: Call, row: Operation, mine: Whose, key: Key | None, note: Callable[[str], None]) -> Held:
    cancelled = Cancellation()
    runtime = app.runtime.for_call(cancelled=cancelled, progress=note, group=call.common.run, conversation=mine.key)
    held = Held(
        app,
        runtime,
        call.operation,
        lambda held: _work(app, runtime, call, mine, held),
        cancelled=cancelled,
        key=key,
        is_detached=call.common.detach,
    )
    app.begin(held)
    if key is not None:
        app.keyed[key[:2]] = held
    try:
        held.task = app.pool.submit(mine.key if mine.has_mail else NOBODY, held.work, is_short=row.is_short)
    except HearthError:
        app.ended(held)
        raise
    return held


def _work(app: App, runtime: Runtime, call: Call, mine: Whose, held: Held) -> Reply:
    if held.key is not None:
        try:
            known = retries.begin(runtime, app.owner, held.key)
        except HearthError as error:
            return envelope.failure(error)
        if known is not None:
            return known
        held.is_noted = True
    room = app.room - envelope.BESIDE
    if mine.has_mail and app.mail.look(mine.key):
        room -= MOST_BYTES
        content = envelope.content_bytes(room, runtime.settings.max_output_bytes)
        runtime = runtime.for_call(settings=replace(runtime.settings, max_output_bytes=content))
    made = dispatch.call_json(runtime, call.operation, call.value)
    return envelope.reply(runtime, made, call.value, room)


async def _wait(app: App, held: Held, call: Call, row: Operation, mine: Whose) -> Reply:
    """The answer, or where that takes longer than the call is held: that it goes on."""
    held.join()
    try:
        if call.common.detach:
            return await _at_once(app, held)
        hold, began = wait_s(app, call, row, mine), time.monotonic()
        reply = await held.reply(min(hold, START_S))
        while reply is None:
            left = _left(held, hold, began)
            if left > 0:
                reply = await held.reply(left, or_start=held.started_at is None)
                continue
            try:
                future = await app.aside(held.detach)
            except HearthError as error:  # so it is held on
                app.runtime.log.warning(f"{call.operation} is held: {error.message}")
                hold += AGAIN_S
                reply = await held.reply(AGAIN_S)
                continue
            reply = _pending(future) if future is not None else await held.reply()
        return reply
    finally:
        held.leave()


async def _at_once(app: App, held: Held) -> Reply:
    try:
        future = await app.aside(held.detach)
    except HearthError:
        held.end_unstarted()
        raise
    reply = _pending(future) if future is not None else await held.reply()
    assert reply is not None
    return reply


def _left(held: Held, hold: float, began: float) -> float:
    """How long it is held on: its time counts from when a thread took it, which it must within a second."""
    now = time.monotonic()
    if held.started_at is None:
        return began + START_S - now
    return max(held.started_at, began) + hold - now


def wait_s(app: App, call: Call, row: Operation, mine: Whose) -> float:
    """How long a call is held before it is answered pending."""
    if call.common.wait_ms is not None:
        return call.common.wait_ms / 1000
    if row.waits:
        asked = call.value.get("timeout_ms")
        own = asked if isinstance(asked, int) else USUAL_TIMEOUT_MS
        return min(own / 1000 + ANSWER_S, MAX_WAIT_MS / 1000)
    usual = app.runtime.settings.serve.wait_ms
    if usual is None:
        usual = OPENAI_WAIT_MS if conversations.kind_of(mine.key) is Kind.OPENAI else USUAL_WAIT_MS
    return usual / 1000


def _pending(future: str) -> Reply:
    document = {"version": 1, "state": "pending", "future_id": future}
    return Reply(envelope.encode(document), document)


async def _with_arrivals(app: App, mine: Whose | None, reply: Reply, delivery: Delivery | None) -> Reply:
    """The reply, and what its conversation is to be told."""
    offered: list[dict[str, Any]] = []
    if mine is not None and mine.has_mail and not app.mail.is_empty(mine.key):
        room = app.room - envelope.size(reply.text) - envelope.BESIDE
        try:
            offered, written = await app.aside(lambda: app.mail.offer(mine.key, room))
        except HearthError:
            pass  # they come with a later answer
        else:
            if delivery is not None and offered:
                delivery.then(written)
    more: dict[str, Any] = {"arrivals": offered}
    if mine is not None and mine.minted is not None and reply.document["state"] == "pending":
        more["conversation"] = mine.minted
    return reply.telling(**more)
