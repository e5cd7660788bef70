from __future__ import annotations

import pytest

from hearth.clock import timestamp, timestamp_ns


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [
        (0, "1970-01-01T00:00:00.000Z"),
        (1_795_974_834_007, "2026-11-29T17:53:54.007Z"),
        (-1, "1969-12-31T23:59:59.999Z"),
        (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"),
        (2**63 // 1_000_000, "2262-04-11T23:47:16.854Z"),
        (2**50, "9999-12-31T23:59:59.999Z"),
        (-(2**50), "0001-01-01T00:00:00.000Z"),
    ],
)
def test_a_time_is_utc_with_milliseconds_and_z(milliseconds: int, text: str) -> None:
    assert timestamp(milliseconds) == text


def test_nanoseconds_are_cut_and_never_rounded_up() -> None:
    assert timestamp_ns(1_999_999_999) == "1970-01-01T00:00:01.999Z"
