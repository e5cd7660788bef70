"""Storing what became of a run: the outputs as artifacts, the job's next state, an event."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from hearth import identifiers
from hearth.clock import parse_timestamp, timestamp
from hearth.engine import leases
from hearth.engine.moves import move
from hearth.engine.outputs import Outputs
from hearth.engine.running import Ended, Ending
from hearth.engine.spec import Spec
from hearth.errors import HearthError
from hearth.model import State
from hearth.platforms.processes import Stream
from hearth.store import artifacts, events, job_queue, jobs
from hearth.store.artifacts import Artifact
from hearth.store.jobs import Attempt, Job, JobState

if TYPE_CHECKING:
    from hearth.runtime import Runtime

OPERATION = "task.submit"  # what artifacts of jobs are made by
MOST_RESTARTS = 10


class Kept(NamedTuple):
    """The outputs of a run. Where a body could not be made, the files stay."""

    bytes: dict[Stream, int]
    artifacts: dict[Stream, Artifact]
    in_files: bool
    order: str | None = None  # in which they grew


NOTHING = Kept({}, {}, False)


def keep_outputs(runtime: Runtime, job: Job, outputs: Outputs | None) -> Kept:
    """Make bodies of what a run printed; their rows come with the job's. Never raises: what cannot be stored, such as
    on a full disk, stays in its files and is tried again later."""
    if outputs is None:
        return NOTHING
    sizes: dict[Stream, int] = {}
    made: dict[Stream, Artifact] = {}
    try:
        sizes = {stream: outputs.size(stream) for stream in Stream}
        for stream in [stream for stream, size in sizes.items() if size]:
            if stored := outputs.store(runtime.blobs, stream):
                sizes[stream] = stored.printed
                made[stream] = _artifact(runtime, job, stream, stored.body.sha256, stored.body.size)
    except (HearthError, OSError) as error:
        runtime.log.warning(f"the outputs of {job.id} stay in {outputs.folder} for now: {error}")
        return Kept(sizes, {}, True, outputs.order.text)
    # There is none where one of both is empty.
    return Kept(sizes, made, False, outputs.order.text if all(sizes.values()) else None)


def _artifact(runtime: Runtime, job: Job, stream: Stream, body: str, size: int) -> Artifact:
    now_ms = runtime.clock.now_ms()
    return Artifact(
        id=identifiers.new("art", now_ms),
        at=timestamp(now_ms),
        body=body,
        size=size,
        media_type="text/plain",
        label=f"{job.id} {stream}",
        operation=OPERATION,
        caller=job.caller,
        run=job.run,
        conversation=job.conversation,
    )


def store(tx: sqlite3.Connection, runtime: Runtime, ended: Ended, kept: Kept, *, holder: str) -> JobState | None:
    """Give the job its next state: the final one, or the queue again where it is to be retried; None when it is no
    longer `holder`'s."""
    job, now = ended.job, runtime.now()
    cancelled = job_queue.ending_of(tx, job.seq) == Ending.CANCEL  # perhaps only after its program had ended on its own
    if cancelled and ended.state is JobState.QUEUED:
        ended = replace(ended, state=JobState.CANCELLED)
    if ended.state is JobState.QUEUED:  # it never started, so this was no run
        return ended.state if move(tx, job, ended.state, holder=holder, attempt=job.attempt - 1) else None
    again = None if cancelled else _next_run(ended)
    facts = _facts(ended, kept)
    ended_at, ran_ms = _end_of(runtime, ended)
    if again is not None:
        due = timestamp(parse_timestamp(now) + again)
        state = JobState.SCHEDULED if again else JobState.QUEUED
        if not move(tx, job, state, holder=holder, due_at=due, queued_at=due, restarts=_restarts(ended)):
            return None
        jobs.keep_attempt(tx, job.seq, _attempt(job, ended, facts, ended_at))
    else:
        state = ended.state
        facts = {**facts, "in_files": int(kept.in_files), "ran_ms": ran_ms, "message": ended.message}
        if not move(tx, job, state, holder=holder, ended_at=ended_at, cpu_ms=ended.exit.cpu_ms,
                    peak_memory_bytes=ended.exit.peak_memory_bytes, **facts):  # fmt: skip
            return None
    for artifact in kept.artifacts.values():
        artifacts.insert(tx, artifact)
    events.insert(tx, [event(job, state, now, ended.reason, ran_ms or 0)])
    return state


