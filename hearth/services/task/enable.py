"""task.enable and task.disable: whether schedules make jobs."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from typing import Annotated

from hearth.engine import recurring
from hearth.model import Help, Items, State, model
from hearth.runtime import Runtime
from hearth.services.task.schedule_entry import Named, ScheduleEntry, ScheduleFailure, each, entry
from hearth.services.task.staff import Worker, present, see_to
from hearth.store import schedules
from hearth.store.schedules import Schedule


@model
class EnableSchedules:
    names: Named
    start: Annotated[bool, Help("Start a worker in the background if there is none.")] = True


@model
class DisableSchedules:
    names: Named


@model
class SchedulesSwitched:
    state: State = State.COMPLETED
    schedules: Annotated[
        tuple[ScheduleEntry, ...], Items(columns=("name", "enabled", "next_at", "title")), Help("As they are now.")
    ]
    worker: Annotated[Worker, Help("Who runs their jobs.")]
    errors: Annotated[tuple[ScheduleFailure, ...], Help("Those that could not be had.")] = ()


def enable(runtime: Runtime, given: EnableSchedules) -> SchedulesSwitched:
    """Let schedules make jobs again, from now on: slots of the time between are not missed. One that is enabled stays
    as it is. Those that cannot be had are told in `errors`; raises `NotFound` or `InvalidInput` for the only one."""
    with runtime.store.write(durable=True) as tx:
        found, errors = each(runtime, tx, given.names, lambda one: _enable(tx, runtime, one))
    return SchedulesSwitched(
        state=State.PARTIAL if errors else State.COMPLETED,
        schedules=found,
        worker=see_to(runtime, start=given.start),
        errors=errors,
    )


def disable(runtime: Runtime, given: DisableSchedules) -> SchedulesSwitched:
    """Let schedules make no more jobs; those that were made go on. Those that do not exist are told in `errors`;
    raises `NotFound` when it is the only one."""
    with runtime.store.write(durable=True) as tx:
        found, errors = each(runtime, tx, given.names, lambda one: _switch(tx, one, enabled=False, next_at=None))
    runtime.host.ring(runtime.bells)
    return SchedulesSwitched(
        state=State.PARTIAL if errors else State.COMPLETED,
        schedules=found,
        worker=present(runtime, told=False),
        errors=errors,
    )


def _enable(tx: sqlite3.Connection, runtime: Runtime, schedule: Schedule) -> ScheduleEntry:
    if schedule.enabled and schedule.problem is None:
        return entry(tx, schedule)
    first = recurring.slot_after(recurring.table(schedule), runtime.clock.now_ms())
    return _switch(tx, schedule, enabled=True, next_at=first)


def _switch(tx: sqlite3.Connection, schedule: Schedule, *, enabled: bool, next_at: str | None) -> ScheduleEntry:
    schedules.enable(tx, schedule.seq, enabled=enabled, next_at=next_at)
    return entry(tx, replace(schedule, enabled=enabled, next_at=next_at, problem=None))
