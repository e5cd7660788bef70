"""Turns a call into an event that may be kept: no content, no secrets, bounded."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hearth.runtime import Runtime

if TYPE_CHECKING:
    from hearth.dispatch import Answer


def record(runtime: Runtime, given: Any, answer: Answer, *, wait: bool) -> None:
    """Store the event of a call; without `wait`, a busy database drops it."""
    from hearth.store import events

    with runtime.store.write(wait=wait) as tx:
        events.insert(
            tx,
            {
                "at": runtime.now(),
                "operation": answer.operation,
                "entity": None,
                "caller": runtime.caller,
                "state": answer.state,
                "error": answer.error.code if answer.error else None,
                "duration_ms": answer.duration_ms,
                "data": type(given).__name__,
            },
        )
