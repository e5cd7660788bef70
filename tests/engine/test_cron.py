from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from functools import cache
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hearth.clock import parse_timestamp
from hearth.engine.timetable import Timetable, cron
from hearth.errors import InvalidInput

MINUTE, HOUR = 60_000, 3_600_000

# Clocks that change at 2:00 by an hour or by half of one, at midnight, at 23:00, and not at all.
ZONES_AND_YEARS = [
    ("America/Los_Angeles", 2026),
    ("America/Los_Angeles", 2027),
    ("Europe/Berlin", 2026),
    ("Europe/Berlin", 2027),
    ("Australia/Lord_Howe", 2026),
    ("Australia/Lord_Howe", 2027),
    ("Africa/Cairo", 2023),
    ("Asia/Beirut", 2022),
    ("America/Asuncion", 2023),
    ("America/Havana", 2022),
    ("Asia/Tokyo", 2026),
    ("UTC", 2026),
]


def at(text: str, zone: str) -> int:
    """The moment at which the clock reads `text`; of two the first, with `*` at the end the second."""
    moment = datetime.fromisoformat(text.rstrip("*")).replace(tzinfo=ZoneInfo(zone), fold=int(text.endswith("*")))
    return parse_timestamp(moment.isoformat())


def read(ms: int, zone: str) -> str:
    """What the clock reads at that moment, marked with `*` the second time."""
    moment = datetime.fromtimestamp(ms / 1000, ZoneInfo(zone))
    return moment.strftime("%Y-%m-%d %H:%M") + "*" * moment.fold


def slots_of(table: Timetable, start: int, end: int) -> Iterator[int]:
    """The slots after `start` and before `end`, one after the other."""
    slot = table.next_after(start)
    while slot is not None and slot < end:
        yield slot
        following = table.next_after(slot)
        assert following is None or following > slot
        slot = following


def readings(expression: str, zone: str, start: str, end: str) -> list[str]:
    table = cron(expression, zone)
    return [read(slot, zone)[5:] for slot in slots_of(table, at(start, zone) - 1, at(end, zone))]


@pytest.mark.parametrize("expression", ["0 0 * * *", "30 2 * * *", "0 3 * * *", "59 23 * * *"])
@pytest.mark.parametrize(("zone", "year"), ZONES_AND_YEARS)
def test_every_local_day_of_a_year_has_a_daily_slot_once(zone: str, year: int, expression: str) -> None:
    start, end = at(f"{year}-01-01", zone) - 1, at(f"{year + 1}-01-01", zone)
    days = Counter(read(slot, zone)[:10] for slot in slots_of(cron(expression, zone), start, end))
    first = date(year, 1, 1)
    every_day = [(first + timedelta(days=nth)).isoformat() for nth in range((date(year + 1, 1, 1) - first).days)]
    assert days == dict.fromkeys(every_day, 1)


@pytest.mark.parametrize(
    ("expression", "zone", "day", "expected"),
    [
        ("30 2 * * *", "America/Los_Angeles", "2026-03-08", "03:00"),
        ("30 2 * * *", "America/Los_Angeles", "2027-03-14", "03:00"),
        ("30 2 * * *", "Europe/Berlin", "2026-03-29", "03:00"),
        ("30 2 * * *", "Europe/Berlin", "2027-03-28", "03:00"),
        ("15 2 * * *", "Australia/Lord_Howe", "2026-10-04", "02:30"),
        ("15 2 * * *", "Australia/Lord_Howe", "2027-10-03", "02:30"),
        ("0 0 * * *", "Africa/Cairo", "2023-04-28", "01:00"),
        ("0 0 * * *", "Asia/Beirut", "2022-03-27", "01:00"),
        ("0 0 * * *", "America/Asuncion", "2023-10-01", "01:00"),
        ("0 0 1 10 *", "America/Asuncion", "2023-10-01", "01:00"),
    ],
)
def test_a_time_that_the_clock_leaves_out_comes_at_the_first_moment_after(
    expression: str, zone: str, day: str, expected: str
) -> None:
    midnight = datetime.fromisoformat(day)
    slots = slots_of(cron(expression, zone), at(f"{day} 00:00", zone) - 1, at(f"{midnight + timedelta(days=1)}", zone))
    assert [read(slot, zone) for slot in slots] == [f"{day} {expected}"]


