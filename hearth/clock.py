"""The time, and how it is written."""

from __future__ import annotations

import time
from datetime import UTC, datetime


class Clock:
    """The time. Tests hand in one that stands still."""

    def now_ms(self) -> int:
        """Milliseconds since 1970, UTC; it may jump."""
        return time.time_ns() // 1_000_000

    def monotonic(self) -> float:
        """Seconds that only grow, for measuring and for limits."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Wait where the system offers nothing to wait for."""
        time.sleep(seconds)


def timestamp(milliseconds: int) -> str:
    """UTC, ISO 8601, with milliseconds and Z."""
    return (
        datetime.fromtimestamp(milliseconds / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{milliseconds % 1000:03}Z"
    )


def timestamp_ns(nanoseconds: int) -> str:
    return timestamp(nanoseconds // 1_000_000)
