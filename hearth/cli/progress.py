"""A line on standard error that tells a person that work goes on, and how far it is."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import suppress
from typing import Self

from hearth.cli.text import duration, escape_controls

FIRST_S = 1.0  # what ends sooner shows nothing
EVERY_S = 0.2


class Progress:
    """Rewrites one line while it is open; `note` says how far the work is. Nothing where nobody looks."""

    def __init__(self, name: str, *, shown: bool, first_s: float = FIRST_S) -> None:
        self._name = name
        self._shown = shown
        self._first_s = first_s
        self._note = ""
        self._width = 0
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def note(self, text: str) -> None:
        """What the line says from now on, such as `12,000 files`; cheap enough to be called often."""
        self._note = text

    def __enter__(self) -> Self:
        if self._shown:
            self._thread = threading.Thread(target=self._run, name="progress", daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Take the line away; what is printed next stands in its place."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        if self._width:
            self._write("")

    def _run(self) -> None:
        started = time.monotonic()
        pause = self._first_s
        while not self._ended.wait(pause):
            elapsed = duration(round((time.monotonic() - started) * 1000))
            self._write(f"{self._name}: {elapsed}" + (f", {escape_controls(self._note)}" if self._note else ""))
            pause = EVERY_S

    def _write(self, line: str) -> None:
        line = line[:78]
        with suppress(OSError):
            sys.stderr.write("\r" + line.ljust(self._width) + ("" if line else "\r"))
            sys.stderr.flush()
        self._width = len(line)
