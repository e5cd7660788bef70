"""Recurring jobs: a schedule makes one for each slot of its timetable.

A slot has one job at most, whatever workers, their ends and the clock do: the slot is part of the job's row, and jobs
are made in the transaction that moves their schedule on.
"""

from __future__ import annotations

import json
import sqlite3
import time
from enum import StrEnum
from typing import TYPE_CHECKING

from hearth import identifiers
from hearth.clock import parse_timestamp, timestamp
from hearth.engine import timetable
from hearth.engine.timetable import Missed, Timetable
from hearth.errors import HearthError
from hearth.model import State
from hearth.store import events, jobs, schedules
from hearth.store.jobs import Condition, Dependency, Job, JobState
from hearth.store.schedules import Schedule

if TYPE_CHECKING:
    from hearth.runtime import Runtime

AT_ONCE = 64  # schedules of one pass
SPELL_S = 0.1  # after which the other schedules are left to the next pass: nobody else writes meanwhile
UNFINISHED_MOST = 100  # jobs of one schedule; above, slots are skipped whatever its overlap says
OPERATION = "task.slot"  # in events


class Overlap(StrEnum):
    """What becomes of a slot while an earlier job of its schedule has not ended."""

    SKIP = "skip"
    QUEUE = "queue"


def table_of(cron: str | None, every_ms: int | None, zone: str, anchor_ms: int) -> Timetable:
    """The timetable of a schedule. Raises `InvalidInput`."""
    if cron is not None:
        return timetable.cron(cron, zone)
    assert every_ms is not None
    return timetable.every(every_ms, anchor_ms)


def table(schedule: Schedule) -> Timetable:
    """Raises `InvalidInput`, such as for a zone that this system no longer knows."""
    return table_of(schedule.cron, schedule.every_ms, schedule.zone, parse_timestamp(schedule.anchor_at))


def slot_after(times: Timetable, ms: int) -> str | None:
    """The first slot later than `ms`."""
    slot = times.next_after(ms)
    return None if slot is None else timestamp(slot)


def fire(tx: sqlite3.Connection, runtime: Runtime) -> None:
    """Make the jobs of slots that have come. What is left when it took long stays due."""
    now_ms = runtime.clock.now_ms()
    until = time.monotonic() + SPELL_S
    for schedule in schedules.due(tx, timestamp(now_ms), AT_ONCE):
        _fire(tx, runtime, schedule, now_ms)
        if time.monotonic() >= until:
            return


def _fire(tx: sqlite3.Connection, runtime: Runtime, schedule: Schedule, now_ms: int) -> None:
    try:
        owed = _owed(schedule, now_ms)
    except Exception as error:  # the other schedules, and all jobs, go on
        _stop(tx, runtime, schedule, error)
        return
    slots = [at for at in map(timestamp, owed.slots) if not schedules.has_slot(tx, schedule.id, at)]
    made = [at for at in slots if _make(tx, runtime, schedule, at)]
    overlapped = len(slots) - len(made)
    schedules.advance(
        tx,
        schedule.seq,
        next_at=None if owed.next_ms is None else timestamp(owed.next_ms),
        last_at=made[-1] if made else None,
        made=len(made),
        skipped=owed.skipped + overlapped,
    )
    for reason, count in (("missed", owed.skipped), ("overlap", overlapped)):
        if count:
            _tell(tx, runtime, schedule, State.SUPERSEDED, reason, {"slots": count})


def _owed(schedule: Schedule, now_ms: int) -> timetable.Due:
    return timetable.due(
        table(schedule),
        next_ms=parse_timestamp(schedule.next_at or ""),
        now_ms=now_ms,
        missed=Missed(schedule.missed),
        most=schedule.missed_most,
    )


def _stop(tx: sqlite3.Connection, runtime: Runtime, schedule: Schedule, error: Exception) -> None:
    if not isinstance(error, HearthError):
        from hearth.crash import internal

        error = internal(runtime.data_dir, error)
    runtime.log.warning(f"the schedule {schedule.name} makes no jobs any more: {error.message}")
    schedules.stop(tx, schedule.seq, error.message)
    _tell(tx, runtime, schedule, State.FAILED, error.code, {})


def _make(tx: sqlite3.Connection, runtime: Runtime, schedule: Schedule, slot_at: str) -> bool:
    """Make the job of a slot; false when one before has not ended, and it is not to wait for that."""
    before = schedules.unfinished(tx, schedule.id, UNFINISHED_MOST)
    if before and (schedule.overlap == Overlap.SKIP or len(before) == UNFINISHED_MOST):
        return False
    now_ms = runtime.clock.now_ms()
    job = Job(
        **json.loads(schedule.job),
        id=identifiers.new("job", now_ms),
        state=JobState.WAITING if before else JobState.QUEUED,
        created_at=timestamp(now_ms),
        due_at=slot_at,
        environment=schedule.environment,
        conversation=schedule.conversation,
        schedule=schedule.id,
        slot_at=slot_at,
        unmet=len(before),
        queued_at=None if before else timestamp(now_ms),
    )
    # On all of them: if one in the middle is cancelled, the one before may still run.
    waits_for = [Dependency(id_, Condition.FINISHED, met=False) for id_ in before]
    jobs.insert(tx, job, labels=json.loads(schedule.labels), dependencies=waits_for)
    _tell(tx, runtime, schedule, State.PENDING, None, {"job": job.id, "slot_at": slot_at})
    return True


def _tell(
    tx: sqlite3.Connection,
    runtime: Runtime,
    schedule: Schedule,
    state: State,
    reason: str | None,
    data: dict[str, str | int],
) -> None:
    """Store the event of a slot."""
    made_by = json.loads(schedule.job)
    row: events.Row = {
        "at": runtime.now(),
        "operation": OPERATION,
        "entity": schedule.id,
        "caller": made_by["caller"],
        "run": made_by["run"],
        "conversation": schedule.conversation,
        "state": state.value,
        "error": reason,
        "duration_ms": 0,
        "data": json.dumps(data),
    }
    events.insert(tx, [row])


def plan_anew(runtime: Runtime) -> None:
    """After the clock may have been put back: let no schedule wait for a slot of a time that is far ahead. Raises
    `DatabaseError`."""
    now_ms = runtime.clock.now_ms()
    with runtime.store.read() as view:
        waiting = [each for some in schedules.planned_after(view, timestamp(now_ms), AT_ONCE) for each in some]
    moved = [(each, planned) for each in waiting if (planned := _planned(each, now_ms)) != each.next_at]
    if moved:
        with runtime.store.write() as tx:
            for each, planned in moved:
                schedules.plan(tx, each.seq, each.next_at or "", planned)


def _planned(schedule: Schedule, now_ms: int) -> str | None:
    try:
        owed = _owed(schedule, now_ms)
    except Exception:  # is told when the slot comes
        return schedule.next_at
    return None if owed.next_ms is None else timestamp(owed.next_ms)
