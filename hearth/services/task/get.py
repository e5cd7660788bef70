"""task.get: everything about a job."""

from __future__ import annotations

from typing import Annotated

from hearth.engine.spec import Spec
from hearth.model import Help, Hidden, PathName, State, model
from hearth.runtime import Runtime
from hearth.secrets import redact_command
from hearth.services.task import future_entry
from hearth.services.task.entry import Id, JobEntry, entry, find
from hearth.services.task.future_entry import FutureEntry
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
    job: Annotated[JobEntry | None, Help("Where it stands.")] = None
    future: Annotated[FutureEntry | None, Help("Or the call over MCP that has this id; it has none of the others.")] = (
        None
    )
    command: Annotated[tuple[str, ...], Help("Its words, secrets taken out.")] = ()
    cwd: Annotated[str | None, PathName(), Help("The directory that it starts in.")] = None
    env: Annotated[tuple[str, ...], Help("Names of variables that it was given.")] = ()
    timeout_ms: Annotated[int | None, Help("Its time limit.")] = None
    attempts: Annotated[int | None, Help("Most runs in all.")] = None
    restart: Annotated[bool | None, Help("Whether it runs again when it was interrupted.")] = None
    open_stdin: Annotated[bool | None, Hidden(), Help("Whether text can be sent to it.")] = None
    merged: Annotated[bool | None, Hidden(), Help("Whether both outputs are one.")] = None
    worker: Annotated[str | None, Help("The worker that looks after it.")] = None
    earlier: Annotated[tuple[AttemptEntry, ...], Help("Runs before the newest.")] = ()


def get(runtime: Runtime, given: GetJob) -> JobDetails:
    """Raises `NotFound`."""
    if future_entry.is_future(given.id):
        return JobDetails(future=future_entry.entry(future_entry.current(runtime, given.id)))
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
