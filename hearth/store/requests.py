"""The rows of requests: calls that change something, by what their client called them, so that one that comes again
is answered and not done again."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

KEPT_MS = 600_000
KEPT_OF_ONE = 256  # of one conversation


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A row. `answer` is JSON; None while it runs, or since its process ended."""

    conversation: str
    key: str
    digest: str
    at: str
    pid: int
    pid_start: str
    boot: str
    answer: str | None = None
    seq: int = 0


_INSERT = """
    INSERT INTO requests (conversation, key, digest, at, pid, pid_start, boot)
    VALUES (:conversation, :key, :digest, :at, :pid, :pid_start, :boot)
"""
_FIND = "SELECT * FROM requests WHERE conversation = :conversation AND key = :key"
_ANSWER = "UPDATE requests SET answer = :answer, at = :at WHERE conversation = :conversation AND key = :key"
_DELETE = "DELETE FROM requests WHERE seq = :seq"
_EXCESS = """
    DELETE FROM requests WHERE seq IN (
        SELECT seq FROM requests WHERE conversation = :conversation AND answer IS NOT NULL
        ORDER BY seq DESC LIMIT 16 OFFSET :kept
    )
"""
# One without an answer may still run, or tells that its process did not live to answer it.
_COUNT_OLD = """
    SELECT count(*) AS number, coalesce(sum(length(answer)), 0) AS size FROM requests
    WHERE at < :before AND (answer IS NOT NULL OR at < :lost)
"""
_DELETE_OLD = """
    DELETE FROM requests WHERE seq IN (
        SELECT seq FROM requests WHERE at < :before AND (answer IS NOT NULL OR at < :lost) ORDER BY at LIMIT :most
    )
"""


def insert(tx: sqlite3.Connection, request: Request) -> None:
    """Note a request before it does anything. Those beyond the last 256 of its conversation go."""
    names = ("conversation", "key", "digest", "at", "pid", "pid_start", "boot")
    tx.execute(_INSERT, {name: getattr(request, name) for name in names})
    tx.execute(_EXCESS, {"conversation": request.conversation, "kept": KEPT_OF_ONE})


def find(view: sqlite3.Connection, conversation: str, key: str) -> Request | None:
    row = view.execute(_FIND, {"conversation": conversation, "key": key}).fetchone()
    return Request(**dict(row)) if row else None


def answer(tx: sqlite3.Connection, conversation: str, key: str, *, at: str, answer: str) -> None:
    """Keep what it was answered, from now on for ten minutes."""
    tx.execute(_ANSWER, {"conversation": conversation, "key": key, "at": at, "answer": answer})


def delete(tx: sqlite3.Connection, request: Request) -> None:
    tx.execute(_DELETE, {"seq": request.seq})


def expired(view: sqlite3.Connection, before: str, lost: str) -> tuple[int, int]:
    """How many are older, or where they have no answer older than `lost`, and the bytes of their answers."""
    row = view.execute(_COUNT_OLD, {"before": before, "lost": lost}).fetchone()
    return int(row["number"]), int(row["size"])


def delete_expired(tx: sqlite3.Connection, before: str, lost: str, most: int) -> int:
    """Forget the oldest of those; how many."""
    return tx.execute(_DELETE_OLD, {"before": before, "lost": lost, "most": most}).rowcount
