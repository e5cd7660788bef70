"""From the queue to a program that is held back until the database knows which process it is."""

from __future__ import annotations

import contextlib
import errno
import sqlite3
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from hearth.engine import leases, start
from hearth.engine.moves import milliseconds_between, move
from hearth.engine.outputs import Outputs
from hearth.engine.presence import usual_parallel
from hearth.engine.running import Ended, Running
from hearth.engine.spares import Spares
from hearth.engine.spec import Spec
from hearth.errors import DatabaseError, HearthError, NoSpace
from hearth.platforms.processes import Exit
from hearth.store import job_queue, jobs
from hearth.store.job_queue import Held
from hearth.store.jobs import Job, JobState

if TYPE_CHECKING:
    from hearth.runtime import Runtime

# What says nothing about the job, but that the machine is short of something now.
_PASSING = {errno.EAGAIN, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOSPC, errno.EDQUOT}


class Claimed(NamedTuple):
    """A job that is this worker's, and what `jobs.variables` tells of it."""

    job: Job
    inherited: str


def claim(tx: sqlite3.Connection, runtime: Runtime, me: str, most: int) -> list[Claimed]:
    """Make the jobs whose turn it is this worker's; nothing of them has started yet."""
    claimed = list(_claim(tx, runtime, me, most))
    inherited = {number: jobs.variables(tx, number) for number in {job.environment for job in claimed}}
    return [Claimed(job, inherited[job.environment]) for job in claimed]


def _claim(tx: sqlite3.Connection, runtime: Runtime, me: str, most: int) -> Iterator[Job]:
    now = runtime.now()
    for job in job_queue.next_to_run(tx, parallel=usual_parallel(runtime), most=most):
        if job.expires_at is not None and job.expires_at <= now:
            continue
        changes: dict[str, Any] = {"worker": me, "mark": start.new_mark(runtime), "attempt": job.attempt + 1}
        if move(tx, job, JobState.RUNNING, **changes, waited_ms=milliseconds_between(job.queued_at, now)):
            yield job._replace(state=JobState.RUNNING, started_at=None, started_ms=None, **changes)


def held_back(runtime: Runtime, job: Job, inherited: str, spares: Spares) -> Running:
    """The job's program, which does not run yet. Raises what `start.held_back` raises."""
    outputs, spec = Outputs.of(runtime, job), Spec.from_json(job.spec)
    assert job.mark is not None
    process = start.held_back(runtime, job.id, spec, inherited, job.mark, outputs, spares)
    return Running(job, spec, process, outputs, None)


def note_processes(runtime: Runtime, me: str, held: Sequence[Running], *, wait_ms: int) -> set[int]:
    """Store durably which processes these are; those that may start. The others were cancelled or taken over in this
    very moment, which is in their `job.ending` then. Raises `DatabaseError`, `NoSpace`."""
    mine = set()
    now = runtime.now()
    with runtime.store.write(durable=True, wait_ms=wait_ms) as tx:
        for running in held:
            job, record = running.job, running.process.record
            process = Held(record.pid, record.start, record.boot, now, leases.beat_now())
            if job_queue.hold(tx, job.seq, me, job.mark or "", process):
                mine.add(job.seq)
                running.job = job._replace(**process._asdict())
            elif (stored := jobs.find_by_seq(tx, job.seq)) is not None:
                running.job = job._replace(ending=stored.ending)
    return mine


def will_pass(error: Exception) -> bool:
    """Whether what kept a job from starting has nothing to do with the job, so that it is tried again."""
    cause = error.__cause__ if isinstance(error, HearthError) else error
    return isinstance(error, (DatabaseError, NoSpace)) or (isinstance(cause, OSError) and cause.errno in _PASSING)


def never_started(runtime: Runtime, job: Job, error: Exception) -> Ended:
    """The end of a job whose program could not be started."""
    if not isinstance(error, (HearthError, OSError)):
        from hearth.crash import internal

        with contextlib.suppress(OSError):  # no room for the traceback
            error = internal(runtime.data_dir, error)
    code = error.code if isinstance(error, HearthError) else "system_error"
    status = {"program_not_found": 127, "not_executable": 126}.get(code)
    return Ended(job, JobState.FAILED, Exit(status, None, None, None), code, str(error))