@pytest.mark.parametrize(
    ("expression", "zone", "day", "expected"),
    [
        ("30 1 * * *", "America/Los_Angeles", "2026-11-01", "01:30"),
        ("30 1 * * *", "America/Los_Angeles", "2027-11-07", "01:30"),
        ("30 2 * * *", "Europe/Berlin", "2026-10-25", "02:30"),
        ("30 2 * * *", "Europe/Berlin", "2027-10-31", "02:30"),
        ("45 1 * * *", "Australia/Lord_Howe", "2026-04-05", "01:45"),
        ("45 1 * * *", "Australia/Lord_Howe", "2027-04-04", "01:45"),
        ("59 23 * * *", "America/Asuncion", "2023-03-25", "23:59"),
        ("0 0 * * *", "America/Havana", "2022-11-06", "00:00"),
    ],
)
def test_a_time_that_comes_twice_counts_the_first_time(expression: str, zone: str, day: str, expected: str) -> None:
    midnight = datetime.fromisoformat(day)
    slots = slots_of(cron(expression, zone), at(f"{day} 00:00", zone) - 1, at(f"{midnight + timedelta(days=1)}", zone))
    assert [read(slot, zone) for slot in slots] == [f"{day} {expected}"]
    again = at(f"{day} {expected}*", zone)
    assert cron(expression, zone).next_after(again - 1) == cron(expression, zone).next_after(again + 20 * HOUR)


def test_tables_of_some_hours_name_times_and_not_distances() -> None:
    spring, autumn = ("2026-03-08 00:00", "2026-03-08 06:00"), ("2026-11-01 00:00", "2026-11-01 06:00")
    los_angeles = "America/Los_Angeles"
    assert readings("0 */2 * * *", los_angeles, *spring) == ["03-08 00:00", "03-08 03:00", "03-08 04:00"]
    assert readings("0 1-5/2 * * *", los_angeles, *autumn) == ["11-01 01:00", "11-01 03:00", "11-01 05:00"]
    assert readings("*/20 1 * * *", los_angeles, *autumn) == ["11-01 01:00", "11-01 01:20", "11-01 01:40"]


def test_of_several_times_in_a_gap_one_slot_is_left() -> None:
    spring = ("2026-03-08 00:00", "2026-03-08 06:00")
    assert readings("*/5 2 * * *", "America/Los_Angeles", *spring) == ["03-08 03:00"]
    assert readings("0,30 2,3 * * *", "America/Los_Angeles", *spring) == ["03-08 03:00", "03-08 03:30"]


def test_every_hour_skips_and_repeats_what_the_clock_does() -> None:
    los_angeles, lord_howe = "America/Los_Angeles", "Australia/Lord_Howe"
    spring = readings("5 * * * *", los_angeles, "2026-03-08 00:00", "2026-03-08 05:00")
    assert spring == ["03-08 00:05", "03-08 01:05", "03-08 03:05", "03-08 04:05"]
    autumn = readings("5 * * * *", los_angeles, "2026-11-01 00:00", "2026-11-01 03:00")
    assert autumn == ["11-01 00:05", "11-01 01:05", "11-01 01:05*", "11-01 02:05"]
    half = readings("45 * * * *", lord_howe, "2026-04-05 00:00", "2026-04-05 03:00")
    assert half == ["04-05 00:45", "04-05 01:45", "04-05 01:45*", "04-05 02:45"]


