"""task.schedules: which schedules there are."""

from __future__ import annotations

from typing import Annotated

from hearth.model import Cli, Ge, Help, Items, Le, Len, State, model
from hearth.runtime import Runtime
from hearth.services.task.entry import conversation_of
from hearth.services.task.schedule_entry import ScheduleEntry, ScheduleFailure, each, entry
from hearth.services.task.staff import Worker, present
from hearth.store import schedules


@model
class ListSchedules:
    names: Annotated[
        tuple[Annotated[str, Len(1, 100)], ...],
        Len(0, 1_000),
        Cli(argument=True, completes="schedule", metavar="NAME"),
        Help("Only these; without names all."),
    ] = ()
    limit: Annotated[int, Ge(1), Le(1_000), Cli(names=("-n",)), Help("Most schedules in an answer.")] = 200
    cursor: Annotated[str | None, Len(1, 100), Help("Go on after an earlier answer's `next_cursor`.")] = None


@model
class ScheduleList:
    state: Annotated[State, Help("Partial: there are more, or some could not be had.")] = State.COMPLETED
    schedules: Annotated[
        tuple[ScheduleEntry, ...],
        Items(columns=("name", "enabled", "cron", "every_ms", "next_at", "last_at", "last_state", "title", "problem")),
        Help("Schedules, by name."),
    ]
    worker: Annotated[Worker, Help("Who runs their jobs; without a worker none is made.")]
    next_cursor: Annotated[str | None, Help("Where to go on; null at the end.")] = None
    errors: Annotated[tuple[ScheduleFailure, ...], Help("Those that could not be had.")] = ()


def list_schedules(runtime: Runtime, given: ListSchedules) -> ScheduleList:
    """Raises `NotFound` for the only one that was named."""
    more = False
    errors: tuple[ScheduleFailure, ...] = ()
    with runtime.store.read() as view:
        if given.names:
            found, errors = each(runtime, view, given.names, lambda one: entry(view, one))
        else:
            own = conversation_of(runtime)
            page = schedules.page(view, after=given.cursor or "", most=given.limit + 1, conversation=own)
            more, found = len(page) > given.limit, tuple(entry(view, one) for one in page[: given.limit])
    return ScheduleList(
        state=State.PARTIAL if errors or more else State.COMPLETED,
        schedules=found,
        worker=present(runtime, told=any(one.next_at for one in found)),
        next_cursor=found[-1].name if more else None,
        errors=errors,
    )
