"""Rows to put into a store."""

from __future__ import annotations

from hearth.store.database import Store
from hearth.store.events import Row


def event(number: int = 0, *, at: str = "2999-01-01T00:00:00.000Z", entity: str | None = None) -> Row:
    return {
        "at": at,
        "operation": "fs.stat",
        "entity": entity,
        "caller": "batch",
        "run": None,
        "conversation": None,
        "state": "completed",
        "error": None,
        "duration_ms": number,
        "data": "{}",
    }


def count(store: Store) -> int:
    with store.read() as view:
        (number,) = view.execute("SELECT count(*) FROM events").fetchone()
    return int(number)