def test_a_day_that_the_zone_left_out_whole_has_no_slot() -> None:
    days = ("2011-12-29 00:00", "2012-01-01 00:00")
    assert readings("30 2 * * *", "Pacific/Apia", *days) == ["12-29 02:30", "12-31 02:30"]
    assert readings("0 0 * * *", "Pacific/Apia", *days) == ["12-29 00:00", "12-31 00:00"]
    assert readings("0 */12 * * *", "Pacific/Apia", *days) == [
        "12-29 00:00",
        "12-29 12:00",
        "12-31 00:00",
        "12-31 12:00",
    ]


def test_a_gap_that_ends_with_the_day_moves_its_times_to_midnight() -> None:
    weekend = ("2026-03-28 00:00", "2026-03-30 00:00")
    assert readings("30 23 * * *", "America/Nuuk", *weekend) == ["03-29 00:00", "03-29 23:30"]
    assert readings("0 0 * * *", "America/Nuuk", *weekend) == ["03-28 00:00", "03-29 00:00"]


def test_within_the_hour_that_comes_again_the_last_slot_lies_in_the_first_one() -> None:
    table, now = cron("30 1 * * *", "America/Los_Angeles"), at("2026-11-01 01:15*", "America/Los_Angeles")
    assert table.last_upto(now) == at("2026-11-01 01:30", "America/Los_Angeles")
    assert table.next_after(now) == at("2026-11-02 01:30", "America/Los_Angeles")


def test_an_hour_that_comes_twice_around_midnight_counts_by_its_days() -> None:
    zone = "America/St_Johns"  # at a minute past midnight it was 23:01 again
    night = ("2010-11-06 22:30", "2010-11-07 01:10")
    assert readings("30 * 6 * *", zone, *night) == ["11-06 22:30", "11-06 23:30", "11-06 23:30*"]
    assert readings("0 * 7 * *", zone, *night) == ["11-07 00:00", "11-07 00:00*", "11-07 01:00"]
    assert readings("0 0 * * *", zone, *night) == ["11-07 00:00"]
    assert cron("30 * 6 11 *", zone).next_after(at("2010-11-06 23:30", zone)) == at("2010-11-06 23:30*", zone)
    assert cron("0 * 7 11 *", zone).last_upto(at("2010-11-07 00:00*", zone) - 1) == at("2010-11-07 00:00", zone)


CHANGES = [
    ("America/Los_Angeles", "2026-03-08"),
    ("America/Los_Angeles", "2026-11-01"),
    ("Europe/Berlin", "2027-03-28"),
    ("Europe/Berlin", "2027-10-31"),
    ("Australia/Lord_Howe", "2026-04-05"),
    ("Australia/Lord_Howe", "2026-10-04"),
    ("Africa/Cairo", "2023-04-28"),
    ("Africa/Cairo", "2023-10-27"),
    ("America/Havana", "2022-11-06"),
    ("America/Nuuk", "2026-03-29"),
    ("America/St_Johns", "2010-11-07"),
    ("UTC", "2026-06-15"),
]


@pytest.mark.parametrize(("zone", "day"), CHANGES)
@pytest.mark.parametrize("expression", ["*/30 * * * *", "*/30 0-23 * * *", "0,30 */1 * * *"])
def test_tables_of_every_hour_keep_elapsed_time_through_a_change(expression: str, zone: str, day: str) -> None:
    middle = parse_timestamp(f"{day}T12:00:00Z")
    start, end = middle - 72 * HOUR, middle + 72 * HOUR
    slots = list(slots_of(cron(expression, zone), start, end))
    assert {later - earlier for earlier, later in pairwise(slots)} == {30 * MINUTE}
    assert len(slots) == 287


@cache
def clock_of(zone: str, start: int, end: int) -> list[tuple[int, datetime]]:
    """What the clock reads, minute by minute."""
    moments = range(start, end, MINUTE)
    return [(ms, datetime.fromtimestamp(ms / 1000, ZoneInfo(zone)).replace(tzinfo=None, fold=0)) for ms in moments]


