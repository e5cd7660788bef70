"""What is told about a schedule, and how operations are given one."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from typing import Annotated

from hearth import conversations
from hearth.engine.recurring import Overlap
from hearth.engine.timetable import Missed
from hearth.errors import HearthError, NotFound, invalid
from hearth.model import Cli, Help, Len, model
from hearth.runtime import Caller, Runtime
from hearth.store import schedules
from hearth.store.jobs import JobState
from hearth.store.schedules import Schedule

Named = Annotated[
    tuple[Annotated[str, Len(1, 100)], ...],
    Len(1, 1_000),
    Cli(argument=True, completes="schedule", metavar="NAME"),
    Help("Names or ids of schedules; at the shell also the beginnings of ids."),
]


@model
class ScheduleEntry:
    """What makes a job again and again."""

    id: Annotated[str, Help("By which its jobs name it.")]
    name: Annotated[str, Help("What the other operations take.")]
    enabled: Annotated[bool, Help("Whether it makes jobs.")]
    cron: Annotated[str | None, Help("Its times by the clock.")]
    every_ms: Annotated[int | None, Help("Or the time from slot to slot.")]
    zone: Annotated[str, Help("The time zone of that clock.")]
    next_at: Annotated[str | None, Help("The slot for which it makes the next job.")]
    last_at: Annotated[str | None, Help("The slot for which it made the last one.")]
    last_job: Annotated[str | None, Help("The job of its newest slot.")]
    last_state: Annotated[JobState | None, Help("Where that job stands.")]
    made: Annotated[int, Help("How many jobs it has made.")]
    skipped: Annotated[int, Help("How many slots were missed, or came while a job had not ended.")]
    missed: Annotated[Missed, Help("What becomes of slots that no worker was there for.")]
    missed_most: Annotated[int, Help("With `all`: of how many of them jobs are made.")]
    overlap: Annotated[Overlap, Help("What becomes of slots while a job has not ended.")]
    title: Annotated[str, Help("Its command, secrets taken out.")]
    group: Annotated[str, Help("The group of its jobs.")]
    priority: Annotated[int, Help("The priority of its jobs.")]
    labels: Annotated[tuple[str, ...], Help("The labels of its jobs.")]
    created_at: Annotated[str, Help("When it was made.")]
    problem: Annotated[str | None, Help("Why it makes no jobs although it is enabled.")]


@model
class ScheduleFailure:
    """A schedule that could not be had."""

    name: Annotated[str, Help("As it was asked for.")]
    code: Annotated[str, Help("The error's code.")]
    message: Annotated[str, Help("What went wrong.")]


_SAME = (
    "id", "name", "enabled", "cron", "every_ms", "zone", "next_at", "last_at", "made", "skipped", "missed_most",
    "created_at", "problem",
)  # fmt: skip


def entry(view: sqlite3.Connection, schedule: Schedule) -> ScheduleEntry:
    job = json.loads(schedule.job)
    newest = schedules.newest_job(view, schedule.id)
    return ScheduleEntry(
        **{name: getattr(schedule, name) for name in _SAME},
        last_job=newest[0] if newest else None,
        last_state=JobState(newest[1]) if newest else None,
        missed=Missed(schedule.missed),
        overlap=Overlap(schedule.overlap),
        title=job["title"],
        group=job["group_name"],
        priority=job["priority"],
        labels=tuple(json.loads(schedule.labels)),
    )


def visible(runtime: Runtime, schedule: Schedule | None) -> Schedule | None:
    """The schedule, unless it is another conversation's."""
    return schedule if schedule is not None and conversations.sees(runtime, schedule.conversation) else None


def find(runtime: Runtime, view: sqlite3.Connection, word: str, field: str = "name") -> Schedule:
    """The schedule of that name or id, or at the shell the only one whose id starts so. Raises `NotFound`,
    `InvalidInput`."""
    found = visible(runtime, schedules.find(view, word))
    candidates = [found] if found else []
    if not candidates and runtime.caller is Caller.SHELL and word.startswith("sch_"):
        candidates = schedules.starting_with(view, word)
    if len(candidates) > 1:
        raise invalid(field, "ambiguous", f"{word} begins several ids, such as {candidates[0].id}")
    if not candidates:
        raise NotFound(f"there is no schedule {word}", hint="`hearth task schedules` shows what there is", name=word)
    return candidates[0]


def each(
    runtime: Runtime,
    view: sqlite3.Connection,
    words: Sequence[str],
    act: Callable[[Schedule], ScheduleEntry],
) -> tuple[tuple[ScheduleEntry, ...], tuple[ScheduleFailure, ...]]:
    """What `act` makes of those that were named, and those that could not be had. Raises the only one's error."""
    done: list[ScheduleEntry] = []
    errors: list[ScheduleFailure] = []
    for word in dict.fromkeys(words):
        try:
            done.append(act(find(runtime, view, word)))
        except HearthError as error:
            if len(words) == 1:
                raise
            errors.append(ScheduleFailure(name=word, code=error.code, message=error.message))
    return tuple(done), tuple(errors)
