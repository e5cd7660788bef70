"""Old jobs go as new ones end, so that a queue that nobody tidies up stays as quick as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hearth.runtime import Runtime
    from hearth.store.retention import Retention

STEP = 100  # jobs a transaction
MOST_STEPS = 20  # at once: the worker has other things to do
PAUSE_S = 600.0  # between two looks while no job ends
FIRST_SWEEP_S = 5.0  # after the first jobs, who wait for it, have started


class Tending:
    """What a worker does about old jobs, in passing. Times are seconds of the clock that only grows."""

    def __init__(self, runtime: Runtime, now: float) -> None:
        self._runtime = runtime
        self._ended = 0
        self._next = now + PAUSE_S
        self._next_sweep = now + FIRST_SWEEP_S

    def note_ended(self, number: int) -> None:
        self._ended += number

    def tend(self, now: float) -> None:
        """Let a few more go than came, if there are any beyond what retention keeps, and files of runs that could not
        go with their jobs. Raises `DatabaseError`."""
        if now >= self._next_sweep:
            self._next_sweep = now + PAUSE_S
            self._rules().remove_job_folders()
        if self._ended or now >= self._next:
            self._expire(now)

    def _expire(self, now: float) -> None:
        rules = self._rules()
        steps = min(1 + self._ended // STEP, MOST_STEPS)
        self._ended, self._next = 0, now + PAUSE_S
        for _ in range(steps):
            if rules.expire_some_jobs(STEP) < STEP:
                return

    def _rules(self) -> Retention:
        from hearth.store.retention import Retention

        runtime = self._runtime
        keep, now_ms = runtime.settings.retention, runtime.clock.now_ms()
        return Retention(runtime.host, runtime.store, runtime.data_dir, keep, now_ms)
