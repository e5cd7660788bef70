from __future__ import annotations

import pytest

from hearth.clock import parse_timestamp, timestamp, timestamp_ns


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


@pytest.mark.parametrize("text", ["2026-11-29T17:53:54.007Z", "2026-11-29T19:53:54.007+02:00", "20261129T175354.007Z"])
def test_a_time_with_a_zone_is_read_as_utc(text: str) -> None:
    assert parse_timestamp(text) == 1_795_974_834_007


@pytest.mark.parametrize("text", ["2026-11-29T17:53:54.007", "yesterday", ""])
def test_a_time_without_a_zone_or_sense_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"zone|Invalid"):
        parse_timestamp(text)
