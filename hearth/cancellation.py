"""Taking a call back: loops ask whether it was, and whatever waits elsewhere is rung."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event, Lock


class Cancellation(Event):
    """An event that also calls what waits where no event is looked at, such as on a program's outputs.

    Each `set` calls again, so that one who insists is heard; it may come from any thread and from a signal's handler.
    """

    def __init__(self) -> None:
        super().__init__()
        self.by_interrupt = False
        self._changing = Lock()  # not taken by `set`, which may interrupt the thread that holds it
        self._callbacks: tuple[Callable[[], object], ...] = ()

    def interrupt(self) -> None:
        """As `set`, by a person's Ctrl-C, which programs are told as such."""
        self.by_interrupt = True
        self.set()

    def set(self) -> None:
        super().set()
        for callback in self._callbacks:
            callback()

    @contextmanager
    def calls(self, callback: Callable[[], object]) -> Iterator[None]:
        """While the block runs, `set` calls `callback`; at once where it was set before."""
        with self._changing:
            self._callbacks = (*self._callbacks, callback)
        try:
            if self.is_set():
                callback()
            yield
        finally:
            with self._changing:
                self._callbacks = tuple(each for each in self._callbacks if each is not callback)
