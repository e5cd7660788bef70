"""How jobs ended, as the answer and the exit status of a call that waited for them."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hearth.engine.waiting import wait_until
from hearth.model import State
from hearth.runtime import Caller, Runtime
from hearth.services.task.entry import JobEntry, entries
from hearth.store import jobs
from hearth.store.jobs import FINAL, Job, JobState

if TYPE_CHECKING:
    from collections.abc import Callable

USUAL_TIMEOUT_MS = 30_000
UNKNOWN, RAN_OUT, FAILED, TIMED_OUT, CANCELLED = 4, 5, 1, 124, 6
_STATUS = {JobState.COMPLETED: 0, JobState.TIMED_OUT: TIMED_OUT, JobState.CANCELLED: CANCELLED}
_ORDER = (UNKNOWN, RAN_OUT, FAILED, TIMED_OUT, CANCELLED)
_STATES = {0: State.COMPLETED, RAN_OUT: State.PENDING, CANCELLED: State.CANCELLED}


@dataclass(frozen=True, slots=True)
class Over:
    """The jobs that were waited for. `ran_out`: some of them have not ended."""

    jobs: tuple[JobEntry, ...]
    ran_out: bool

    @property
    def state(self) -> State:
        return _STATES.get(self.status(), State.FAILED)

    def status(self, *, own: bool = False) -> int:
        """The exit status, of several jobs the first that occurs of 4, 5, 1, 124, 6. `own`: of a single job the
        status of its program."""
        if own and len(self.jobs) == 1 and not self.ran_out and (status := status_of_program(self.jobs[0])) is not None:
            return status
        found = {_status_of(job.state) for job in self.jobs}
        return next((status for status in _ORDER if status in found), 0)


def _status_of(state: JobState) -> int:
    return _STATUS.get(state, FAILED if state in FINAL else RAN_OUT)


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
    enough: Callable[[Sequence[Job]], bool] | None = None,
) -> Over:
    """Wait until all of them have ended, or `enough` says so. Raises `Cancelled`."""

    def look(view: sqlite3.Connection) -> list[Job] | None:
        found = _jobs(view, ids)
        return found if (enough or _all_ended)(found) else None

    found = wait_until(runtime, look, _seconds(runtime, timeout_ms))
    with runtime.store.read() as view:
        shown = found if found is not None else _jobs(view, ids)
        return Over(entries(view, shown), ran_out=found is None)


def _all_ended(found: Sequence[Job]) -> bool:
    return all(job.state in FINAL for job in found)


def _jobs(view: sqlite3.Connection, ids: Sequence[str]) -> list[Job]:
    return [job for id_ in ids if (job := jobs.find(view, id_)) is not None]


def _seconds(runtime: Runtime, timeout_ms: int | None) -> float | None:
    usual = None if runtime.caller is Caller.SHELL else USUAL_TIMEOUT_MS
    found = timeout_ms if timeout_ms is not None else usual
    return None if found is None else found / 1000
