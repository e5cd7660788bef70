"""task.get: everything about a job."""

from __future__ import annotations

from typing import Annotated

from hearth.engine.spec import Spec
from hearth.model import Help, Hidden, PathName, State, model
from hearth.runtime import Runtime
from hearth.secrets import redact_command
from hearth.services.task.entry import Id, JobEntry, entry, find
from hearth.store import jobs
from hearth.store.jobs import Attempt, JobState


@model
class GetJob:
    id: Id


@model
class AttemptEntry:
    """An earlier run."""

    attempt: Annotated[int, Help("Its number, from 1.")]
    state: Annotated[JobState, Help("How it ended.")]
    started_at: Annotated[str | None, Help("When it started.")]
    ended_at: Annotated[str, Help("When it ended.")]
    exit_code: Annotated[int | None, Help("Its exit code.")]
    signal: Annotated[int | None, Help("The signal that ended it.")]
    reason: Annotated[str | None, Help("A code where the state alone does not tell why.")]
    stdout_bytes: Annotated[int | None, Help("All that it printed.")]
    stderr_bytes: Annotated[int | None, Help("All that it printed about errors.")]
    stdout_artifact: Annotated[str | None, Help("The artifact of its output.")]
    stderr_artifact: Annotated[str | None, Help("The artifact of its errors.")]


@model
class JobDetails:
    state: State = State.COMPLETED
    job: Annotated[JobEntry, Help("Where it stands.")]
    command: Annotated[tuple[str, ...], Help("Its words, secrets taken out.")]
    cwd: Annotated[str, PathName(), Help("The directory that it starts in.")]
    env: Annotated[tuple[str, ...], Help("Names of variables that it was given.")]
    timeout_ms: Annotated[int | None, Help("Its time limit.")]
    attempts: Annotated[int, Help("Most runs in all.")]
    restart: Annotated[bool, Help("Whether it runs again when it was interrupted.")]
    open_stdin: Annotated[bool, Hidden(), Help("Whether text can be sent to it.")]
    merged: Annotated[bool, Hidden(), Help("Whether both outputs are one.")]
    worker: Annotated[str | None, Help("The worker that looks after it.")]
    earlier: Annotated[tuple[AttemptEntry, ...], Help("Runs before the newest.")]


def get(runtime: Runtime, given: GetJob) -> JobDetails:
    """Raises `NotFound`."""
    with runtime.store.read() as view:
        job = find(runtime, view, given.id)
        spec = Spec.from_json(job.spec)
        return JobDetails(
            job=entry(view, job),
            command=tuple(redact_command((spec.command, *spec.args))),
            cwd=spec.cwd,
            env=tuple(sorted(spec.env)),
            timeout_ms=spec.timeout_ms,
            attempts=spec.retry.attempts,
            restart=spec.restart,
            open_stdin=spec.open_stdin,
            merged=job.merged,
            worker=job.worker,
            earlier=tuple(map(_attempt, jobs.attempts(view, job.seq))),
        )


def _attempt(found: Attempt) -> AttemptEntry:
    return AttemptEntry(**{name: getattr(found, name) for name in AttemptEntry.__slots__})  # type: ignore[attr-defined]
