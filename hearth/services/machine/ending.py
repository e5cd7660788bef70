"""Ending processes that hearth did not start: ask, wait, kill, and look who is left."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, closing
from enum import StrEnum
from types import TracebackType
from typing import Self

from hearth.errors import Cancelled
from hearth.platforms.process_table import Held, Listed, ProcessTable, Signal
from hearth.runtime import Runtime
from hearth.services.machine.process_facts import same_start

KILL_SECONDS = 5.0  # for the system to carry out a kill
NOTICE_SECONDS = 0.2  # for a process to end by a signal that need not end it
LOOK_SECONDS = 0.25  # between two looks whether the call was cancelled; the end itself is noticed at once


class Outcome(StrEnum):
    """What became of a process."""

    WOULD_END = "would_end"
    ENDED = "ended"
    KILLED = "killed"
    GONE = "gone"  # it had ended before anything was sent
    SIGNALLED = "signalled"  # it got the signal that was asked for, and runs on
    RUNNING = "running"
    DENIED = "denied"
    REFUSED = "refused"
    UNSUPPORTED = "unsupported"


def wait_for_end(runtime: Runtime, held: Held, seconds: float | None) -> bool:
    """Whether the process ended within that time (None: however long it takes). Raises `Cancelled`."""
    deadline = None if seconds is None else runtime.clock.monotonic() + seconds
    while True:
        left = LOOK_SECONDS if deadline is None else deadline - runtime.clock.monotonic()
        if held.wait(max(0.0, min(left, LOOK_SECONDS))):
            return True
        if left <= 0:
            return False
        if runtime.cancelled.is_set():
            raise Cancelled("the call was cancelled")


class Ending:
    """The end of some processes, each held from before it is looked at until the last report."""

    def __init__(self, runtime: Runtime, table: ProcessTable, targets: list[Listed], signal: Signal | None) -> None:
        self.runtime = runtime
        self.table = table
        self.targets: list[Listed] = []
        self.signal = signal
        self.outcomes: dict[int, Outcome] = {}
        self.reasons: dict[int, str] = {}
        self._first = targets
        self._held: dict[int, Held] = {}
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        self._hold(self._first)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def run(self, grace_ms: int, *, below: Callable[[list[Listed]], list[Listed]] | None) -> None:
        """`below` finds the trees of processes, to end what the targets started meanwhile, too."""
        if self.signal is not None:
            self._send_only(self.signal)
            return
        asked = [pid for pid in self._alive() if self._try(pid, lambda held: held.ask_to_end()) is True]
        self._wait(asked, grace_ms / 1000)
        for _ in range(3):  # what is about to be killed may start another one
            if below is not None:
                # Before their parents are killed: nothing tells whose they were afterwards.
                alive = set(self._alive())
                self._hold(below([each for each in self.targets if each.pid in alive]))
            if not (left := self._alive()):
                return
            self._kill(left)
        for pid in self._alive():
            self.outcomes[pid] = Outcome.RUNNING

    def _kill(self, pids: list[int]) -> None:
        for pid in pids:
            if self._try(pid, lambda held: held.send(Signal.KILL)) is not False:
                self.outcomes[pid] = Outcome.KILLED
        self._wait(pids, KILL_SECONDS)

    def _hold(self, targets: list[Listed]) -> None:
        """Hold those that are not held yet."""
        for each in targets:
            if each.pid not in self.outcomes:
                self.targets.append(each)
                self.outcomes[each.pid] = self._held_or(each)

    def _held_or(self, process: Listed) -> Outcome:
        try:
            held = self._stack.enter_context(closing(self.table.hold(process.pid)))
        except ProcessLookupError:
            return Outcome.GONE
        except OSError as error:
            self.reasons[process.pid] = error.strerror or str(error)
            return Outcome.DENIED
        if held.wait(0) or (process.started_ms is not None and not same_start(held.started_ms, process.started_ms)):
            return Outcome.GONE  # and the number may mean another process by now
        self._held[process.pid] = held
        return Outcome.ENDED

    def _alive(self) -> list[int]:
        return [pid for pid, held in self._held.items() if self.outcomes[pid] not in _SETTLED and not held.wait(0)]

    def _try(self, pid: int, act: Callable[[Held], bool | None]) -> bool | None:
        """What `act` answers; False, and the outcome noted, where the system does not do it."""
        try:
            return act(self._held[pid])
        except ProcessLookupError:
            return None
        except ValueError as error:
            self.outcomes[pid], self.reasons[pid] = Outcome.UNSUPPORTED, str(error)
        except OSError as error:
            self.outcomes[pid], self.reasons[pid] = Outcome.DENIED, error.strerror or str(error)
        return False

    def _wait(self, pids: list[int], seconds: float) -> None:
        deadline = self.runtime.clock.monotonic() + seconds
        for pid in pids:
            wait_for_end(self.runtime, self._held[pid], max(0.0, deadline - self.runtime.clock.monotonic()))

    def _send_only(self, signal: Signal) -> None:
        sent = [pid for pid in self._alive() if self._try(pid, lambda held: held.send(signal)) is not False]
        self._wait(sent, KILL_SECONDS if signal is Signal.KILL else NOTICE_SECONDS)
        for pid in sent:
            if self._held[pid].wait(0):
                self.outcomes[pid] = Outcome.KILLED if signal is Signal.KILL else Outcome.ENDED
            else:
                self.outcomes[pid] = Outcome.RUNNING if signal is Signal.KILL else Outcome.SIGNALLED


_SETTLED = frozenset({Outcome.DENIED, Outcome.UNSUPPORTED, Outcome.GONE})


def end_group(runtime: Runtime, table: ProcessTable, leader: Listed, signal: Signal | None, grace_ms: int) -> Outcome:
    """End the group that a process leads. Raises `PermissionError`."""
    with closing(table.hold(leader.pid)) as held:
        if not same_start(held.started_ms, leader.started_ms):
            return Outcome.GONE
        table.send_to_group(leader.pid, signal or Signal.TERM)
        ended = wait_for_end(runtime, held, grace_ms / 1000 if signal is None else NOTICE_SECONDS)
        if signal is not None:
            return Outcome.ENDED if ended else Outcome.SIGNALLED
        try:
            table.send_to_group(leader.pid, Signal.KILL)  # to those that are left of it
        except ProcessLookupError:
            return Outcome.ENDED
        if ended:
            return Outcome.ENDED
        return Outcome.KILLED if wait_for_end(runtime, held, KILL_SECONDS) else Outcome.RUNNING
