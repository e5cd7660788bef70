"""The process around a command: its three streams and the signals that end it."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any


class Terminated(BaseException):
    """SIGTERM, or Ctrl-Break on Windows: everything unwinds, so that temporary files and locks go."""


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
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


def _on_termination() -> None:
    import signal

    def terminate(number: int, _: FrameType | None) -> None:
        signal.signal(number, signal.SIG_IGN)  # a second one must not break the clean-up of the first
        raise Terminated

    for name in ("SIGTERM", "SIGBREAK"):
        number: Any = getattr(signal, name, None)
        if number is not None:
            signal.signal(number, terminate)


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
