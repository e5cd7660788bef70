"""task.schedule: run a program again and again."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from typing import Annotated

from hearth import identifiers
from hearth.clock import timestamp
from hearth.engine import recurring
from hearth.engine.recurring import Overlap
from hearth.engine.timetable import Missed
from hearth.errors import AlreadyExists, InvalidInput, Problem, invalid
from hearth.model import Cli, Ge, Help, Le, State, model
from hearth.runtime import Runtime
from hearth.services.task import when
from hearth.services.task.accept import Prepared, Surroundings, prepare, title_of
from hearth.services.task.job_input import Command, JobFields, Name, ProgramFields, Words
from hearth.services.task.names import refuse_secrets
from hearth.services.task.schedule_entry import ScheduleEntry, entry, visible
from hearth.services.task.staff import Worker, see_to
from hearth.store import jobs, schedules
from hearth.store.schedules import Schedule

MISSED_MOST = 10


@model
class ScheduleJob(ProgramFields):
    name: Annotated[Name, Cli(argument=True, completes="schedule"), Help("The name of the schedule.")]
    command: Command
    args: Words = ()
    cron: when.Cron = None
    every_ms: when.Every = None
    zone: when.Zone = None
    missed: Annotated[
        Missed,
        Help("What becomes of slots that no worker was there for: nothing, one job for the newest, or one for each."),
    ] = Missed.ONCE
    missed_most: Annotated[
        int | None, Ge(1), Le(100), Help(f"With `all`: at most so many of the newest; {MISSED_MOST} by default.")
    ] = None
    overlap: Annotated[
        Overlap | None,
        Help(
            "What becomes of a slot while a job has not ended: skip it, or queue a job behind that. By default skip; "
            "with `--missed all` queue."
        ),
    ] = None
    replace: Annotated[bool, Help("Change the schedule of that name, which keeps its id and its counts.")] = False
    start: Annotated[bool, Help("Start a worker in the background if there is none.")] = True


@model
class JobScheduled:
    state: State = State.COMPLETED
    schedule: Annotated[ScheduleEntry, Help("The schedule as it is now.")]
    replaced: Annotated[bool, Help("Whether one of that name was changed.")]
    worker: Annotated[Worker, Help("Who will run its jobs.")]


def schedule(runtime: Runtime, given: ScheduleJob) -> JobScheduled:
    """Make a job for each slot from now on; the first one is in the future. Directory and variables are those of now.
    Raises `InvalidInput`, `AlreadyExists`, `SecretRefused`, and what `containment.locate` raises about a `cwd`."""
    _check(given)
    shared = {name: getattr(given, name) for name in ("command", "args", *ProgramFields.__dataclass_fields__)}
    prepared = prepare(Surroundings(runtime), JobFields(**shared))
    zone = when.zone_of(runtime, given.zone)
    with runtime.store.write(durable=True) as tx:
        known = schedules.find(tx, given.name)
        if known is not None and not (given.replace and visible(runtime, known)):
            raise AlreadyExists(
                f"there is a schedule {given.name} already",
                hint="pass --replace (replace: true) to change it",
                name=given.name,
            )
        wanted = _wanted(tx, runtime, given, prepared, zone)
        if known is None:
            schedules.insert(tx, wanted)
        else:
            schedules.replace(tx, _changed(known, wanted))
        made = entry(tx, schedules.find(tx, given.name) or wanted)
    worker = see_to(runtime, start=given.start, groups=[given.group])
    return JobScheduled(schedule=made, replaced=known is not None, worker=worker)


def _check(given: ScheduleJob) -> None:
    when.check(given.cron, given.every_ms)
    refuse_secrets(name=given.name)
    problems = []
    if given.name.startswith("sch_"):
        problems.append(Problem("name", "wrong_form", "what begins with sch_ is an id"))
    if given.missed_most is not None and given.missed is not Missed.ALL:
        problems.append(Problem("missed_most", "not_alone", "is only for missed all"))
    if given.missed is Missed.ALL and given.overlap is Overlap.SKIP:
        # They are made at one moment, so that all but the first would be skipped.
        problems.append(Problem("overlap", "not_both", "skip would leave one of all that were missed; queue them"))
    if problems:
        raise InvalidInput(*problems)


def _wanted(tx: sqlite3.Connection, runtime: Runtime, given: ScheduleJob, prepared: Prepared, zone: str) -> Schedule:
    """The row of a new schedule. One moment is both the anchor and what the first slot comes after."""
    now_ms = runtime.clock.now_ms()
    now = timestamp(now_ms)
    first = recurring.slot_after(recurring.table_of(given.cron, given.every_ms, zone, now_ms), now_ms)
    if first is None:
        raise invalid("cron", "never", "has no time in the years to come")
    usual = Overlap.QUEUE if given.missed is Missed.ALL else Overlap.SKIP
    return Schedule(
        id=identifiers.new("sch", now_ms),
        name=given.name,
        created_at=now,
        enabled=True,
        cron=given.cron,
        every_ms=given.every_ms,
        zone=zone,
        missed=given.missed,
        missed_most=given.missed_most or MISSED_MOST,
        overlap=given.overlap or usual,
        job=_columns(runtime, prepared),
        environment=jobs.environment(tx, prepared.variables),
        conversation=runtime.conversation,
        labels=json.dumps(given.labels),
        anchor_at=now,
        next_at=first,
    )


def _columns(runtime: Runtime, prepared: Prepared) -> str:
    """What is the same in all jobs of a schedule, as the columns of their rows."""
    return json.dumps(
        {
            "priority": prepared.asked.priority,
            "group_name": prepared.asked.group,
            "title": title_of(prepared.spec),
            "spec": prepared.spec.to_json(),
            "merged": prepared.spec.merge,
            "caller": runtime.caller.value,
            "run": runtime.group,
        }
    )


def _changed(known: Schedule, wanted: Schedule) -> Schedule:
    """The known schedule, doing what is wanted. With the same times it goes on as planned: an interval whose schedule
    is stored again and again, as by a script, would never end otherwise."""
    same = _times(known) == _times(wanted)
    next_at = (same and known.next_at) or wanted.next_at
    return replace(
        wanted,
        seq=known.seq,
        anchor_at=known.anchor_at if same else wanted.anchor_at,
        next_at=next_at if known.enabled else None,
    )


def _times(schedule: Schedule) -> tuple[str | int | None, ...]:
    return schedule.every_ms, schedule.cron, schedule.zone if schedule.cron else None