def _end_of(runtime: Runtime, ended: Ended) -> tuple[str, int | None]:
    """When a run ended, which may be long before this is known or can be stored, and how long it ran."""
    since_start_ms = leases.ran_ms(runtime, ended.job)
    ago_ms = ended.ago_ms(since_start_ms or 0)
    ran_ms = None if since_start_ms is None else since_start_ms - ago_ms
    return timestamp(runtime.clock.now_ms() - ago_ms), ran_ms


def _next_run(ended: Ended) -> int | None:
    """Milliseconds until the job runs once more; None when this was its last run."""
    job = ended.job
    if ended.outputs is None or ended.state not in (JobState.LOST, JobState.FAILED, JobState.TIMED_OUT):
        return None
    spec = Spec.from_json(job.spec)
    if ended.state is JobState.LOST:
        return 0 if spec.restart and job.restarts < MOST_RESTARTS else None
    # Runs that were interrupted are no attempts of its own.
    attempt = job.attempt - job.restarts
    if attempt >= spec.retry.attempts or (spec.retry.on and _status(ended) not in spec.retry.on):
        return None
    return spec.retry.delay_after(attempt)


def _restarts(ended: Ended) -> int | None:
    return ended.job.restarts + 1 if ended.state is JobState.LOST else None


def _status(ended: Ended) -> int | None:
    if ended.exit.signal is not None:
        return 128 + ended.exit.signal
    return ended.exit.code


def _facts(ended: Ended, kept: Kept) -> dict[str, Any]:
    names = {stream: found.id for stream, found in kept.artifacts.items()}
    return {
        "exit_code": ended.exit.code,
        "signal": ended.exit.signal,
        "reason": ended.reason,
        "stdout_bytes": kept.bytes.get(Stream.STDOUT),
        "stderr_bytes": kept.bytes.get(Stream.STDERR),
        "stdout_artifact": names.get(Stream.STDOUT),
        "stderr_artifact": names.get(Stream.STDERR),
        "output_order": kept.order,
    }


def _attempt(job: Job, ended: Ended, facts: dict[str, Any], ended_at: str) -> Attempt:
    return Attempt(attempt=job.attempt, started_at=job.started_at, ended_at=ended_at, state=ended.state, **facts)


def event(job: Job, state: JobState, at: str, reason: str | None, duration_ms: int) -> events.Row:
    """The event of a run's end."""
    return {
        "at": at,
        "operation": "task.run",
        "entity": job.id,
        "caller": job.caller,
        "run": job.run,
        "conversation": job.conversation,
        "state": _OF_CALLS.get(state, State.FAILED).value,
        "error": reason,
        "duration_ms": duration_ms,
        "data": json.dumps({"attempt": job.attempt, "state": state.value}),
    }


_OF_CALLS = {
    JobState.COMPLETED: State.COMPLETED,
    JobState.CANCELLED: State.CANCELLED,
    JobState.BLOCKED: State.BLOCKED,
    JobState.QUEUED: State.PENDING,
    JobState.SCHEDULED: State.PENDING,
}


def keep_later(runtime: Runtime, most: int = 16) -> int:
    """Make artifacts of outputs that a full disk left in files; how many jobs. Raises `DatabaseError`."""
    with runtime.store.read() as view:
        left = jobs.in_files(view, most=most)
    done = 0
    for job in left:
        outputs = Outputs.of(runtime, job)
        kept = keep_outputs(runtime, job, outputs)
        if kept.in_files:
            break
        names = {stream: found.id for stream, found in kept.artifacts.items()}
        with runtime.store.write() as tx:
            # Another worker may have done it meanwhile.
            if jobs.outputs_kept(tx, job.seq, names.get(Stream.STDOUT), names.get(Stream.STDERR)):
                for artifact in kept.artifacts.values():
                    artifacts.insert(tx, artifact)
        outputs.remove()
        done += 1
    return done
