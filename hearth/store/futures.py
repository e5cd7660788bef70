"""The rows of futures: calls that were answered before they had ended."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import NamedTuple


class FutureState(StrEnum):
    """Where it stands: it waits for a thread, runs, or ended in the state of its answer."""

    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    FAILED = "failed"
    BLOCKED = "blocked"
    CONFLICT = "conflict"
    PARTIAL = "partial"
    CANCELLED = "cancelled"
    SUPERSEDED = "superseded"


UNFINISHED = (FutureState.PENDING, FutureState.RUNNING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Future:
    """A row. Times are UTC texts; `result` is the answer as JSON, once it has ended. Of a scatter: `batch`, the
    `position` in it, the `input` as JSON with its references, and as JSON what it `needs`."""

    id: str
    conversation: str | None
    operation: str
    caller: str
    state: FutureState
    created_at: str
    pid: int
    pid_start: str
    boot: str
    run: str | None = None
    started_at: str | None = None
    ended_at: str | None = None
    cancelling: bool = False
    result: str | None = None
    batch: str | None = None
    position: int | None = None
    input: str | None = None
    needs: str | None = None
    seq: int = 0

    @property
    def has_ended(self) -> bool:
        return self.ended_at is not None


class Owner(NamedTuple):
    """The process that works on futures."""

    pid: int
    start: str
    boot: str


_COLUMNS = tuple(field.name for field in fields(Future) if field.name != "seq")
_INSERT = f"INSERT INTO futures ({', '.join(_COLUMNS)}) VALUES ({', '.join(':' + name for name in _COLUMNS)})"
_GET = "SELECT * FROM futures WHERE id = :id"
_STARTING = "SELECT * FROM futures WHERE id >= :prefix AND id < :prefix || '~' ORDER BY id LIMIT 2"
_START = "UPDATE futures SET state = 'running', started_at = :at WHERE id = :id AND state = 'pending'"
_FINISH = "UPDATE futures SET state = :state, ended_at = :at, result = :result WHERE id = :id AND ended_at IS NULL"
_CANCEL = "UPDATE futures SET cancelling = 1 WHERE id = :id AND ended_at IS NULL"
_CANCELLING = """
    SELECT id FROM futures INDEXED BY futures_unfinished
    WHERE ended_at IS NULL AND pid = :pid AND cancelling = 1 AND pid_start = :start AND boot = :boot
"""
_UNFINISHED = "SELECT * FROM futures INDEXED BY futures_unfinished WHERE ended_at IS NULL"
_PAGE = """
    SELECT * FROM futures WHERE seq < :before AND (NOT :unfinished OR ended_at IS NULL)
    ORDER BY seq DESC LIMIT :most
"""
_PAGE_OF = """
    SELECT * FROM futures
    WHERE conversation = :conversation AND seq < :before AND (NOT :unfinished OR ended_at IS NULL)
    ORDER BY seq DESC LIMIT :most
"""
_COUNT_OLD = """
    SELECT count(*) AS number, coalesce(sum(length(result)), 0) AS size FROM futures WHERE ended_at < :before
"""
_DELETE_OLD = """
    DELETE FROM futures WHERE seq IN (SELECT seq FROM futures WHERE ended_at < :before ORDER BY ended_at LIMIT :most)
"""


def insert(tx: sqlite3.Connection, future: Future) -> None:
    tx.execute(_INSERT, {name: getattr(future, name) for name in _COLUMNS})


def find(view: sqlite3.Connection, id_: str) -> Future | None:
    row = view.execute(_GET, {"id": id_}).fetchone()
    return _future(row) if row else None


def starting_with(view: sqlite3.Connection, prefix: str) -> list[Future]:
    """Those whose id starts so, at most two."""
    return [_future(row) for row in view.execute(_STARTING, {"prefix": prefix})]


def start(tx: sqlite3.Connection, id_: str, at: str) -> bool:
    """Note that a thread works on it; false when none was to."""
    return tx.execute(_START, {"id": id_, "at": at}).rowcount == 1


def finish(tx: sqlite3.Connection, id_: str, state: FutureState, *, at: str, result: str) -> bool:
    """Store its answer; false when it had ended."""
    return tx.execute(_FINISH, {"id": id_, "state": state, "at": at, "result": result}).rowcount == 1


def want_end(tx: sqlite3.Connection, id_: str) -> bool:
    """Ask for its end; false when it had ended."""
    return tx.execute(_CANCEL, {"id": id_}).rowcount == 1


def to_end(view: sqlite3.Connection, owner: Owner) -> list[str]:
    """Which of a process's futures are to end."""
    return [row[0] for row in view.execute(_CANCELLING, owner._asdict())]


def unfinished(view: sqlite3.Connection) -> list[Future]:
    return [_future(row) for row in view.execute(_UNFINISHED)]


def page(
    view: sqlite3.Connection, *, before: int, most: int, unfinished: bool = False, conversation: str | None = None
) -> list[Future]:
    """The newest ones behind `before`: of a conversation, or of all."""
    sql = _PAGE if conversation is None else _PAGE_OF
    values = {"before": before, "most": most, "unfinished": unfinished, "conversation": conversation}
    return [_future(row) for row in view.execute(sql, values)]


def expired(view: sqlite3.Connection, before: str) -> tuple[int, int]:
    """How many ended earlier, and the bytes of their answers."""
    row = view.execute(_COUNT_OLD, {"before": before}).fetchone()
    return int(row["number"]), int(row["size"])


def delete_expired(tx: sqlite3.Connection, before: str, most: int) -> int:
    """Forget the oldest of those; how many."""
    return tx.execute(_DELETE_OLD, {"before": before, "most": most}).rowcount


def _future(row: sqlite3.Row) -> Future:
    values = dict(zip(row.keys(), row, strict=True))
    return Future(**{**values, "state": FutureState(values["state"]), "cancelling": bool(values["cancelling"])})