def looked_up(minutes: set[int], hours: set[int], zone: str, start: int, end: int) -> list[int]:
    """The slots of the three days by looking at the clock every minute, which is the rule as it is written."""
    clock = clock_of(zone, start, end)
    if len(hours) == 24:
        return [ms for ms, local in clock if local.minute in minutes]
    slots, reached = [], clock[0][1]
    for ms, local in clock[1:]:
        passed = (reached + timedelta(minutes=nth) for nth in range(1, (local - reached) // timedelta(minutes=1) + 1))
        if any(time.hour in hours and time.minute in minutes for time in passed):
            slots.append(ms)
        reached = max(reached, local)
    return slots


@settings(max_examples=30)
@given(
    st.sampled_from(CHANGES),
    st.sets(st.integers(0, 59), min_size=1, max_size=5),
    st.one_of(st.just(set(range(24))), st.sets(st.integers(0, 23), min_size=1, max_size=5)),
    st.integers(1, 30),
    st.integers(0, 72 * 60 - 1),
)
def test_slots_are_those_that_someone_at_the_clock_would_see(
    change: tuple[str, str], minutes: set[int], hours: set[int], most: int, minute: int
) -> None:
    zone, day = change
    middle = parse_timestamp(f"{day}T12:00:00Z")
    start, end = middle - 36 * HOUR, middle + 36 * HOUR
    table = cron(f"{','.join(map(str, minutes))} {','.join(map(str, hours))} * * *", zone)
    expected = [slot for slot in looked_up(minutes, hours, zone, start, end) if slot > start]
    assert list(slots_of(table, start, end)) == expected
    assert table.between(start, end - 1, most) == expected[-most:]
    assert table.between(start, end - 1, 10**6) == expected
    now = start + minute * MINUTE + 1
    assert table.next_after(now) == next((slot for slot in expected if slot > now), table.next_after(end - 1))
    assert table.last_upto(now) == max((slot for slot in expected if slot <= now), default=table.last_upto(start))


FIELD = [
    st.sampled_from(["*", "0", "59", "*/7", "5-50/9", "1,2,3"]),
    st.sampled_from(["*", "0", "23", "*/5", "1-3", "2,22"]),
    st.sampled_from(["*", "1", "31", "L", "LW", "*/10", "29,30"]),
    st.sampled_from(["*", "2", "JAN-MAR", "*/5", "10", "11"]),
    st.sampled_from(["*", "MON-FRI", "7", "5L", "SUN#1", "MON#5"]),
]


@given(
    st.tuples(*FIELD).map(" ".join),
    st.sampled_from([zone for zone, _ in CHANGES]),
    st.integers(0, 2_000_000_000_000),
    st.integers(1, 12),
)
def test_between_agrees_with_the_steps_of_next_after(expression: str, zone: str, after: int, most: int) -> None:
    try:
        table = cron(expression, zone)
    except InvalidInput:
        assume(False)
    slots = [after]
    while len(slots) < 16 and (slot := table.next_after(slots[-1])) is not None:
        assert slot > slots[-1]
        assert table.last_upto(slot) == slot
        slots.append(slot)
    assert table.between(after, slots[-1], most) == slots[1:][-most:]


@pytest.mark.parametrize(
    ("word", "expression"),
    [
        ("@hourly", "0 * * * *"),
        ("@Daily", "0 0 * * *"),
        ("@midnight", "0 0 * * *"),
        ("@weekly", "0 0 * * 0"),
        ("@monthly", "0 0 1 * *"),
        ("@yearly", "0 0 1 1 *"),
        ("@annually", "0 0 1 1 *"),
        ("  0 0\t*  * sun ", "0 0 * * SUN"),
    ],
)
def test_words_mean_expressions_and_spelling_does_not_matter(word: str, expression: str) -> None:
    assert cron(word, "UTC") == cron(expression, "UTC")


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("0 9 * * MON-FRI", "2026-06-15T09:00:00Z"),
        ("0 0 L * *", "2026-06-30T00:00:00Z"),
        ("0 0 LW * *", "2026-06-30T00:00:00Z"),
        ("0 0 * * FRI#2", "2026-07-10T00:00:00Z"),
        ("0 0 * * 5L", "2026-06-26T00:00:00Z"),
        ("0 0 13 * FRI", "2026-06-19T00:00:00Z"),
        ("0 0 29 2 *", "2028-02-29T00:00:00Z"),
        ("7-59/20 6 * JUL *", "2026-07-01T06:07:00Z"),
    ],
)
def test_names_ranges_steps_and_last_days_are_read(expression: str, expected: str) -> None:
    assert cron(expression, "UTC").next_after(parse_timestamp("2026-06-14T00:00:00Z")) == parse_timestamp(expected)


