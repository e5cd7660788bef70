"""task.prune: forget jobs that ended, and what they left."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from hearth.clock import timestamp
from hearth.errors import Conflict, invalid
from hearth.model import Cli, Ge, Help, Le, Len, State, model
from hearth.runtime import Runtime
from hearth.services.task.entry import Ids, conversation_of
from hearth.services.task.job_input import LONGEST_MS, Name
from hearth.services.task.selection import JobFailure, named
from hearth.store import job_removal
from hearth.store.job_removal import FIRST, Old, Which
from hearth.store.jobs import FINAL, JobState
from hearth.store.retention import STEP, Retention


@model
class PruneJobs:
    ids: Ids = ()
    states: Annotated[
        tuple[JobState, ...], Cli(names=("--job-state",)), Len(0, 7), Help("Or those that ended so, such as completed.")
    ] = ()
    group: Annotated[Name | None, Help("Or those of this group.")] = None
    older_than_ms: Annotated[int | None, Ge(0), Le(LONGEST_MS), Help("Or those that ended so long ago.")] = None
    keep: Annotated[int | None, Ge(0), Le(100_000_000), Help("But the newest so many of those that are meant.")] = None
    all: Annotated[bool, Help("Or every job that has ended.")] = False
    dry_run: Annotated[bool, Help("Only tell how many would go.")] = False


@model
class JobsPruned:
    state: State = State.COMPLETED
    dry_run: Annotated[bool, Help("Whether nothing was removed.")]
    pruned: Annotated[int, Help("Jobs that are gone, or would go.")]
    bytes: Annotated[int, Help("Bytes of their artifacts; a body that others share counts, too, and stays.")]
    errors: Annotated[tuple[JobFailure, ...], Help("Those that were named and are not there, or have not ended.")] = ()


def prune(runtime: Runtime, given: PruneJobs) -> JobsPruned:
    """Remove jobs that ended, with their runs, logs and artifacts; what is pinned stays. Dependents were settled when
    they ended. An idempotency key of theirs makes a new job from then on. Everything goes in small steps. Raises
    `InvalidInput`, and, about the only job that was named, `NotFound` or `Conflict`."""
    rules = Retention(runtime.host, runtime.store, runtime.data_dir, runtime.settings.retention, runtime.clock.now_ms())
    if given.ids:
        return _prune_named(runtime, given, rules)
    which, number = _chosen(runtime, given)
    with runtime.store.read() as view:
        count, size = job_removal.size(view, which, number)
    if not given.dry_run:
        count = sum(rules.forget_jobs(step).rows for step in _steps(runtime, which, number))
    return JobsPruned(dry_run=given.dry_run, pruned=count, bytes=size)


def _chosen(runtime: Runtime, given: PruneJobs) -> tuple[Which, int]:
    """Which jobs are meant, and how many of them, the oldest first, may go."""
    _check(given)
    before = "~" if given.older_than_ms is None else timestamp(runtime.clock.now_ms() - given.older_than_ms)
    which = Which(before, given.states, given.group, conversation_of(runtime))
    with runtime.store.read() as view:
        return which, max(0, job_removal.count(view, which) - (given.keep or 0))


def _check(given: PruneJobs) -> None:
    if not (given.states or given.group or given.all or given.older_than_ms is not None or given.keep is not None):
        raise invalid("ids", "not_one_of", "say which jobs: ids, states, a group, older_than_ms, keep, or all")
    if unfinished := [state for state in given.states if state not in FINAL]:
        raise invalid("states", "not_one_of", f"{unfinished[0]} is no end: only jobs that ended can go")


def _steps(runtime: Runtime, which: Which, number: int) -> Iterator[list[Old]]:
    after = FIRST
    while number > 0:
        with runtime.store.read() as view:
            found = job_removal.oldest(view, which, min(STEP, number), after=after)
        if not found:
            return
        yield found
        after, number = found[-1], number - len(found)


def _prune_named(runtime: Runtime, given: PruneJobs, rules: Retention) -> JobsPruned:
    if given.states or given.group or given.all or given.older_than_ms is not None or given.keep is not None:
        raise invalid("ids", "not_both", "ids say exactly which jobs; nothing else does then")
    with runtime.store.read() as view:
        found, errors, _ = named(runtime, view, given.ids)
        ended = [job for job in found if job.ended_at is not None]
        size = sum(job_removal.bytes_of(view, job.seq) for job in ended)
    unfinished = [
        Conflict(f"{job.id} is {job.state}, and has not ended", id=job.id) for job in found if job.ended_at is None
    ]
    if len(given.ids) == 1 and unfinished:
        raise unfinished[0]
    errors += tuple(JobFailure.of(str(error.details["id"]), error) for error in unfinished)
    count = len(ended)
    if not given.dry_run:
        count = rules.forget_jobs([Old(job.seq, job.id, job.attempt, job.ended_at or "") for job in ended]).rows
    return JobsPruned(
        state=State.PARTIAL if errors else State.COMPLETED,
        dry_run=given.dry_run,
        pruned=count,
        bytes=size,
        errors=errors,
    )
