"""Bells on Linux and macOS: a named pipe each, which its process alone reads."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import stat
import time
from collections.abc import Sequence

from hearth.platforms import bells

CAPACITY_BYTES = 65_536  # of a pipe, at most, as long as nobody widens it
_LONGEST_WAIT_SECONDS = 86_400.0  # poll(2) takes no more than 24 days
_STALE_SECONDS = 60
# Both ends in one: without a writer of its own the pipe would be at its end, thus ready, after the first ring.
_OWN = os.O_RDWR | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
_RING = os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_NOCTTY | os.O_CLOEXEC


class PosixBell:
    """A bell by the reading end of its pipe."""

    def __init__(self, waitable: int, writer: int | None, path: str | None) -> None:
        self.waitable = waitable
        self._writer = writer
        self._path = path
        self.name = None if path is None else os.path.basename(path)

    def clear(self) -> None:
        with contextlib.suppress(BlockingIOError):
            if self.waitable >= 0:
                os.read(self.waitable, CAPACITY_BYTES)

    def close(self) -> None:
        if self.waitable < 0:
            return
        if self._path is not None:
            with contextlib.suppress(OSError):
                os.unlink(self._path)
        for descriptor in (self.waitable, self._writer):
            if descriptor is not None:
                os.close(descriptor)
        self.waitable = -1


def make_bell(folder: str) -> PosixBell:
    """A bell in an existing folder; one that nobody can ring where there can be no named pipe."""
    with contextlib.suppress(OSError):
        _remove_stale(folder)
    try:
        return _named(folder)
    except OSError:  # FAT and some shares have no named pipes, a full disk no room for one
        reader, writer = os.pipe()
        os.set_blocking(reader, False)
        return PosixBell(reader, writer, None)


def _named(folder: str) -> PosixBell:
    name = bells.new_name()
    path, hidden = os.path.join(folder, name), os.path.join(folder, f".{name}")
    os.mkfifo(hidden, 0o600)
    descriptor = -1
    try:
        descriptor = os.open(hidden, _OWN)
        # Only now does it show: what nobody has open is taken for dead.
        os.rename(hidden, path)
    except BaseException:
        if descriptor >= 0:
            os.close(descriptor)
        with contextlib.suppress(OSError):
            os.unlink(hidden)
        raise
    return PosixBell(descriptor, None, path)


def _remove_stale(folder: str) -> None:
    """Remove what was left by a process that was killed while it made its bell."""
    before = time.time() - _STALE_SECONDS
    for name in os.listdir(folder):
        if name.startswith(".") and bells.is_name(name[1:]):
            path = os.path.join(folder, name)
            with contextlib.suppress(OSError):
                found = os.lstat(path)
                if stat.S_ISFIFO(found.st_mode) and found.st_mtime < before:
                    os.unlink(path)


def ring(folder: str, but: str | None = None) -> int:
    """Ring every bell of the folder but that one, and remove those whose process is gone; how many heard it."""
    try:
        names = os.listdir(folder)
    except OSError:
        return 0
    return sum(_ring(os.path.join(folder, name)) for name in names if name != but and bells.is_name(name))


def _ring(path: str) -> bool:
    try:
        descriptor = os.open(path, _RING)
    except OSError as error:
        if error.errno == errno.ENXIO:
            _remove_dead(path)
        return False
    try:
        # What only has the name of a bell is not written to.
        return stat.S_ISFIFO(os.fstat(descriptor).st_mode) and os.write(descriptor, b"!") == 1
    except BlockingIOError:  # full: it has been ringing for long
        return True
    except BrokenPipeError:
        _remove_dead(path)
        return False
    finally:
        os.close(descriptor)


def _remove_dead(path: str) -> None:
    with contextlib.suppress(OSError):
        if stat.S_ISFIFO(os.lstat(path).st_mode):  # a socket has no reader, either
            os.unlink(path)


def wait_any(waitables: Sequence[int], seconds: float | None) -> list[int]:
    """Those of the descriptors that can be read, at their end or broken, once there is one; [] after the time."""
    bells.refuse_closed(waitables)
    poll = select.poll()
    for each in set(waitables):
        poll.register(each, select.POLLIN)
    deadline = None if seconds is None else time.monotonic() + seconds
    while True:
        left = None if deadline is None else max(0.0, deadline - time.monotonic())
        slice_ms = None if left is None else min(left, _LONGEST_WAIT_SECONDS) * 1000
        if ready := dict(poll.poll(slice_ms)):
            _refuse_closed(ready)
            return [each for each in waitables if each in ready]
        if left is not None and left <= _LONGEST_WAIT_SECONDS:
            return []


def _refuse_closed(ready: dict[int, int]) -> None:
    # It would be ready for ever, and who waits in a loop would never rest again.
    for descriptor, events in ready.items():
        if events & select.POLLNVAL:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF), str(descriptor))
