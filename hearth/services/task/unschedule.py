"""task.unschedule: forget schedules."""

from __future__ import annotations

import sqlite3
from typing import Annotated

from hearth.model import Help, Items, State, model
from hearth.runtime import Runtime
from hearth.services.task.schedule_entry import Named, ScheduleEntry, ScheduleFailure, each, entry
from hearth.store import schedules
from hearth.store.schedules import Schedule


@model
class Unschedule:
    names: Named


@model
class Unscheduled:
    state: State = State.COMPLETED
    schedules: Annotated[
        tuple[ScheduleEntry, ...], Items(columns=("name", "made", "skipped", "title")), Help("As they were.")
    ]
    errors: Annotated[tuple[ScheduleFailure, ...], Help("Those that could not be had.")] = ()


def unschedule(runtime: Runtime, given: Unschedule) -> Unscheduled:
    """Jobs that were made stay, also those that have not run yet. Those that do not exist are told in `errors`;
    raises `NotFound` when it is the only one."""
    with runtime.store.write(durable=True) as tx:
        found, errors = each(runtime, tx, given.names, lambda one: _forget(tx, one))
    runtime.host.ring(runtime.bells)
    return Unscheduled(state=State.PARTIAL if errors else State.COMPLETED, schedules=found, errors=errors)


def _forget(tx: sqlite3.Connection, schedule: Schedule) -> ScheduleEntry:
    was = entry(tx, schedule)
    schedules.delete(tx, schedule.seq)
    return was
