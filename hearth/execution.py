"""Runs a program to its end, within limits; what `machine.exec`, jobs and recipes share.

The rules: the call returns when the program has ended, even if something that it started still holds its outputs; what
holds them for more than a moment is asked to end, and then is killed; on time-out and on cancel the whole tree is asked
to end, and after the grace is killed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from hearth.cancellation import Cancellation
from hearth.errors import Cancelled
from hearth.platforms.processes import Deliver, Exit, Launch, Launcher, Process

DRAIN_SECONDS = 0.5  # for outputs that are still open once the program has ended
ASKED_SECONDS = 0.25  # for what holds them longer, once it was asked to end
KILL_SECONDS = 2.0  # for the system to carry out a kill; what was older and was lent the outputs lives on


@dataclass(frozen=True, slots=True)
class Ending:
    """How a program and its tree came to an end."""

    exit: Exit
    timed_out: bool
    cancelled: bool
    pipes_held: bool
    duration_ms: int


class Slots:
    """As many programs at once as there are handles for; others wait for one to end."""

    def __init__(self, most: int) -> None:
        self._free = threading.BoundedSemaphore(most)

    @contextmanager
    def taken(self, cancelled: Cancellation) -> Iterator[None]:
        """Hold a slot. Raises `Cancelled` when the call is taken back while it waits."""
        # On Windows a wait without a limit could not be interrupted.
        while not self._free.acquire(timeout=0.2):
            if cancelled.is_set():
                raise Cancelled("the call was cancelled before its program was started")
        try:
            yield
        finally:
            self._free.release()

    def close(self) -> None:
        """Nothing is held between calls."""


class Run:
    """One program on its way to its end. `cancel` may be called from any thread."""

    def __init__(self, launcher: Launcher, what: Launch) -> None:
        self._started = time.monotonic()
        self._cancels = 0
        self._interrupted = False
        self.process: Process = launcher.launch(what)

    def cancel(self, *, interrupt: bool = False) -> None:
        """Ask the tree to end now, on `interrupt` as Ctrl-C does; a second time, do not wait for it any more."""
        self._interrupted = interrupt
        self._cancels += 1
        self.process.wake()

    def to_end(self, deliver: Deliver, *, timeout_ms: int | None, grace_ms: int) -> Ending:
        """Hand over output until the program has ended. Always ends, and always takes the tree with it."""
        process = self.process
        try:
            process.pump(deliver, None if timeout_ms is None else timeout_ms / 1000)
            cancelled = process.ended is None and self._cancels > 0
            timed_out = process.ended is None and not cancelled
            if process.ended is None:
                self._end_tree(deliver, grace_ms)
                pipes_held = process.holds_pipes
            else:
                pipes_held = self._end_rest(deliver)
        except BaseException:
            process.kill()
            raise
        finally:
            process.close()
        assert process.ended is not None
        duration_ms = round((time.monotonic() - self._started) * 1000)
        return Ending(process.ended, timed_out, cancelled, pipes_held and not timed_out, duration_ms)

    def _end_tree(self, deliver: Deliver, grace_ms: int) -> None:
        if self._interrupted:
            self.process.interrupt()
        else:
            self.process.ask_to_end()
        self._wait(deliver, grace_ms / 1000)
        is_over = self.process.ended is not None and not self.process.holds_pipes
        self.process.kill()  # also what went away from the program, and holds nothing of it
        if not is_over:
            self.process.pump(deliver, KILL_SECONDS)

    def _end_rest(self, deliver: Deliver) -> bool:
        """End what the program left behind with its outputs open; whether there was something."""
        # What ends with its input, as `tee` does in `exec > >(tee log)`, still has something to say.
        if not self.process.holds_pipes or self.process.pump(deliver, DRAIN_SECONDS):
            return False
        self.process.ask_to_end()
        if not self.process.pump(deliver, ASKED_SECONDS):
            self.process.kill()
            self.process.pump(deliver, KILL_SECONDS)
        return True

    def _wait(self, deliver: Deliver, seconds: float) -> None:
        """Until the program has ended and nothing holds its outputs, such as a part of it that cleans up; not longer
        than `seconds`, nor when the call is taken back once more."""
        asked, deadline = self._cancels, time.monotonic() + seconds
        while self._cancels == asked and (left := deadline - time.monotonic()) > 0:
            if self.process.pump(deliver, left):
                return
