"""The append-only log of what was called."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping

Row = Mapping[str, str | int | None]

_INSERT = """
    INSERT INTO events (at, operation, entity, caller, run, conversation, state, error, duration_ms, data)
    VALUES (:at, :operation, :entity, :caller, :run, :conversation, :state, :error, :duration_ms, :data)
"""
_EXPIRED = """
    SELECT count(*), coalesce(sum(length(data)), 0) FROM events
    WHERE id <= :upto OR at < :before
"""
_NEWEST = "SELECT max(id) FROM events"
_DELETE_BEFORE = """
    DELETE FROM events WHERE id IN (SELECT id FROM events WHERE at < :before ORDER BY at LIMIT :most)
"""
_DELETE_UPTO = """
    DELETE FROM events WHERE id IN (SELECT id FROM events WHERE id <= :upto ORDER BY id LIMIT :most)
"""


def insert(tx: sqlite3.Connection, row: Row) -> int:
    """Add an event; its number, which only grows."""
    number = tx.execute(_INSERT, row).lastrowid
    assert number is not None
    return number


def insert_many(tx: sqlite3.Connection, rows: Iterable[Row]) -> None:
    tx.executemany(_INSERT, rows)


def last_to_go(tx: sqlite3.Connection, keep: int) -> int:
    """The number up to which events go when `keep` of the newest stay. Numbers have no gaps but at the old end."""
    (newest,) = tx.execute(_NEWEST).fetchone()
    return max(0, (newest or 0) - keep)


def expired(tx: sqlite3.Connection, *, before: str, upto: int) -> tuple[int, int]:
    """How many events are older than `before` or numbered up to `upto`, and the bytes of their data."""
    count, size = tx.execute(_EXPIRED, {"before": before, "upto": upto}).fetchone()
    return count, size


def delete_expired(tx: sqlite3.Connection, *, before: str, upto: int, most: int) -> int:
    """Remove at most `most` of those, oldest first; how many."""
    gone = tx.execute(_DELETE_UPTO, {"upto": upto, "most": most}).rowcount
    return gone + tx.execute(_DELETE_BEFORE, {"before": before, "most": most - gone}).rowcount
