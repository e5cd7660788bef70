"""The open input of a program that outlives hearth: a FIFO that every process of the user may write to."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import time
from collections.abc import Callable

from hearth.errors import InputClosed
from hearth.platforms.posix_wrapper import CLOSE, INPUT, status_of

CLOSE_SECONDS = 2.0  # until a shell that was started has opened what it is told by
_PAUSE = 0.002


def send(folder: str, data: bytes, seconds: float) -> int:
    """As `Detacher.send`."""
    deadline = time.monotonic() + seconds
    if not os.path.exists(os.path.join(folder, CLOSE)):
        raise InputClosed("the program's input is not open")
    # Before the program has it, its shell does for a moment, which reads nothing.
    _until(lambda: status_of(folder).open or _is_over(folder), deadline)
    descriptor = _writer(folder, INPUT) if status_of(folder).open else None
    if descriptor is None:
        raise InputClosed("nobody reads the program's input: it has ended, closed its input, or not begun yet")
    try:
        return _written(descriptor, data, deadline)
    finally:
        os.close(descriptor)


def _written(descriptor: int, data: bytes, deadline: float) -> int:
    ready = select.poll()
    ready.register(descriptor, select.POLLOUT)
    left = memoryview(data)
    while left:
        try:
            left = left[os.write(descriptor, left) :]
        except BlockingIOError:
            if not ready.poll(max(0.0, deadline - time.monotonic()) * 1000):
                break
        except BrokenPipeError:
            if len(left) == len(data):
                raise InputClosed("the program has closed its input") from None
            break
    return len(data) - len(left)


def close(folder: str) -> None:
    """As `Detacher.close_stdin`."""
    path = os.path.join(folder, CLOSE)
    if not os.path.exists(path):
        return
    deadline = time.monotonic() + CLOSE_SECONDS
    _until(lambda: _write_line(folder) or _is_over(folder), deadline)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def _write_line(folder: str) -> bool:
    descriptor = _writer(folder, CLOSE)
    if descriptor is None:
        return False
    with contextlib.suppress(BrokenPipeError, BlockingIOError):
        os.write(descriptor, b"\n")
    os.close(descriptor)
    return True


def _until(true: Callable[[], bool], deadline: float) -> None:
    while not true() and time.monotonic() < deadline:
        time.sleep(_PAUSE)


def _writer(folder: str, name: str) -> int | None:
    """The writing end of a FIFO; None when nobody has the other one."""
    try:
        return os.open(os.path.join(folder, name), os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENXIO):
            return None
        raise


def _is_over(folder: str) -> bool:
    noted = status_of(folder)
    if noted.never or noted.exit is not None:
        return True
    # The shell has this one open as long as it lives, from before it notes that the program starts.
    shell = _writer(folder, CLOSE)
    if shell is not None:
        os.close(shell)
    return shell is None and noted.started
