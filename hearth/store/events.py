"""The append-only log of what was called."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
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


Call = tuple[int, str, str, str | None, str | None, str, str]
_WINDOW = """
    SELECT id, operation, caller, run, conversation, state, data FROM events
    WHERE id > :after AND id <= :upto ORDER BY id
"""
_WINDOW_OF = """
    SELECT id, operation, caller, run, conversation, state, data FROM events
    WHERE id > :after AND id <= :upto AND +conversation = :conversation ORDER BY id
"""
_INPUT = "SELECT at, data FROM events WHERE id = ?"
_ANY_UPTO = "SELECT 1 FROM events WHERE id <= ? LIMIT 1"


def newest(view: sqlite3.Connection) -> int:
    """The number of the newest event; 0 where there is none."""
    (found,) = view.execute(_NEWEST).fetchone()
    return found or 0


def window(view: sqlite3.Connection, *, after: int, upto: int, conversation: str | None) -> Iterator[Call]:
    """The calls numbered from behind `after` to `upto`, of all conversations or of one: id, operation, caller, run,
    conversation, state, and the input as JSON."""
    given = {"after": after, "upto": upto, "conversation": conversation}
    return iter(view.execute(_WINDOW if conversation is None else _WINDOW_OF, given))


def any_upto(view: sqlite3.Connection, upto: int) -> bool:
    """Whether there is an event with this number or an earlier one."""
    return view.execute(_ANY_UPTO, (upto,)).fetchone() is not None


def input_of(view: sqlite3.Connection, number: int) -> tuple[str, str] | None:
    """When the call with this number was made, and its input as JSON; None where it is no longer kept."""
    found = view.execute(_INPUT, (number,)).fetchone()
    return (found[0], found[1]) if found else None
