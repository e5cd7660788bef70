"""What goes wrong in a worker, which goes on all the same: told once, and tried again after a pause."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from hearth.errors import HearthError
from hearth.model import State

if TYPE_CHECKING:
    from hearth.runtime import Runtime
    from hearth.store.events import Row
    from hearth.store.jobs import Job

FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.1, 5.0
_TOLD_AGAIN_AFTER = 10  # the traceback of a bug that stays
_MOST_TOLD = 1_000


class Outage(NamedTuple):
    """Since when, by the clock that only grows, no pass succeeded, and what was wrong first."""

    began: float
    code: str


class Troubles:
    """How often the worker failed without a success in between, and what of it was told already."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._failures = 0
        self._outage: Outage | None = None  # that is over once it is stored
        self._told: set[tuple[int, int]] = set()

    @property
    def pause_s(self) -> float:
        return min(FIRST_PAUSE_S * 2.0 ** min(self._failures - 1, 10), LONGEST_PAUSE_S)

    def are_over(self) -> None:
        self._failures = 0

    def store(self, worker: str) -> None:
        """Store the event of what is over by now: while it lasted, nothing could be. Raises `DatabaseError`."""
        if self._outage is None:
            return
        from hearth.store import events

        lasted_ms = round((time.monotonic() - self._outage.began) * 1000)
        row = _event(worker, self._runtime.now(), self._outage.code, lasted_ms)
        with self._runtime.store.write() as tx:
            events.insert(tx, [row])
        self._outage = None

    def note(self, error: Exception) -> None:
        """A whole pass failed: the database is busy, the disk full, or there is a bug."""
        self._failures += 1
        code = error.code if isinstance(error, HearthError) else "system_error"
        self._outage = self._outage or Outage(time.monotonic(), code)
        if isinstance(error, (HearthError, OSError)):
            if self._failures == 1:
                self._tell(f"the worker tries again: {error}")
        elif self._failures in (1, _TOLD_AGAIN_AFTER):
            self._tell_bug(error)

    def note_about(self, job: Job, error: Exception) -> None:
        """Something is wrong about one run of one job."""
        run = job.seq, job.attempt
        if run in self._told:
            return
        if len(self._told) >= _MOST_TOLD:
            self._told.clear()
        self._told.add(run)
        if isinstance(error, (HearthError, OSError)):
            self._tell(f"the worker tries {job.id} again: {error}")
        else:
            self._tell_bug(error)

    def _tell_bug(self, error: Exception) -> None:
        from hearth.crash import write_traceback

        where = "nowhere, since nothing can be written"
        with suppress(OSError):
            where = write_traceback(self._runtime.data_dir, error)
        self._tell(f"a bug in the worker, which goes on: {error!r}; the traceback is in {where}")

    def _tell(self, text: str) -> None:
        with suppress(OSError, ValueError):  # standard error may be closed, or lead to a full disk
            self._runtime.log.warning(text)
            self._runtime.notice(f"hearth: {text}")


def _event(worker: str, at: str, code: str, lasted_ms: int) -> Row:
    return {
        "at": at,
        "operation": "task.work",
        "entity": worker,
        "caller": "worker",
        "run": None,
        "conversation": None,
        "state": State.FAILED.value,
        "error": code,
        "duration_ms": lasted_ms,
        "data": "{}",
    }
