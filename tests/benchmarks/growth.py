"""What a million receipts and events in the database cost each call."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from itertools import count
from pathlib import Path

from tests.benchmarks.measure import Row, Sample, compare, interleaved
from tests.benchmarks.session import Session, session
from tests.benchmarks.setting import Setting

FEW, MANY = 1_000, 1_000_000
# The columns that a copy of a row must not share with the row itself; `:n` counts the copies.
KEYS = {
    "receipts": {"seq": f"seq + n * {FEW}", "id": f"'rec_' || printf('%026d', seq + n * {FEW})"},
    "changes": {"receipt": f"receipt + n * {FEW}"},
    "events": {"id": f"id + n * {FEW}"},
}


def growth(setting: Setting) -> list[Row]:
    for name in ("few", "many"):
        fill(setting.folder / name)
    multiply(setting.folder / "many" / "data" / "hearth.sqlite3", MANY // FEW - 1)
    with session(setting.folder / "few", sync=False) as few, session(setting.folder / "many", sync=False) as many:
        return [row for step in ("write", "history", "undo") for row in _rows(setting, step, few, many)]


def _rows(setting: Setting, step: str, few: Session, many: Session) -> list[Row]:
    series = interleaved({"many": _step(step, many), "few": _step(step, few)}, setting.rounds * 10, warm_up=5)
    what = f"`fs {step}` with {MANY:,} receipts and events"
    return [compare(what, f"with {FEW:,}", series["many"], series["few"], most=1.5, of="wall_ms")]


def _step(step: str, opened: Session) -> Callable[[], Sample]:
    numbers = count()

    def write() -> Sample:
        return opened.timed("fs.write", path="file-0.txt", data=f"again {next(numbers)}\n")

    def undo() -> Sample:
        write()
        return opened.timed("fs.undo", last=True)

    def history() -> Sample:
        return opened.timed("fs.history", path="file-1.txt", limit=10)

    return {"write": write, "undo": undo, "history": history}[step]


def fill(folder: Path) -> None:
    """A data directory with FEW receipts and events, made by real writes."""
    with session(folder, sync=False) as opened:
        for number in range(FEW):
            opened.call("fs.write", path=f"file-{number % 100}.txt", data=f"{number}\n")


def multiply(database: Path, copies: int) -> None:
    """Add `copies` of every receipt, change and event."""
    with closing(sqlite3.connect(database)) as connection:
        for table, keys in KEYS.items():
            columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            values = ", ".join(keys.get(column, column) for column in columns)
            connection.execute(
                f"WITH RECURSIVE copies (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM copies WHERE n < {copies})"
                f" INSERT INTO {table} ({', '.join(columns)}) SELECT {values} FROM {table}, copies"
                f" WHERE {next(iter(keys))} <= {FEW}"
            )
            connection.commit()
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
