"""The rows of schedules: what makes jobs again and again, and for which slot each one waits.

`hearth.engine.recurring` decides what is due; here is only the SQL.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """A row. Exactly one of `cron` and `every_ms` is there. Times are UTC texts; `job` and `labels` are JSON."""

    id: str
    name: str
    created_at: str
    enabled: bool
    zone: str
    missed: str
    missed_most: int
    overlap: str
    job: str
    environment: int
    labels: str
    anchor_at: str
    conversation: str | None = None
    cron: str | None = None
    every_ms: int | None = None
    next_at: str | None = None
    last_at: str | None = None
    made: int = 0
    skipped: int = 0
    problem: str | None = None
    seq: int = 0


_COLUMNS = tuple(field.name for field in fields(Schedule) if field.name != "seq")
_INSERT = f"INSERT INTO schedules ({', '.join(_COLUMNS)}) VALUES ({', '.join(':' + name for name in _COLUMNS)})"
_REPLACE = """
    UPDATE schedules SET
        cron = :cron, every_ms = :every_ms, zone = :zone, missed = :missed, missed_most = :missed_most,
        overlap = :overlap, job = :job, environment = :environment,
        conversation = :conversation, labels = :labels, anchor_at = :anchor_at,
        next_at = :next_at, problem = NULL
    WHERE seq = :seq
"""
_NAMED = "SELECT * FROM schedules WHERE name = :name"
_GET = "SELECT * FROM schedules WHERE id = :id"
_STARTING = "SELECT * FROM schedules WHERE id >= :prefix AND id < :prefix || '~' ORDER BY id LIMIT 2"
_PAGE = """
    SELECT * FROM schedules
    WHERE name > :after AND (:conversation IS NULL OR conversation IS NULL OR conversation = :conversation)
    ORDER BY name LIMIT :most
"""
_DELETE = "DELETE FROM schedules WHERE seq = :seq"


def insert(tx: sqlite3.Connection, schedule: Schedule) -> None:
    tx.execute(_INSERT, {name: getattr(schedule, name) for name in _COLUMNS})


def replace(tx: sqlite3.Connection, schedule: Schedule) -> None:
    """Store what a schedule is to do from now on; what it has done so far stays."""
    tx.execute(_REPLACE, {"seq": schedule.seq, **{name: getattr(schedule, name) for name in _COLUMNS}})


def find(view: sqlite3.Connection, word: str) -> Schedule | None:
    """The schedule of that name or id."""
    row = view.execute(_NAMED, {"name": word}).fetchone() or view.execute(_GET, {"id": word}).fetchone()
    return _schedule_of(row) if row else None


def starting_with(view: sqlite3.Connection, prefix: str) -> list[Schedule]:
    """Those whose id starts so, at most two."""
    return [_schedule_of(row) for row in view.execute(_STARTING, {"prefix": prefix})]


def page(view: sqlite3.Connection, *, after: str, most: int, conversation: str | None = None) -> list[Schedule]:
    """By name, those behind `after`; those of `conversation` and of none, or all."""
    values = {"after": after, "most": most, "conversation": conversation}
    return [_schedule_of(row) for row in view.execute(_PAGE, values)]


def delete(tx: sqlite3.Connection, seq: int) -> None:
    """Its jobs stay."""
    tx.execute(_DELETE, {"seq": seq})


def _schedule_of(row: sqlite3.Row) -> Schedule:
    values = dict(zip(row.keys(), row, strict=True))
    return Schedule(**{**values, "enabled": bool(values["enabled"])})


_DUE = """
    SELECT * FROM schedules WHERE enabled = 1 AND next_at IS NOT NULL AND next_at <= :now ORDER BY next_at LIMIT :most
"""
_PLANNED_AFTER = """
    SELECT * FROM schedules
    WHERE enabled = 1 AND next_at IS NOT NULL AND (next_at, seq) > (:after, :seq) ORDER BY next_at, seq LIMIT :most
"""
_PLAN = "UPDATE schedules SET next_at = :next_at WHERE seq = :seq AND next_at = :was"
_ADVANCE = """
    UPDATE schedules SET
        next_at = :next_at, last_at = coalesce(:last_at, last_at), made = made + :made, skipped = skipped + :skipped
    WHERE seq = :seq
"""
_ENABLE = "UPDATE schedules SET enabled = :enabled, next_at = :next_at, problem = NULL WHERE seq = :seq"
_STOP = "UPDATE schedules SET next_at = NULL, problem = :problem WHERE seq = :seq"


def due(view: sqlite3.Connection, now: str, most: int) -> list[Schedule]:
    """Enabled ones whose slot has come, the longest ago first."""
    return [_schedule_of(row) for row in view.execute(_DUE, {"now": now, "most": most})]


def planned_after(view: sqlite3.Connection, now: str, most: int) -> Iterable[list[Schedule]]:
    """Enabled ones that wait for a slot behind `now`, `most` at a time."""
    after, seq = now, 0
    while found := [
        _schedule_of(row) for row in view.execute(_PLANNED_AFTER, {"after": after, "seq": seq, "most": most})
    ]:
        yield found
        after, seq = found[-1].next_at or "", found[-1].seq


def plan(tx: sqlite3.Connection, seq: int, was: str, next_at: str | None) -> bool:
    """Let a schedule wait for another slot; false when it no longer waits for `was`."""
    return tx.execute(_PLAN, {"seq": seq, "was": was, "next_at": next_at}).rowcount == 1


def advance(
    tx: sqlite3.Connection, seq: int, *, next_at: str | None, last_at: str | None, made: int, skipped: int
) -> None:
    """Count what became of slots, and wait for the next one."""
    values = {"seq": seq, "next_at": next_at, "last_at": last_at, "made": made, "skipped": skipped}
    tx.execute(_ADVANCE, values)


def enable(tx: sqlite3.Connection, seq: int, *, enabled: bool, next_at: str | None) -> None:
    tx.execute(_ENABLE, {"seq": seq, "enabled": enabled, "next_at": next_at})


def stop(tx: sqlite3.Connection, seq: int, problem: str) -> None:
    """It makes no jobs until it is enabled or replaced, and says why."""
    tx.execute(_STOP, {"seq": seq, "problem": problem})


_UNFINISHED = """
    SELECT id FROM jobs WHERE schedule = :id AND ended_at IS NULL ORDER BY seq LIMIT :most
"""
_HAS_SLOT = "SELECT 1 FROM jobs WHERE schedule = :id AND slot_at = :slot_at"
_NEWEST = "SELECT id, state FROM jobs WHERE schedule = :id ORDER BY slot_at DESC LIMIT 1"


def unfinished(view: sqlite3.Connection, id_: str, most: int) -> list[str]:
    """The ids of a schedule's jobs that have not ended, the oldest first."""
    return [row[0] for row in view.execute(_UNFINISHED, {"id": id_, "most": most})]


def has_slot(view: sqlite3.Connection, id_: str, slot_at: str) -> bool:
    """Whether there is a job for that slot already."""
    return view.execute(_HAS_SLOT, {"id": id_, "slot_at": slot_at}).fetchone() is not None


def newest_job(view: sqlite3.Connection, id_: str) -> tuple[str, str] | None:
    """The id and the state of the job for a schedule's newest slot."""
    row = view.execute(_NEWEST, {"id": id_}).fetchone()
    return (row[0], row[1]) if row else None
