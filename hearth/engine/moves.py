"""Which state of a job may follow which, and what follows from a move: the one place where states change."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any

from hearth.clock import parse_timestamp
from hearth.engine import arriving
from hearth.store import jobs
from hearth.store.jobs import FINAL, Dependency, Job, JobState, Waiting

_S = JobState
_NEVER_STARTED = {_S.CANCELLED, _S.EXPIRED}

MOVES: Mapping[JobState, frozenset[JobState]] = {
    _S.SCHEDULED: frozenset({_S.QUEUED, *_NEVER_STARTED}),
    _S.WAITING: frozenset({_S.QUEUED, _S.SCHEDULED, _S.BLOCKED, *_NEVER_STARTED}),
    _S.QUEUED: frozenset({_S.RUNNING, *_NEVER_STARTED}),
    # It goes back to the queue when it had not started yet, or may start again; scheduled is a retry with a delay.
    _S.RUNNING: frozenset({_S.COMPLETED, _S.FAILED, _S.TIMED_OUT, _S.CANCELLED, _S.LOST, _S.QUEUED, _S.SCHEDULED}),
    **{state: frozenset() for state in FINAL},
}


class WrongMove(AssertionError):
    """A bug: a move that the table does not have."""


def move(tx: sqlite3.Connection, job: Job, to: JobState, *, holder: str | None = None, **changes: Any) -> bool:
    """Move a job to another state and settle what depends on it; false when it stands elsewhere by now, or belongs to
    another worker than `holder`. A final state needs `ended_at`. Raises `WrongMove` for what is not in the table."""
    if not _apply(tx, job, to, holder, **changes):
        return False
    if to in FINAL:
        settle(tx, job.id, to, changes["ended_at"])
    return True


def add(
    tx: sqlite3.Connection, job: Job, *, labels: Iterable[str] = (), dependencies: Iterable[Dependency] = ()
) -> None:
    """Store a new job. One that can never start has ended at once, and what waits for its id is settled."""
    jobs.insert(tx, job, labels=labels, dependencies=dependencies)
    if job.state in FINAL:
        assert job.ended_at is not None
        facts = {"ended_at": job.ended_at, "reason": job.reason, "message": job.message}
        arriving.job_ended(tx, job, job.state, facts)
        settle(tx, job.id, job.state, job.ended_at)


def _apply(tx: sqlite3.Connection, job: Job, to: JobState, holder: str | None = None, **changes: Any) -> bool:
    if to not in MOVES[job.state]:
        raise WrongMove(f"{job.id}: {job.state} is not followed by {to}")
    if not jobs.move(tx, job.seq, job.state, to, holder=holder, **changes):
        return False
    if to in FINAL:
        arriving.job_ended(tx, job, to, changes)
    return True


def settle(tx: sqlite3.Connection, id_: str, ended: JobState, now: str) -> None:
    """Let go on, or block, what waits for a job that has ended, and what waits for that in turn. `move` does this; a
    job that never can start has ended as soon as it is there."""
    over = [(id_, ended)]
    while over:
        id_, ended = over.pop()
        for waiting in jobs.waiting_for(tx, id_):
            job = jobs.find_by_seq(tx, waiting.job)
            if job is not None and job.state is _S.WAITING and _blocks(tx, job, waiting, ended, id_, now):
                over.append((job.id, _S.BLOCKED))


def _blocks(tx: sqlite3.Connection, job: Job, waiting: Waiting, ended: JobState, id_: str, now: str) -> bool:
    if not waiting.condition.holds(ended):
        return _apply(
            tx,
            job,
            _S.BLOCKED,
            ended_at=now,
            reason="dependency",
            message=f"it waits for the {waiting.condition} of {id_}, which ended as {ended}",
        )
    jobs.meet(tx, waiting)
    if job.unmet > 1:
        jobs.still_waiting(tx, job.seq, job.unmet - 1)
    else:
        # One that was due from its beginning is so still, also where the clock was put back since.
        due_at = max(now, job.due_at) if job.due_at > job.created_at else now
        _apply(tx, job, ready_state(due_at, now), unmet=0, queued_at=due_at)
    return False


def ready_state(due_at: str, now: str) -> JobState:
    """Where a job stands that waits for nothing but its time."""
    return _S.SCHEDULED if due_at > now else _S.QUEUED


def milliseconds_between(earlier: str | None, later: str | None) -> int | None:
    """Never negative, whatever the clock did in between."""
    if earlier is None or later is None:
        return None
    return max(0, parse_timestamp(later) - parse_timestamp(earlier))
