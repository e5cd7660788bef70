"""The time, and how it is written."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta


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


_EPOCH = datetime(1970, 1, 1)  # in UTC; a zone would only have to be taken off again
_FIRST, _LAST = -62_135_596_800_000, 253_402_300_799_999  # the years 1 to 9999


def timestamp(milliseconds: int) -> str:
    """UTC, ISO 8601, with milliseconds and Z. What the calendar cannot hold becomes its nearest end."""
    # Not fromtimestamp(): Windows refuses times before 1970 there.
    moment = _EPOCH + timedelta(milliseconds=min(max(milliseconds, _FIRST), _LAST))
    return moment.isoformat(timespec="milliseconds") + "Z"


def timestamp_ns(nanoseconds: int) -> str:
    return timestamp(nanoseconds // 1_000_000)


def parse_timestamp(text: str) -> int:
    """Milliseconds since 1970 of an ISO 8601 time with `Z` or an offset. Raises `ValueError`."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError("the time has no zone: end it with Z, or with an offset such as +02:00")
    return (moment.astimezone(UTC).replace(tzinfo=None) - _EPOCH) // timedelta(milliseconds=1)
