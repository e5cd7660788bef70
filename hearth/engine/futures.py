"""Calls that were answered before they had ended: opening them, storing their end, and what becomes of those whose
process did not live to end them."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING, Any

from hearth import identifiers
from hearth.engine import arriving, leases
from hearth.errors import Interrupted
from hearth.store import conversations, futures
from hearth.store.futures import Future, FutureState, Owner

if TYPE_CHECKING:
    from hearth.platforms.base import Host
    from hearth.runtime import Runtime

OPEN_WAIT_MS = 1_000  # who is to be told of it waits meanwhile, and may have the answer itself by then


def owner_here(host: Host) -> Owner:
    """This process."""
    return Owner(*leases.this_process(host))


def open_future(runtime: Runtime, owner: Owner, operation: str, *, started_at: str | None) -> str:
    """Note a call of the runtime's conversation that goes on; its id. Raises `DatabaseError`, `NoSpace`."""
    now = runtime.now()
    assert runtime.conversation is not None
    made = Future(
        id=identifiers.new("fut", runtime.clock.now_ms()),
        conversation=runtime.conversation,
        operation=operation,
        caller=runtime.caller.value,
        state=FutureState.PENDING if started_at is None else FutureState.RUNNING,
        created_at=now,
        started_at=started_at,
        pid=owner.pid,
        pid_start=owner.start,
        boot=owner.boot,
        run=runtime.group,
    )
    with runtime.store.write(wait_ms=OPEN_WAIT_MS) as tx:
        conversations.touch(tx, runtime.conversation, now)
        futures.insert(tx, made)
    return made.id


def end(tx: sqlite3.Connection, id_: str, document: dict[str, Any], at: str) -> bool:
    """Store a call's answer, and tell its conversation; false when it had ended."""
    future = futures.find(tx, id_)
    if future is None:
        return False
    state = FutureState(document["state"])
    if state is FutureState.PENDING:  # it has done what it was to do: what it began goes on under another id
        state = FutureState.COMPLETED
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"))
    if not futures.finish(tx, id_, state, at=at, result=text):
        return False
    arriving.future_ended(tx, future, state, document, at)
    return True


def recover(runtime: Runtime) -> int:
    """Block the calls whose process is gone; how many. Raises `DatabaseError`."""
    with runtime.store.read() as view:
        lost = [each for each in futures.unfinished(view) if not lives(runtime, each)]
    return _block(runtime, lost)


def settled(runtime: Runtime, future: Future) -> Future:
    """The future as it is; one that nobody works on any more is blocked first. Raises `DatabaseError`."""
    if future.has_ended or lives(runtime, future):
        return future
    _block(runtime, [future])
    with runtime.store.read() as view:
        return futures.find(view, future.id) or future


def lives(runtime: Runtime, future: Future) -> bool:
    """Whether the process that works on it is there."""
    host = runtime.host
    return future.boot == host.boot_id() and host.process_start(future.pid) == future.pid_start


def _block(runtime: Runtime, lost: list[Future]) -> int:
    if not lost:
        return 0
    error = Interrupted("the server that worked on this call ended before the call did")
    document = {"version": 1, "state": error.state.value, "error": error.document()}
    with runtime.store.write() as tx:
        done = sum(end(tx, each.id, document, runtime.now()) for each in lost)
    runtime.host.ring(runtime.bells)
    return done
