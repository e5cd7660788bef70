"""The process around a command: its three streams and the signals that end it."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, BinaryIO


class Terminated(BaseException):
    """SIGTERM, a terminal that went away, or Ctrl-Break on Windows: everything unwinds, so that temporary files and
    locks go."""


_heard: list[int] = []  # the signals that were to end this process


def prepare() -> None:
    """Make the streams what the rest of the edge relies on, and let SIGTERM unwind."""
    _fill_gaps()
    for stream in (sys.stdout, sys.stderr):
        if stream.encoding.lower() != "utf-8" and not stream.isatty():
            # A Windows pipe would be in the ANSI code page, where most names cannot be written.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace", newline="\n")  # type: ignore[union-attr]
    _on_termination()


def _fill_gaps() -> None:
    """Open the null device in the place of a stream that the caller closed (`>&-`), or the next file that hearth
    opens would become it."""
    while (descriptor := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(descriptor, True)
    os.close(descriptor)
    # A closed standard input stays one: an empty one would make a file empty.
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115


def standard_input() -> BinaryIO:
    """The bytes of standard input. Raises `InvalidInput` where the caller closed it."""
    if sys.stdin is None:
        from hearth.errors import invalid

        raise invalid("", "missing", "standard input is closed")
    return sys.stdin.buffer


def _on_termination() -> None:
    import signal

    def terminate(number: int, _: FrameType | None) -> None:
        signal.signal(number, signal.SIG_IGN)  # a second one must not break the clean-up of the first
        _heard.append(number)
        raise Terminated

    for number in ending_signals():
        signal.signal(number, terminate)


def ending_signals() -> Iterator[int]:
    """The signals that ask a process to end, without what `nohup` had ignored."""
    import signal

    for name in ("SIGTERM", "SIGBREAK", "SIGHUP"):
        number: Any = getattr(signal, name, None)
        if number is not None and not (name == "SIGHUP" and signal.getsignal(number) == signal.SIG_IGN):
            yield number


def status_of(number: int) -> int:
    """The exit status of a process that a signal ended: 130, 143; 129 where the terminal went away."""
    import signal

    return 143 if number == getattr(signal, "SIGBREAK", None) else 128 + number


def status_of_signal() -> int | None:
    """The status that a signal decided, if one came. Libraries that run Python while they wait (SQLite, the watcher)
    may have turned it into something else."""
    return status_of(_heard[0]) if _heard else None


@contextmanager
def replaced(given: str, *, silent: bool) -> Iterator[None]:
    """A command inside a command: a standard input of its own, and outputs that go nowhere where it is silent."""
    before = sys.stdin, sys.stdout, sys.stderr
    sys.stdin = io.TextIOWrapper(io.BytesIO(given.encode()), "utf-8")
    if silent:
        sys.stdout, sys.stderr = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
    try:
        yield
    finally:
        sys.stdin, sys.stdout, sys.stderr = before


def abandon_output() -> None:
    """The reader of our output went away; Python would fail once more when it flushes at exit."""
    with suppress(OSError, ValueError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