@pytest.mark.parametrize(
    ("expression", "code", "named"),
    [
        ("60 0 * * *", "wrong_form", "minute: '60'"),
        ("0 24 * * *", "wrong_form", "hour: '24'"),
        ("0 0 0 * *", "wrong_form", "day of month: '0'"),
        ("0 0 * FOO *", "wrong_form", "month: 'FOO'"),
        ("0 0 * * 8", "wrong_form", "day of week: '8'"),
        ("0 0 * * FRI-MON", "wrong_form", "day of week: 'FRI-MON'"),
        ("0 0 * * MON#1/2", "wrong_form", "day of week: 'MON#1/2'"),
        ("*/0 * * * *", "wrong_form", "minute: '*/0'"),
        ("0 0 ? * *", "wrong_form", "day of month: '?'"),
        ("0 0 * *", "wrong_form", "4 fields"),
        ("", "wrong_form", "0 fields"),
        ("0 0 0 * * *", "wrong_form", "without seconds"),
        ("@reboot", "wrong_form", "@reboot"),
        ("0 0 31 2 *", "never", "no year"),
        ("0 0 */3 2 5#5", "never", "no year"),
        ("9" * 257, "too_long", "256"),
    ],
)
def test_a_part_that_is_wrong_is_named(expression: str, code: str, named: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        cron(expression, "UTC")
    (problem,) = caught.value.problems
    assert (problem.field, problem.code) == ("cron", code)
    assert named in problem.message


@given(st.text("0123456789*/,-#LWMONFRI? @²", max_size=30).map(lambda text: text.replace("  ", " * ")))
def test_whatever_is_written_is_a_timetable_or_an_error_of_the_input(text: str) -> None:
    for expression in (text, f"0 0 {text} * *", f"0 0 * * {text}"):
        try:
            table = cron(expression, "UTC")
        except InvalidInput:
            continue
        assert table.next_after(0) is not None


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("Berlin", "Europe/Berlin"),
        ("europe/berln", "Europe/Berlin"),
        ("New York", "America/New_York"),
        ("right/UTC", None),
        ("../UTC", None),
        ("America", None),
        ("a\0b", None),
        ("", None),
        ("x" * 5_000, None),
    ],
)
def test_an_unknown_zone_is_refused_with_the_one_that_was_meant(name: str, meant: str | None) -> None:
    with pytest.raises(InvalidInput) as caught:
        cron("0 0 * * *", name)
    (problem,) = caught.value.problems
    assert (problem.field, problem.code) == ("zone", "unknown_zone")
    assert meant is None or f"did you mean {meant}?" in problem.message


def test_without_a_zone_database_utc_is_known_and_the_error_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("zoneinfo.available_timezones", set)
    with pytest.raises(InvalidInput) as caught:
        cron("0 0 * * *", "Nowhere/Land")
    assert "tzdata" in str(caught.value.hint)
    assert cron("0 0 * * *", "UTC").next_after(0) == 24 * HOUR


def test_utc_is_the_same_by_either_of_its_names() -> None:
    assert cron("0 12 * * *", "Etc/UTC").next_after(0) == cron("0 12 * * *", "UTC").next_after(0) == 12 * HOUR
