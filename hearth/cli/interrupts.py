"""Signals while a program runs: they go to the program, and hearth stays to see it end."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from hearth.cancellation import Cancellation
from hearth.cli import streams


class Heard:
    """The first signal that came, if one did."""

    number: int | None = None

    @property
    def exit_status(self) -> int | None:
        return None if self.number is None else streams.status_of(self.number)


@contextmanager
def passed_on(cancelled: Cancellation) -> Iterator[Heard]:
    """Ctrl-C and SIGTERM take the call back instead of ending hearth; a second one takes the patience away."""
    heard = Heard()

    def hear(number: int, _: FrameType | None) -> None:
        heard.number = heard.number or number
        if number == signal.SIGINT:
            cancelled.interrupt()
        else:
            cancelled.set()

    before = {number: signal.signal(number, hear) for number in (signal.SIGINT, *streams.ending_signals())}
    try:
        yield heard
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def passed_on_if(hears: bool, cancelled: Cancellation) -> Iterator[Heard]:
    """`passed_on` for what hears signals; others end as the process does."""
    if not hears:
        yield Heard()
        return
    with passed_on(cancelled) as heard:
        yield heard
