"""The rows of workers: which processes look after jobs, and when each last showed that it lives."""

from __future__ import annotations

import sqlite3
from typing import NamedTuple


class WorkerRow(NamedTuple):
    """A worker. Its process is told by pid, start and boot; `beat_ms` is of the clock that only grows."""

    id: str
    kind: str
    pid: int
    pid_start: str
    boot: str
    version: str
    started_at: str
    beat_ms: int


_INSERT = """
    INSERT INTO workers (id, kind, pid, pid_start, boot, version, started_at, beat_ms)
    VALUES (:id, :kind, :pid, :pid_start, :boot, :version, :started_at, :beat_ms)
"""
_ALL = "SELECT id, kind, pid, pid_start, boot, version, started_at, beat_ms FROM workers ORDER BY id LIMIT 1000"
_BEAT = "UPDATE workers SET beat_ms = :beat_ms WHERE id = :id"
_DELETE = "DELETE FROM workers WHERE id = :id"


def insert(tx: sqlite3.Connection, worker: WorkerRow) -> None:
    tx.execute(_INSERT, worker._asdict())


def all_of(view: sqlite3.Connection) -> list[WorkerRow]:
    """Every worker that did not sign off, living or not; the oldest first."""
    return [WorkerRow(*row) for row in view.execute(_ALL)]


def beat(tx: sqlite3.Connection, id_: str, beat_ms: int) -> bool:
    """Show that a worker lives; false when another one took it for dead and removed its row."""
    return tx.execute(_BEAT, {"id": id_, "beat_ms": beat_ms}).rowcount == 1


def delete(tx: sqlite3.Connection, id_: str) -> bool:
    return tx.execute(_DELETE, {"id": id_}).rowcount == 1
