"""Old jobs go as new ones end, so that a queue that nobody tidies up stays as quick as it was."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hearth.runtime import Runtime

STEP = 100  # jobs a transaction
MOST_STEPS = 20  # at once: the worker has other things to do
PAUSE_S = 600.0  # between two looks while no job ends


class Tending:
    """What a worker does about old jobs, in passing. Times are seconds of the clock that only grows."""

    def __init__(self, runtime: Runtime, now: float) -> None:
        self._runtime = runtime
        self._ended = 0
        self._next = now + PAUSE_S

    def note_ended(self, number: int) -> None:
        self._ended += number

    def tend(self, now: float) -> None:
        """Let a few more go than came, if there are any beyond what retention keeps. Raises `DatabaseError`."""
        if not self._ended and now < self._next:
            return
        from hearth.store.retention import Retention

        runtime = self._runtime
        keep, now_ms = runtime.settings.retention, runtime.clock.now_ms()
        rules = Retention(runtime.host, runtime.store, runtime.data_dir, keep, now_ms)
        steps = min(1 + self._ended // STEP, MOST_STEPS)
        self._ended, self._next = 0, now + PAUSE_S
        for _ in range(steps):
            if rules.expire_some_jobs(STEP) < STEP:
                return
