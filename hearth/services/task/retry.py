"""task.retry: run finished jobs once more, each as a new job."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Annotated

from hearth import identifiers
from hearth.engine.moves import add
from hearth.errors import Conflict, HearthError, invalid
from hearth.model import Cli, Help, Items, Len, State, model
from hearth.runtime import Runtime
from hearth.services.task.dependencies import Resolved, broken_by
from hearth.services.task.entry import Ids, conversation_of, visible
from hearth.services.task.job_input import Name
from hearth.services.task.selection import NEWEST, JobFailure, named
from hearth.services.task.staff import Worker, present, see_to
from hearth.store import job_pages, jobs
from hearth.store.jobs import FINAL, Dependency, Job, JobState

FAILED = (JobState.FAILED, JobState.TIMED_OUT, JobState.LOST)
MOST = 1_000


@model
class RetryJobs:
    ids: Ids = ()
    all_failed: Annotated[
        bool, Help("Or the newest 1,000 that failed, timed out or were lost, and were not retried yet.")
    ] = False
    group: Annotated[Name | None, Help("With all_failed: only those of this group.")] = None
    labels: Annotated[
        tuple[Name, ...], Cli(names=("--label",)), Len(0, 32), Help("With all_failed: only those with all of these.")
    ] = ()
    dependents: Annotated[
        bool, Help("Also those that were blocked by them, and by these in turn; the new ones wait for the new ones.")
    ] = False
    start: Annotated[bool, Help("Start a worker in the background if there is none.")] = True


@model
class JobRetried:
    """A new job that repeats another one."""

    id: Annotated[str, Help("The new job.")]
    retry_of: Annotated[str, Help("The one that it repeats.")]
    state: Annotated[JobState, Help("Where it stands.")]
    title: Annotated[str, Help("Its command, secrets taken out.")]


@model
class JobsRetried:
    state: Annotated[State, Help("Pending: there are new jobs.")] = State.COMPLETED
    jobs: Annotated[tuple[JobRetried, ...], Items(columns=("id", "retry_of", "state", "title")), Help("The new jobs.")]
    errors: Annotated[tuple[JobFailure, ...], Help("Those that were not retried.")] = ()
    worker: Annotated[Worker, Help("Who will run them.")]


def retry(runtime: Runtime, given: RetryJobs) -> JobsRetried:
    """Submit finished jobs anew: the same program, environment, group, labels and priority, now. A job that had been
    blocked waits for the same jobs again, or for the newest retries of these; others wait for nothing, since they were
    allowed to start. What waited for the old job is settled for good. Raises `NotFound` or `Conflict` when the only
    one is not there or has not ended, and `InvalidInput`."""
    if bool(given.ids) is given.all_failed:
        raise invalid("ids", "not_one_of", "give either ids or all_failed")
    if given.ids and (given.group or given.labels):
        raise invalid("group", "not_both", "a group and labels go with all_failed, not with ids")
    with runtime.store.write(durable=True) as tx:
        old, errors = _chosen(tx, runtime, given)
        if given.dependents:
            old += _blocked_by(tx, runtime, old)
        new = {job.id: identifiers.new("job", runtime.clock.now_ms()) for job in old}
        for job in old:
            _insert(tx, runtime, job, new)
        made = tuple(_retried(tx, job.id, id_) for job, id_ in zip(old, new.values(), strict=True))
    state = State.PARTIAL if errors else State.PENDING if made else State.COMPLETED
    groups = {job.group_name for job in old}
    worker = see_to(runtime, start=given.start, groups=groups) if made else present(runtime, told=False)
    return JobsRetried(state=state, jobs=made, errors=errors, worker=worker)


def _chosen(tx: sqlite3.Connection, runtime: Runtime, given: RetryJobs) -> tuple[list[Job], tuple[JobFailure, ...]]:
    if given.all_failed:
        chosen = {"group": given.group, "labels": given.labels, "conversation": conversation_of(runtime)}
        found = job_pages.page(tx, before=NEWEST, limit=MOST, states=FAILED, **chosen)  # type: ignore[arg-type]
        return [job for job in reversed(found) if job.retried_by is None], ()
    selection = named(runtime, tx, given.ids)
    errors: list[HearthError] = [
        Conflict(f"{job.id} has not ended, it is {job.state}", id=job.id)
        for job in selection.jobs
        if job.state not in FINAL
    ]
    if errors and len(given.ids) == 1:
        raise errors[0]
    failures = tuple(JobFailure.of(error.details["id"], error) for error in errors)
    return [job for job in selection.jobs if job.state in FINAL], (*selection.errors, *failures)


def _blocked_by(tx: sqlite3.Connection, runtime: Runtime, old: Sequence[Job]) -> list[Job]:
    """The jobs that never started because of these, and because of those in turn."""
    seen = {job.seq for job in old}
    found: list[Job] = []
    ahead = list(old)
    while ahead:
        for waiting in jobs.waiting_for(tx, ahead.pop().id):
            job = visible(runtime, jobs.find_by_seq(tx, waiting.job))
            if job is None or job.seq in seen or job.state is not JobState.BLOCKED or job.retried_by:
                continue
            seen.add(job.seq)
            found.append(job)
            ahead.append(job)
    return sorted(found, key=lambda job: job.seq)


def _insert(tx: sqlite3.Connection, runtime: Runtime, old: Job, new: Mapping[str, str]) -> None:
    now = runtime.now()
    resolved = _resolved(tx, old, new) if old.state is JobState.BLOCKED else Resolved((), 0, None)
    state = JobState.BLOCKED if resolved.broken else JobState.WAITING if resolved.unmet else JobState.QUEUED
    job = Job(
        id=new[old.id],
        state=state,
        created_at=now,
        due_at=now,
        priority=old.priority,
        group_name=old.group_name,
        title=old.title,
        spec=old.spec,
        environment=old.environment,
        caller=runtime.caller.value,
        run=runtime.group or old.run,
        conversation=runtime.conversation or old.conversation,
        retry_of=old.id,
        unmet=resolved.unmet,
        merged=old.merged,
        queued_at=now if state is JobState.QUEUED else None,
        ended_at=now if state is JobState.BLOCKED else None,
        reason="dependency" if resolved.broken else None,
        message=resolved.broken,
    )
    add(tx, job, labels=jobs.labels(tx, old.seq), dependencies=resolved.dependencies)
    jobs.retried(tx, old.id, job.id)


def _resolved(tx: sqlite3.Connection, old: Job, new: Mapping[str, str]) -> Resolved:
    """What a job that was blocked waited for, each as it is repeated."""
    found: list[Dependency] = []
    broken: str | None = None
    for on_id, condition, _ in jobs.dependencies(tx, old.seq):
        name = new.get(on_id) or _newest(tx, on_id)
        other = jobs.find(tx, name)
        met = other is not None and other.state in FINAL and condition.holds(other.state)
        broken = broken or broken_by(other, condition)
        found.append(Dependency(name, condition, met))
    return Resolved(tuple(found), sum(not each.met for each in found), broken)


def _newest(tx: sqlite3.Connection, id_: str) -> str:
    """The newest retry of a job, or the job itself."""
    while (job := jobs.find(tx, id_)) is not None and job.retried_by is not None:
        id_ = job.retried_by
    return id_


def _retried(tx: sqlite3.Connection, old: str, id_: str) -> JobRetried:
    job = jobs.find(tx, id_)
    assert job is not None
    return JobRetried(id=id_, retry_of=old, state=job.state, title=job.title)
