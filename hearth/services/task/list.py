"""task.list: which jobs there are."""

from __future__ import annotations

import sqlite3
from typing import Annotated

from hearth.errors import invalid
from hearth.model import Cli, Ge, Help, Items, Le, Len, State, model
from hearth.paging import sequence, time_bound
from hearth.runtime import Runtime
from hearth.services.task import future_entry
from hearth.services.task.entry import JobEntry, conversation_of, entries
from hearth.services.task.future_entry import FutureEntry
from hearth.services.task.job_input import Name
from hearth.store import futures, job_pages
from hearth.store.jobs import UNFINISHED, JobState

NEWEST = 1 << 62
MOST_FUTURES = 50


@model
class ListJobs:
    states: Annotated[
        tuple[JobState, ...],
        Cli(names=("--job-state",)),
        Len(0, 11),
        Help("Only those that stand so."),
    ] = ()
    unfinished: Annotated[bool, Help("Only those that have not ended.")] = False
    group: Annotated[Name | None, Help("Only those of this group.")] = None
    labels: Annotated[
        tuple[Name, ...], Cli(names=("--label",)), Len(0, 32), Help("Only with all of these labels.")
    ] = ()
    text: Annotated[
        str | None, Len(1, 200), Help("Only those whose command holds this; a to z are A to Z as well.")
    ] = None
    since: Annotated[str | None, Len(1, 64), Help("Submitted not before this time: ISO 8601 with Z or an offset.")] = (
        None
    )
    until: Annotated[str | None, Len(1, 64), Help("Submitted not after this time.")] = None
    schedule: Annotated[
        str | None, Len(1, 100), Cli(completes="schedule"), Help("Only those that this schedule made: its name or id.")
    ] = None
    limit: Annotated[int, Ge(1), Le(1_000), Cli(names=("-n",)), Help("Most jobs in an answer.")] = 50
    cursor: Annotated[str | None, Len(1, 40), Help("Go on after an earlier answer's `next_cursor`.")] = None


@model
class JobList:
    state: Annotated[State, Help("Partial: there are more.")] = State.COMPLETED
    jobs: Annotated[
        tuple[JobEntry, ...],
        Items(columns=("id", "state", "title", "group", "started_at", "ran_ms", "exit_code")),
        Help("Jobs, the newest first."),
    ]
    futures: Annotated[
        tuple[FutureEntry, ...],
        Help("Calls over MCP that were answered pending, the newest first; on the first page of all jobs."),
    ] = ()
    next_cursor: Annotated[str | None, Help("Where to go on; null at the end.")] = None


def list_jobs(runtime: Runtime, given: ListJobs) -> JobList:
    """Raises `InvalidInput` for a time or cursor that is none, and for states that exclude each other."""
    with runtime.store.read() as view:
        found = job_pages.page(
            view,
            before=sequence(given.cursor),
            limit=given.limit + 1,
            states=_states(given),
            group=given.group,
            labels=given.labels,
            text=given.text or "",
            since=time_bound("since", given.since, ""),
            until=time_bound("until", given.until, "~"),
            schedule=_schedule(view, given.schedule),
            conversation=conversation_of(runtime),
        )
        shown = found[: given.limit]
        more = len(found) > given.limit
        return JobList(
            state=State.PARTIAL if more else State.COMPLETED,
            jobs=entries(view, shown),
            futures=_futures(runtime, view, given),
            next_cursor=str(shown[-1].seq) if more else None,
        )


def _futures(runtime: Runtime, view: sqlite3.Connection, given: ListJobs) -> tuple[FutureEntry, ...]:
    only_jobs = (given.states, given.group, given.labels, given.text, given.since, given.until, given.schedule)
    if given.cursor or any(only_jobs):
        return ()
    found = futures.page(
        view,
        before=NEWEST,
        most=min(given.limit, MOST_FUTURES),
        unfinished=given.unfinished,
        conversation=conversation_of(runtime),
    )
    return tuple(future_entry.entry(each, with_result=False) for each in found)


def _states(given: ListJobs) -> tuple[JobState, ...]:
    if given.unfinished and given.states:
        raise invalid("unfinished", "not_both", "states and unfinished exclude each other")
    return UNFINISHED if given.unfinished else given.states


def _schedule(view: sqlite3.Connection, word: str | None) -> str | None:
    """The id. Jobs outlive their schedule, whose id then stands for itself."""
    if word is None:
        return None
    from hearth.store import schedules

    found = schedules.find(view, word)
    return found.id if found else word
