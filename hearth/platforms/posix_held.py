"""A process of Linux or macOS that is held by a descriptor, which can be read once it has ended."""

from __future__ import annotations

import errno
import os
import select
import signal
import time
from collections.abc import Callable

from hearth.platforms.process_table import Signal
from hearth.platforms.psutil_table import is_zombie, signal_number, started_ms

FIRST_PAUSE, LONGEST_PAUSE = 0.01, 0.1  # seconds between two looks, where there is nothing to wait on


class PosixHeld:
    """`descriptor` can be read once the process has ended; `deliver` sends a signal to exactly this process."""

    def __init__(self, pid: int, descriptor: int, deliver: Callable[[int], None]) -> None:
        self.pid = pid
        self._descriptor = descriptor
        self._deliver = deliver
        self._poll = select.poll()
        self._poll.register(descriptor, select.POLLIN)

    @property
    def started_ms(self) -> int | None:
        return started_ms(self.pid)

    @property
    def waitable(self) -> int:
        return self._descriptor

    def wait(self, seconds: float) -> bool:
        return bool(self._poll.poll(seconds * 1000))

    def ask_to_end(self) -> bool:
        self.send(Signal.TERM)
        return True

    def send(self, what: Signal) -> None:
        if self.wait(0):
            raise ProcessLookupError(errno.ESRCH, os.strerror(errno.ESRCH))
        self._deliver(signal_number(what))

    def close(self) -> None:
        os.close(self._descriptor)


class PolledHeld:
    """A process where the system offers no descriptor of it: its number and its start, looked at now and then."""

    waitable = None

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.started_ms = started_ms(pid)
        if self.started_ms is None:
            raise ProcessLookupError(errno.ESRCH, os.strerror(errno.ESRCH))

    def wait(self, seconds: float) -> bool:
        deadline, pause = time.monotonic() + seconds, FIRST_PAUSE
        while not self._has_ended():
            left = deadline - time.monotonic()
            if left <= 0:
                return False
            time.sleep(min(pause, left))
            pause = min(pause * 2, LONGEST_PAUSE)
        return True

    def _has_ended(self) -> bool:
        return started_ms(self.pid) != self.started_ms or is_zombie(self.pid)

    def ask_to_end(self) -> bool:
        self.send(Signal.TERM)
        return True

    def send(self, what: Signal) -> None:
        if self._has_ended():
            raise ProcessLookupError(errno.ESRCH, os.strerror(errno.ESRCH))
        os.kill(self.pid, signal_number(what))

    def close(self) -> None:
        pass


def hold_by_pidfd(pid: int) -> PosixHeld | PolledHeld:
    """Linux: pidfd_open(2). What is sent goes to this process or to none, whatever became of its number."""
    try:
        descriptor = os.pidfd_open(pid)
    except OSError as error:
        if error.errno in (errno.ENOSYS, errno.EPERM):  # sandboxes that do not know the call
            return PolledHeld(pid)
        raise
    return PosixHeld(pid, descriptor, lambda number: signal.pidfd_send_signal(descriptor, number))


def hold_by_queue(pid: int) -> PosixHeld:
    """macOS: a kqueue(2). Signals go by number, and only while the queue has not told of the end."""
    from hearth.platforms.macos import exit_descriptor

    return PosixHeld(pid, exit_descriptor(pid), lambda number: os.kill(pid, number))
