"""What is told about a job, and how operations are given one."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import Annotated

from hearth import conversations
from hearth.engine.spec import Spec
from hearth.errors import NotFound, invalid
from hearth.model import Cli, Help, Len, model
from hearth.runtime import Caller, Runtime
from hearth.secrets import redact
from hearth.store import jobs
from hearth.store.jobs import Condition, Job, JobState

Id = Annotated[str, Len(1, 64), Cli(argument=True, completes="job"), Help("The id; at the shell its beginning.")]
Ids = Annotated[
    tuple[Annotated[str, Len(1, 64)], ...],
    Len(0, 1_000),
    Cli(argument=True, completes="job", metavar="ID"),
    Help("Ids; at the shell their beginnings."),
]


@model
class DependencyEntry:
    """What a job waits for, or waited for."""

    job: Annotated[str, Help("The other job's id.")]
    on: Annotated[Condition, Help("How that must end.")]
    met: Annotated[bool, Help("Whether it has.")]


@model
class JobEntry:
    """A job."""

    id: Annotated[str, Help("What the other operations take.")]
    state: Annotated[
        JobState,
        Help("Where it stands: scheduled, queued, waiting, running, or how it ended."),
    ]
    title: Annotated[str, Help("Its command, secrets taken out.")]
    group: Annotated[str, Help("Its group.")]
    priority: Annotated[int, Help("Higher ones start first.")]
    labels: Annotated[tuple[str, ...], Help("Its labels.")]
    created_at: Annotated[str, Help("When it was submitted.")]
    due_at: Annotated[str, Help("It does not start before.")]
    expires_at: Annotated[str | None, Help("It does not start from then on.")]
    started_at: Annotated[str | None, Help("When its newest run started.")]
    ended_at: Annotated[str | None, Help("When it ended.")]
    waited_ms: Annotated[int | None, Help("How long it was queued before it started.")]
    ran_ms: Annotated[int | None, Help("How long its newest run took.")]
    attempt: Annotated[int, Help("Which run this is or was; 0 before the first.")]
    pid: Annotated[int | None, Help("The process of its program while it runs.")]
    exit_code: Annotated[int | None, Help("Its exit code.")]
    signal: Annotated[int | None, Help("The signal that ended it.")]
    reason: Annotated[str | None, Help("A code where the state alone does not tell why.")]
    message: Annotated[str | None, Help("The same as a sentence.")]
    stdout_bytes: Annotated[int | None, Help("All that it printed.")]
    stderr_bytes: Annotated[int | None, Help("All that it printed about errors.")]
    stdout_artifact: Annotated[str | None, Help("The artifact of its output, once it has ended.")]
    stderr_artifact: Annotated[str | None, Help("The artifact of its errors, once it has ended.")]
    dependencies: Annotated[tuple[DependencyEntry, ...], Help("What it waits for.")]
    schedule: Annotated[str | None, Help("The schedule that made it.")]
    slot_at: Annotated[str | None, Help("The time for which that made it.")]
    retry_of: Annotated[str | None, Help("The job that it repeats.")]
    retried_by: Annotated[str | None, Help("The job that repeats it.")]
    idempotency_key: Annotated[str | None, Help("The key that it was submitted with.")]
    cpu_ms: Annotated[int | None, Help("Processor time of its newest run.")]
    peak_memory_bytes: Annotated[int | None, Help("Most memory of its newest run.")]
    conversation: Annotated[str | None, Help("The conversation that it belongs to.")]
    run: Annotated[str | None, Help("The run that it belongs to.")]


_SAME = (
    "id", "state", "title", "priority", "created_at", "due_at", "expires_at", "started_at", "ended_at", "waited_ms",
    "ran_ms", "attempt", "pid", "exit_code", "signal", "reason", "stdout_bytes", "stderr_bytes", "stdout_artifact",
    "stderr_artifact", "schedule", "slot_at", "retry_of", "retried_by", "idempotency_key", "cpu_ms",
    "peak_memory_bytes", "conversation", "run",
)  # fmt: skip


_AS_VERBS = {
    JobState.FAILED: "failed",
    JobState.TIMED_OUT: "timed out",
    JobState.CANCELLED: "was cancelled",
    JobState.EXPIRED: "expired",
    JobState.LOST: "was lost",
}


def stands(state: JobState) -> str:
    """Where a job stands, as the rest of a sentence that begins with its id."""
    return _AS_VERBS.get(state, f"is {state}")


def entry(view: sqlite3.Connection, job: Job) -> JobEntry:
    depends = jobs.dependencies(view, job.seq)
    return JobEntry(
        **{name: getattr(job, name) for name in _SAME},
        group=job.group_name,
        labels=jobs.labels(view, job.seq),
        message=redact(job.message) if job.message else None,
        dependencies=tuple(DependencyEntry(job=each.on_id, on=each.condition, met=each.met) for each in depends),
    )


def entries(view: sqlite3.Connection, found: Sequence[Job]) -> tuple[JobEntry, ...]:
    return tuple(entry(view, job) for job in found)


def conversation_of(runtime: Runtime) -> str | None:
    """The conversation whose jobs are all that the caller gets to see; None: all jobs."""
    return conversations.own(runtime)


def visible(runtime: Runtime, job: Job | None) -> Job | None:
    """The job, unless it is another conversation's."""
    return job if job is not None and conversations.sees(runtime, job.conversation) else None


def find(runtime: Runtime, view: sqlite3.Connection, word: str, field: str = "id") -> Job:
    """The job with that id, or at the shell the only one whose id starts so. Raises `NotFound`, `InvalidInput`."""
    found = visible(runtime, jobs.find(view, word))
    candidates = [found] if found else []
    if not candidates and runtime.caller is Caller.SHELL:
        candidates = jobs.starting_with(view, word)
    if len(candidates) > 1:
        raise invalid(field, "ambiguous", f"{word} begins several ids, such as {candidates[0].id}")
    if not candidates:
        raise no_job(word)
    return candidates[0]


def no_job(word: str) -> NotFound:
    return NotFound(f"there is no job {word}", hint="`hearth task list` shows what there is", id=word)


def spec_of(job: Job) -> Spec:
    return Spec.from_json(job.spec)
