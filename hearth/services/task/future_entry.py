"""What is told about a call over MCP that was answered before it had ended, and how operations are given one."""

from __future__ import annotations

import json
import sqlite3
from typing import Annotated, Any

from hearth import conversations
from hearth.engine.futures import settled
from hearth.errors import NotFound, invalid
from hearth.model import Help, model
from hearth.runtime import Caller, Runtime
from hearth.store import futures
from hearth.store.futures import Future, FutureState

PREFIX = "fut_"


@model
class FutureEntry:
    """A call that was answered pending."""

    id: Annotated[str, Help("What the other operations take.")]
    state: Annotated[FutureState, Help("Pending, running, or the state of its answer.")]
    operation: Annotated[str, Help("What was called.")]
    created_at: Annotated[str, Help("When it was answered pending.")]
    started_at: Annotated[str | None, Help("When it began to run, where that was later, or it ran already.")]
    ended_at: Annotated[str | None, Help("When it ended.")]
    conversation: Annotated[str | None, Help("The conversation that it belongs to; null: a shell's.")]
    run: Annotated[str | None, Help("The run that it belongs to.")]
    batch: Annotated[str | None, Help("The scatter that it is a call of.")]
    result: Annotated[dict[str, Any] | None, Help("Its answer, once it has ended; in lists left out.")] = None


_SAME = ("id", "state", "operation", "created_at", "started_at", "ended_at", "conversation", "run", "batch")


def entry(future: Future, *, with_result: bool = True) -> FutureEntry:
    result = json.loads(future.result) if future.result is not None and with_result else None
    return FutureEntry(**{name: getattr(future, name) for name in _SAME}, result=result)


def is_future(word: str) -> bool:
    """Whether an id, or its beginning, is that of a future."""
    return word.startswith(PREFIX)


def find(runtime: Runtime, view: sqlite3.Connection, word: str, field: str = "id") -> Future:
    """The future with that id, or at the shell the only one whose id starts so. Raises `NotFound`, `InvalidInput`."""
    found = futures.find(view, word)
    candidates = [found] if found is not None and conversations.sees(runtime, found.conversation) else []
    if not candidates and runtime.caller is Caller.SHELL:
        candidates = futures.starting_with(view, word)
    if len(candidates) > 1:
        raise invalid(field, "ambiguous", f"{word} begins several ids, such as {candidates[0].id}")
    if not candidates:
        raise NotFound(f"there is no call {word}", hint="`hearth task list --json` shows what there is", id=word)
    return candidates[0]


def current(runtime: Runtime, word: str) -> Future:
    """The same, as it is now: one whose process is gone has ended. Not inside a transaction."""
    with runtime.store.read() as view:
        found = find(runtime, view, word)
    return settled(runtime, found)
