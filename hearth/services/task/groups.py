"""Groups of jobs: how many of each may run at once."""

from __future__ import annotations

import sqlite3
from typing import Annotated

from hearth.engine import presence
from hearth.errors import invalid
from hearth.model import Cli, Ge, Help, Items, Le, Len, State, model
from hearth.runtime import Runtime
from hearth.services.task.job_input import Name
from hearth.services.task.names import refuse_secrets
from hearth.store import job_groups

GroupName = Annotated[Name, Cli(argument=True, completes="group"), Help("The group.")]


@model
class ListGroups:
    limit: Annotated[int, Ge(1), Le(1_000), Cli(names=("-n",)), Help("Most groups in an answer.")] = 200
    cursor: Annotated[str | None, Len(1, 100), Help("Go on after an earlier answer's `next_cursor`.")] = None


@model
class GroupEntry:
    """A group."""

    name: Annotated[str, Help("What jobs are submitted to.")]
    parallel: Annotated[int, Help("How many of its jobs run at once.")]
    own_parallel: Annotated[int | None, Help("The same where it is the group's own; null: worker.parallel.")]
    paused: Annotated[bool, Help("Whether none of its jobs is started.")]
    queued: Annotated[int, Help("Jobs that could start.")]
    running: Annotated[int, Help("Jobs that run.")]


@model
class GroupList:
    state: Annotated[State, Help("Partial: there are more.")] = State.COMPLETED
    groups: Annotated[
        tuple[GroupEntry, ...],
        Items(columns=("name", "parallel", "paused", "queued", "running")),
        Help("Groups that have jobs, a limit of their own, or are paused, by name."),
    ]
    next_cursor: Annotated[str | None, Help("Where to go on; null at the end.")] = None


def list_groups(runtime: Runtime, given: ListGroups) -> GroupList:
    """Groups that never had a job of those that are kept, and are as usual, are not listed. Raises `DatabaseError`."""
    with runtime.store.read() as view:
        found = job_groups.groups(view, after=given.cursor or "", most=given.limit + 1)
    shown = found[: given.limit]
    more = len(found) > given.limit
    return GroupList(
        state=State.PARTIAL if more else State.COMPLETED,
        groups=tuple(_entry(runtime, each) for each in shown),
        next_cursor=shown[-1].name if more else None,
    )


@model
class LimitGroup:
    name: GroupName
    parallel: Annotated[
        int | None, Ge(1), Le(10_000), Help("Run so many of its jobs at once; 1 runs them in order.")
    ] = None
    default: Annotated[bool, Help("Take its own limit away: worker.parallel counts again.")] = False


@model
class GroupLimited:
    state: State = State.COMPLETED
    group: Annotated[GroupEntry, Help("The group as it is now.")]


def limit_group(runtime: Runtime, given: LimitGroup) -> GroupLimited:
    """What runs goes on, whatever the limit. To start nothing is to pause the group. Raises `InvalidInput`,
    `SecretRefused`."""
    if (given.parallel is None) is not given.default:
        raise invalid("parallel", "not_one_of", "give either parallel or default; `pause` lets nothing start")
    refuse_secrets(name=given.name)
    with runtime.store.write() as tx:
        job_groups.set_group(tx, given.name, parallel=given.parallel, keep_parallel=False)
        found = entry(runtime, tx, given.name)
    wake(runtime, [found])
    return GroupLimited(group=found)


def entry(runtime: Runtime, view: sqlite3.Connection, name: str) -> GroupEntry:
    return _entry(runtime, job_groups.group(view, name))


def _entry(runtime: Runtime, group: job_groups.Group) -> GroupEntry:
    return GroupEntry(
        name=group.name,
        parallel=group.parallel or presence.usual_parallel(runtime),
        own_parallel=group.parallel,
        paused=group.paused,
        queued=group.queued,
        running=group.running,
    )


def wake(runtime: Runtime, changed: list[GroupEntry]) -> None:
    """Let the workers look at groups of which more may start now."""
    if any(group.queued and not group.paused for group in changed):
        presence.ensure_worker(runtime)
