"""The append-only log of what was called."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hearth.clock import timestamp

if TYPE_CHECKING:
    from hearth.settings import RetentionSettings

DAY_MS = 86_400_000
TEND_EVERY = 64

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


def insert(tx: sqlite3.Connection, rows: Sequence[Row]) -> int:
    """Add events, at least one; the number of the newest."""
    *others, last = rows
    if others:
        tx.executemany(_INSERT, others)
    newest = tx.execute(_INSERT, last).lastrowid
    assert newest is not None
    return newest


def tend(tx: sqlite3.Connection, newest: int, added: int, keep: RetentionSettings, now_ms: int) -> None:
    """Every 64 events, remove up to four times as many that have expired: it keeps up and is never felt."""
    if newest % TEND_EVERY < added:
        before = timestamp(max(0, now_ms - keep.events_days * DAY_MS))
        most = 4 * max(added, TEND_EVERY)
        delete_expired(tx, before=before, upto=last_to_go(tx, keep.events_max), most=most)


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
