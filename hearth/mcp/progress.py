"""Telling a client how far a call is: from the thread that works to the loop that writes, and not too often."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable
from typing import Self

EVERY_S = 0.25

Report = Callable[[float, str], Awaitable[None]]


class Progress:
    """`note` may be called often, from any thread; the numbers that are reported only grow."""

    def __init__(self, report: Report | None) -> None:
        self._report = report
        self._loop = asyncio.get_running_loop()
        self._next = time.monotonic() + EVERY_S
        self._number = 0
        self._sending: set[asyncio.Task[None]] = set()

    def note(self, text: str) -> None:
        now = time.monotonic()
        if self._report is None or now < self._next:
            return
        self._next = now + EVERY_S
        with contextlib.suppress(RuntimeError):  # the loop has ended, and nobody listens
            self._loop.call_soon_threadsafe(self._send, text)

    def _send(self, text: str) -> None:
        if self._report is None:
            return
        self._number += 1
        task = asyncio.ensure_future(self._report(self._number, text))
        self._sending.add(task)
        task.add_done_callback(self._sent)

    def _sent(self, task: asyncio.Task[None]) -> None:
        self._sending.discard(task)
        if not task.cancelled():
            task.exception()  # a client that no longer listens is no fault

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._report = None
        for task in tuple(self._sending):
            task.cancel()
