"""The open input of a program that outlives hearth: a FIFO that every process of the user may write to."""

from __future__ import annotations

import contextlib
import errno
import os
import select
import time

from hearth.errors import InputClosed
from hearth.platforms.posix_wrapper import CLOSE, INPUT, status_of

OPEN_SECONDS = 1.0  # until a program that was let go has its input open
_PAUSE = 0.002


def send(folder: str, data: bytes, seconds: float) -> int:
    """As `Detacher.send`."""
    deadline = time.monotonic() + seconds
    if not os.path.exists(os.path.join(folder, CLOSE)):
        raise InputClosed("the program's input is not open")
    descriptor = _opened(folder, INPUT, min(seconds, OPEN_SECONDS))
    if descriptor is None:
        raise InputClosed("nobody reads the program's input: it has ended, or closed its input")
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
    descriptor = _opened(folder, CLOSE, OPEN_SECONDS)
    if descriptor is not None:
        with contextlib.suppress(BrokenPipeError, BlockingIOError):
            os.write(descriptor, b"\n")
        os.close(descriptor)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def _opened(folder: str, name: str, seconds: float) -> int | None:
    """The writing end of a FIFO; None when nobody reads it, also not in a moment, when the program has begun."""
    deadline = time.monotonic() + seconds
    while (descriptor := _writer(folder, name)) is None:
        if _has_ended(folder) or time.monotonic() >= deadline:
            return None
        time.sleep(_PAUSE)
    return descriptor


def _writer(folder: str, name: str) -> int | None:
    try:
        return os.open(os.path.join(folder, name), os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENXIO):
            return None
        raise


def _has_ended(folder: str) -> bool:
    noted = status_of(folder)
    if noted.exit is not None or noted.never:
        return True
    # The shell has this one open as long as it lives, from before it notes that the program starts.
    shell = _writer(folder, CLOSE)
    if shell is not None:
        os.close(shell)
    return shell is None and noted.started
