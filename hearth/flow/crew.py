"""Who works on the nodes of a flow."""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Protocol

LOOK_S = 0.5  # on Windows a wait without a limit could not be interrupted by Ctrl-C


class Crew(Protocol):
    """Threads."""

    def submit(self, act: Callable[[], None], *, is_short: bool) -> None:
        """Do it as soon as a thread is free. Raises `TooManyCalls`, `Closing`."""


class Foreground:
    """The thread that called, which works itself until `done`, and as many more as there is work for."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._tasks: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._idle = 1  # the caller comes when it has submitted what there is
        self._waiting = 0
        self._started: list[threading.Thread] = []
        self._done = False

    def submit(self, act: Callable[[], None], *, is_short: bool = False) -> None:  # noqa: ARG002
        with self._lock:
            self._waiting += 1
            starts = self._waiting > self._idle and len(self._started) < self._threads - 1
            if starts:
                self._idle += 1
                self._started.append(threading.Thread(target=self._help, name="flow", daemon=True))
                self._started[-1].start()
        self._tasks.put(act)

    def done(self) -> None:
        """There is nothing more to do; `work` returns."""
        with self._lock:
            self._done = True
            threads = 1 + len(self._started)
        for _ in range(threads):
            self._tasks.put(None)

    def work(self) -> None:
        """Do what is submitted until `done`, and wait for the others."""
        while not self._done:
            try:
                act = self._tasks.get(timeout=LOOK_S)
            except Empty:
                continue
            if act is not None:
                self._do(act)
        for thread in self._started:
            while thread.is_alive():
                thread.join(LOOK_S)

    def _help(self) -> None:
        while not self._done:
            act = self._tasks.get()
            if act is not None:
                self._do(act)

    def _do(self, act: Callable[[], None]) -> None:
        with self._lock:
            self._waiting -= 1
            self._idle -= 1
        try:
            act()
        finally:
            with self._lock:
                self._idle += 1
