"""How jobs ended, as the answer and the exit status of a call that waited for them."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from hearth.engine.futures import lives
from hearth.engine.waiting import wait_until
from hearth.errors import Cancelled
from hearth.model import State
from hearth.runtime import Caller, Runtime
from hearth.services.task import future_entry
from hearth.services.task.entry import JobEntry, entries
from hearth.services.task.future_entry import FutureEntry
from hearth.store import futures, jobs
from hearth.store.futures import Future, FutureState
from hearth.store.jobs import FINAL, Job, JobState

USUAL_TIMEOUT_MS = 30_000
MOST_NAMED = 8  # jobs in a sentence
UNKNOWN, RAN_OUT, FAILED, TIMED_OUT, CANCELLED = 4, 5, 1, 124, 6
_STATUS = {JobState.COMPLETED: 0, JobState.TIMED_OUT: TIMED_OUT, JobState.CANCELLED: CANCELLED}
_STATUS_OF_CALL = {
    FutureState.COMPLETED: 0,
    FutureState.PARTIAL: 0,
    FutureState.CANCELLED: CANCELLED,
    FutureState.SUPERSEDED: CANCELLED,
}
_ORDER = (UNKNOWN, RAN_OUT, FAILED, TIMED_OUT, CANCELLED)
_STATES = {0: State.COMPLETED, RAN_OUT: State.PENDING, CANCELLED: State.CANCELLED}


class Until(StrEnum):
    """What of a job is waited for."""

    ENDED = "ended"  # in whichever way
    STARTED = "started"
    COMPLETED = "completed"
    FAILED = "failed"
    TIMED_OUT = "timed_out"
    CANCELLED = "cancelled"
    BLOCKED = "blocked"
    EXPIRED = "expired"
    LOST = "lost"

    def is_met(self, state: JobState, started_at: str | None) -> bool:
        if self is Until.STARTED:
            return started_at is not None
        return state in FINAL if self is Until.ENDED else state.value == self.value

    def is_met_by(self, future: Future | FutureEntry) -> bool:
        if self is Until.STARTED:
            return future.started_at is not None
        return future.ended_at is not None if self is Until.ENDED else future.state.value == self.value


@dataclass(frozen=True, slots=True)
class Over:
    """The jobs that were waited for. `ran_out`: some of them are not as they were to be, and may become so."""

    jobs: tuple[JobEntry, ...]
    ran_out: bool
    until: Until = Until.ENDED
    futures: tuple[FutureEntry, ...] = ()

    @property
    def state(self) -> State:
        return _STATES.get(self.status(), State.FAILED)

    def status(self, *, own: bool = False) -> int:
        """The exit status, of several jobs the first that occurs of 4, 5, 1, 124, 6. `own`: of a single job the
        status of its program."""
        is_one = len(self.jobs) == 1 and not self.futures and not self.ran_out
        if own and is_one and (status := status_of_program(self.jobs[0])) is not None:
            return status
        found = {self._status_of(job) for job in self.jobs} | {self._status_of_call(each) for each in self.futures}
        if not self.ran_out:  # of several one was enough
            found.discard(RAN_OUT)
        return next((status for status in _ORDER if status in found), 0)

    def _status_of_call(self, future: FutureEntry) -> int:
        has_ended = future.ended_at is not None
        if self.until.is_met_by(future):
            return _STATUS_OF_CALL.get(future.state, FAILED) if self.until is Until.ENDED else 0
        return _STATUS_OF_CALL.get(future.state) or FAILED if has_ended else RAN_OUT

    def _status_of(self, job: JobEntry) -> int:
        if job.state in FINAL and self.until is Until.ENDED:
            return _STATUS.get(job.state, FAILED)
        if self.until.is_met(job.state, job.started_at):
            return 0
        return (_STATUS.get(job.state) or FAILED) if job.state in FINAL else RAN_OUT


def status_of_program(job: JobEntry) -> int | None:
    """What a shell would see of the job's program; None where it did not run to an end of its own."""
    if job.state not in (JobState.COMPLETED, JobState.FAILED):
        return None
    return 128 + job.signal if job.signal is not None else job.exit_code


def wait_for(
    runtime: Runtime,
    ids: Sequence[str],
    timeout_ms: int | None,
    *,
    until: Until = Until.ENDED,
    first: bool = False,
    starts: bool = True,
) -> Over:
    """Wait until all of them, or with `first` one of them, are as they were to be or can no longer become so. With
    `starts` there is a worker meanwhile. Raises `Cancelled`, which names the jobs that go on."""
    left = list(dict.fromkeys(ids))

    def look(view: sqlite3.Connection) -> bool | None:
        if first:
            return any(_is_over(runtime, view, id_, until) for id_ in left) or not left or None
        # Each is looked at until it is over, and then never again.
        while left and _is_over(runtime, view, left[-1], until):
            left.pop()
        return not left or None

    try:
        starts = starts and not all(map(future_entry.is_future, ids))
        found = wait_until(runtime, look, _seconds(runtime, timeout_ms), starts=starts)
    except Cancelled:
        raise _no_longer(runtime, ids) from None
    with runtime.store.read() as view:
        over = entries(view, _jobs(view, ids))
    calls = [future_entry.current(runtime, id_) for id_ in ids if future_entry.is_future(id_)]
    return Over(over, ran_out=found is None, until=until, futures=tuple(map(future_entry.entry, calls)))


def _no_longer(runtime: Runtime, ids: Sequence[str]) -> Cancelled:
    """Who submitted the jobs in the same call has no other way to learn what they are called."""
    with runtime.store.read() as view:
        unfinished = [job.id for job in _jobs(view, ids) if job.state not in FINAL]
    if not unfinished:
        return Cancelled("no longer waiting; the jobs have ended", ids=list(ids))
    told = unfinished[0] if len(unfinished) == 1 else f"the {len(unfinished)} jobs"
    named = " ".join(unfinished[:MOST_NAMED]) + (" ..." if len(unfinished) > MOST_NAMED else "")
    goes_on = f"{told} {'goes' if len(unfinished) == 1 else 'go'} on"
    return Cancelled(
        f"no longer waiting; {goes_on}", hint=f"`hearth task cancel {named}` ends what goes on", ids=unfinished
    )


def _is_over(runtime: Runtime, view: sqlite3.Connection, id_: str, until: Until) -> bool:
    """Whether there is nothing more to wait for; also of what is no longer there, or whose process is not."""
    if future_entry.is_future(id_):
        future = futures.find(view, id_)
        return future is None or future.has_ended or until.is_met_by(future) or not lives(runtime, future)
    job = jobs.standing(view, id_)
    return job is None or job.state in FINAL or until.is_met(job.state, job.started_at)


def _jobs(view: sqlite3.Connection, ids: Sequence[str]) -> list[Job]:
    return [job for id_ in ids if (job := jobs.find(view, id_)) is not None]


def _seconds(runtime: Runtime, timeout_ms: int | None) -> float | None:
    usual = None if runtime.caller is Caller.SHELL else USUAL_TIMEOUT_MS
    found = timeout_ms if timeout_ms is not None else usual
    return None if found is None else found / 1000
