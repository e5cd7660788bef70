"""The rows of conversations: by fingerprint, and how far each has acknowledged what arrived for it."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple

_TOUCH = """
    INSERT INTO conversations (key, first_at, last_at) VALUES (:key, :at, :at)
    ON CONFLICT (key) DO UPDATE SET last_at = max(last_at, :at)
"""
_TAKE_SEQ = """
    INSERT INTO conversations (key, first_at, last_at, next_seq) VALUES (:key, :at, :at, 2)
    ON CONFLICT (key) DO UPDATE SET next_seq = next_seq + 1, last_at = max(last_at, :at)
    RETURNING next_seq - 1
"""
_ACK = """
    UPDATE conversations SET acked = min(:seq, next_seq - 1), last_at = max(last_at, :at)
    WHERE key = :key AND acked < :seq
"""
_CURSOR = "SELECT next_seq - 1 AS newest, acked FROM conversations WHERE key = :key"
_LIST = """
    SELECT *,
        (SELECT count(*) FROM jobs WHERE conversation = key AND ended_at IS NULL) AS jobs,
        (SELECT count(*) FROM futures WHERE conversation = key AND ended_at IS NULL) AS futures
    FROM conversations WHERE (last_at, key) < (:last_at, :key) ORDER BY last_at DESC, key DESC LIMIT :most
"""
_IDLE = """
    SELECT key FROM conversations WHERE last_at < :before
    AND NOT EXISTS (SELECT 1 FROM arrivals WHERE conversation = key)
    AND NOT EXISTS (SELECT 1 FROM futures WHERE conversation = key)
    AND NOT EXISTS (SELECT 1 FROM jobs WHERE conversation = key)
"""


_COUNT_IDLE = f"SELECT count(*) FROM ({_IDLE})"
_DELETE_IDLE = f"DELETE FROM conversations WHERE key IN ({_IDLE} LIMIT :most)"


class Cursor(NamedTuple):
    """The newest arrival, and the newest that was acknowledged; 0: none."""

    newest: int
    acked: int


class Conversation(NamedTuple):
    """A row, and how much of its work has not ended."""

    key: str
    first_at: str
    last_at: str
    next_seq: int
    acked: int
    current_run: str | None
    jobs: int
    futures: int


def touch(tx: sqlite3.Connection, key: str, at: str) -> None:
    """See to it that there is a row."""
    tx.execute(_TOUCH, {"key": key, "at": at})


def take_seq(tx: sqlite3.Connection, key: str, at: str) -> int:
    """The number of the next arrival, from 1."""
    return int(tx.execute(_TAKE_SEQ, {"key": key, "at": at}).fetchone()[0])


def cursor(view: sqlite3.Connection, key: str) -> Cursor:
    row = view.execute(_CURSOR, {"key": key}).fetchone()
    return Cursor(*row) if row else Cursor(0, 0)


def ack(tx: sqlite3.Connection, key: str, seq: int, at: str) -> None:
    """Note that all arrivals up to `seq` were received; never fewer than before, nor more than there are."""
    tx.execute(_ACK, {"key": key, "seq": seq, "at": at})


def newest_first(view: sqlite3.Connection, *, before: tuple[str, str] = ("~", ""), most: int) -> list[Conversation]:
    """Those of which something was stored last, behind the one with that time and key."""
    rows = view.execute(_LIST, {"last_at": before[0], "key": before[1], "most": most})
    return [Conversation(*row) for row in rows]


def count_idle(view: sqlite3.Connection, before: str) -> int:
    """How many had nothing stored since, and have nothing that could still be told."""
    return int(view.execute(_COUNT_IDLE, {"before": before}).fetchone()[0])


def delete_idle(tx: sqlite3.Connection, before: str, most: int) -> int:
    """Forget the oldest of those; how many."""
    return tx.execute(_DELETE_IDLE, {"before": before, "most": most}).rowcount
