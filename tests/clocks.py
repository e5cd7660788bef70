"""Clocks that tests set."""

from __future__ import annotations

from hearth.clock import Clock, parse_timestamp, timestamp


class SetClock(Clock):
    """Shows what it was set to, and stands still."""

    def __init__(self, at: str) -> None:
        self._now_ms = parse_timestamp(at)

    def now_ms(self) -> int:
        return self._now_ms

    def set(self, at: str) -> None:
        self._now_ms = parse_timestamp(at)

    def move(self, milliseconds: int) -> None:
        self._now_ms += milliseconds

    def __str__(self) -> str:
        return timestamp(self._now_ms)


class TickingClock(SetClock):
    """Is a millisecond later each time that it is looked at."""

    def now_ms(self) -> int:
        self.move(1)
        return super().now_ms()


class ShiftedClock(Clock):
    """Goes on from a time that it is set to."""

    def __init__(self, at: str) -> None:
        self.set(at)

    def now_ms(self) -> int:
        return super().now_ms() + self._ahead_ms

    def set(self, at: str) -> None:
        self._ahead_ms = parse_timestamp(at) - super().now_ms()
