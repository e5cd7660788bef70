"""One job's program under way, as the worker that looks after it sees it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from hearth.engine.outputs import Outputs
from hearth.engine.spec import Spec
from hearth.platforms.processes import Exit, Stream
from hearth.store.jobs import Job, JobState

if TYPE_CHECKING:
    from hearth.platforms.detached import Detached

SOON_S, LATE_S = 0.1, 2.0  # between two looks at how much was printed
GONE_S = 5.0  # for what was killed to be gone
GONE_PAUSE_S = 0.02  # between two looks whether it is


UNKNOWN = Exit(None, None, None, None)
LOST = "what looked after it is gone, so nobody knows how it ended; what was left of it was ended"


class Ending(StrEnum):
    """Why a program is being ended."""

    CANCEL = "cancel"
    TIMEOUT = "timeout"
    OUTPUT = "output"  # it prints more than can be kept, where the file system makes no holes


@dataclass(slots=True)
class Running:
    """A program. `deadline` and what else is a time here is of the clock that only grows, in seconds."""

    job: Job
    spec: Spec
    process: Detached
    outputs: Outputs
    deadline: float | None
    ending: Ending | None = None
    kill_at: float | None = None
    killed_at: float | None = None
    asked_at: float = 0.0
    look_at: float = field(default_factory=lambda: time.monotonic() + SOON_S)
    has_ended: bool = False  # as far as `is_over` has seen
    _pause: float = SOON_S
    _seen_bytes: int = 0

    def end(self, why: Ending, grace_ms: int | None = None) -> None:
        """Ask the program to end; after the grace it is killed. A second time changes only the grace, where one is
        given in place of the job's own."""
        if self.ending is None:
            self.ending = why
            self.asked_at = time.monotonic()
            self.kill_at = self.asked_at + self.spec.grace_ms / 1000
            self.process.ask_to_end()
        if grace_ms is not None:
            self.kill_at = self.asked_at + grace_ms / 1000

    def look(self, now: float) -> Ending | None:
        """Do what is due; why the program is to be ended, if it is."""
        if self.kill_at is not None and now >= self.kill_at and self.killed_at is None:
            self.killed_at = now
            self.process.kill()
        if now >= self.look_at:
            self._look_at_outputs(now)
            if not self._within_bounds():
                return Ending.OUTPUT
        if self.deadline is not None and now >= self.deadline and self.ending is None:
            return Ending.TIMEOUT
        return None

    def _look_at_outputs(self, now: float) -> None:
        stdout, stderr = map(self.outputs.size, Stream)
        self.outputs.order.saw((stdout, stderr))
        grew = stdout + stderr - self._seen_bytes
        self._seen_bytes = stdout + stderr
        # Who prints a lot is looked at often, since the disk fills meanwhile.
        self._pause = SOON_S if grew > self.outputs.most_bytes // 16 else min(self._pause * 2, LATE_S)
        self.look_at = now + self._pause

    def _within_bounds(self) -> bool:
        bounded = [self.outputs.bound(stream) for stream in Stream]  # each of them
        return all(bounded)

    @property
    def next_look(self) -> float:
        """When `look` has something to do, if nothing happens before."""
        if self.has_ended:  # and something of it is not gone yet
            return time.monotonic() + GONE_PAUSE_S
        times = [self.look_at]
        if self.kill_at is not None and self.killed_at is None:
            times.append(self.kill_at)
        if self.deadline is not None and self.ending is None:
            times.append(self.deadline)
        return min(times)

    @property
    def is_over(self) -> bool:
        """Whether the program has ended, and of one that was to be ended, or ended unseen, nothing is left."""
        self.has_ended = True  # so what fails now is tried again soon, and not at once
        ended = self.process.ended
        if ended is None:
            self.has_ended = False
            return False
        if self.ending is None and (ended.code is not None or ended.signal is not None):
            return True
        if self.killed_at is None:  # also what went away from its group, which nobody asked to end
            self.killed_at = time.monotonic()
            self.process.kill()
        return self.process.is_gone() or time.monotonic() > self.killed_at + GONE_S


@dataclass(frozen=True, slots=True)
class Ended:
    """What became of a run, before it is stored."""

    job: Job
    state: JobState
    exit: Exit = UNKNOWN
    reason: str | None = None
    message: str | None = None
    outputs: Outputs | None = None  # None: it never ran, so there are none
    seen: float = field(default_factory=time.monotonic)

    def ago_ms(self, since_start_ms: int) -> int:
        """How long ago it ended: before it was seen where nobody looked after it, and before it is stored where the
        database is busy. A note that says before the start is by a clock that was moved since, and not believed."""
        ago_ms = round((time.monotonic() - self.seen) * 1000)
        if self.exit.noted_at is not None:
            noted_ms = round((time.time() - self.exit.noted_at) * 1000)
            ago_ms = max(ago_ms, noted_ms if noted_ms <= since_start_ms else 0)
        return min(ago_ms, since_start_ms)


def outcome(running: Running) -> Ended:
    """What the end of a program means."""
    exit_ = running.process.ended
    assert exit_ is not None
    return ended(running.job, running.outputs, exit_, running.ending)


def ended(job: Job, outputs: Outputs, exit_: Exit, ending: Ending | None) -> Ended:
    """The same for a program that nobody looked after when it ended."""
    if ending is Ending.CANCEL:
        return Ended(job, JobState.CANCELLED, exit_, outputs=outputs)
    if ending is Ending.TIMEOUT:
        return Ended(job, JobState.TIMED_OUT, exit_, "timed_out", "its time limit ran out", outputs)
    if ending is Ending.OUTPUT:
        message = "it printed more than is kept, and this file system cannot leave the middle of a file out"
        return Ended(job, JobState.FAILED, exit_, "output_limit", message, outputs)
    if exit_.code is None and exit_.signal is None:
        return Ended(job, JobState.LOST, exit_, "exit_unknown", LOST, outputs)
    if exit_.signal is not None:
        return Ended(job, JobState.FAILED, exit_, "signal", _signalled(exit_.signal), outputs)
    if exit_.code:
        return Ended(job, JobState.FAILED, exit_, "exit_code", f"it ended with {exit_.code}", outputs)
    return Ended(job, JobState.COMPLETED, exit_, outputs=outputs)


def _signalled(number: int) -> str:
    # The shell above a program tells both alike, and programs that run others, such as containers, pass it on.
    return f"signal {number} ended it, or it ended with {128 + number}, which shells take for the same"
