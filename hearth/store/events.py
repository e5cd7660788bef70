"""The append-only log of what was called."""

from __future__ import annotations

import sqlite3


def insert(tx: sqlite3.Connection, row: dict[str, object]) -> None:
    tx.execute(
        "INSERT INTO events (at, operation, entity, caller, state, error, duration_ms, data)"
        " VALUES (:at, :operation, :entity, :caller, :state, :error, :duration_ms, :data)",
        row,
    )
