from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hearth.clock import parse_timestamp, timestamp
from hearth.engine.timetable import END_MS, GRACE_MS, SKIPPED_MOST, Due, Missed, Timetable, cron, due, every
from hearth.errors import InvalidInput

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
NOON = parse_timestamp("2026-06-15T12:00:00Z")


def owed(table: Timetable, late_ms: int, missed: Missed = Missed.SKIP, most: int = 10) -> Due:
    """What is due so long after the slot of noon."""
    return due(table, next_ms=NOON, now_ms=NOON + late_ms, missed=missed, most=most)


def test_24_hours_stay_24_hours_through_both_changes_of_the_clock() -> None:
    anchor = parse_timestamp("2026-03-07T02:30:00-08:00")  # the clocks of Los Angeles change the next day
    table = every(DAY, anchor)
    slots = [anchor]
    while len(slots) < 300:
        slots.append(table.next_after(slots[-1]) or 0)
    assert [later - earlier for earlier, later in pairwise(slots)] == [DAY] * 299
    assert slots[-1] > parse_timestamp("2026-11-02T00:00:00-08:00")


def test_the_anchor_of_an_interval_gives_the_phase_before_it_too() -> None:
    table = every(HOUR, NOON + 7)
    assert table.next_after(NOON - 5 * HOUR) == NOON - 5 * HOUR + 7
    assert table.next_after(NOON + 7) == NOON + HOUR + 7
    assert table.last_upto(NOON + 7) == NOON + 7
    assert table.last_upto(NOON + 6) == NOON - HOUR + 7


@pytest.mark.parametrize("interval_ms", [999, 0, -1, 366 * DAY + 1])
def test_an_interval_out_of_bounds_is_refused(interval_ms: int) -> None:
    with pytest.raises(InvalidInput) as caught:
        every(interval_ms, 0)
    assert [(each.field, each.code) for each in caught.value.problems] == [("every_ms", "out_of_range")]


@pytest.mark.parametrize("interval_ms", [1_000, 366 * DAY])
def test_the_bounds_of_an_interval_are_taken(interval_ms: int) -> None:
    assert every(interval_ms, 0).next_after(0) == interval_ms


@pytest.mark.parametrize("table", [every(1_000, 0), cron("* * * * *", "UTC"), cron("0 0 * * *", "Pacific/Apia")])
@pytest.mark.parametrize("ms", [-(10**18), -1, END_MS - 1, END_MS, 10**18])
def test_slots_lie_in_the_years_1970_to_9998(table: Timetable, ms: int) -> None:
    following, latest = table.next_after(ms), table.last_upto(ms)
    assert following is None if ms >= END_MS - 1 else following is not None and 0 <= following <= DAY
    assert latest is None if ms < 0 else latest is not None and END_MS - DAY <= latest < END_MS


@pytest.mark.parametrize("table", [every(DAY, NOON - NOON % DAY), cron("@daily", "UTC")])
def test_the_first_slot_of_1970_counts(table: Timetable) -> None:
    assert table.next_after(-1) == table.next_after(-5) == table.last_upto(0) == 0


def test_where_the_calendar_ends_there_is_no_slot_any_more() -> None:
    leap_days = cron("0 0 29 2 *", "UTC")
    last = leap_days.next_after(parse_timestamp("9995-01-01T00:00:00Z"))
    assert last == parse_timestamp("9996-02-29T00:00:00Z")
    assert leap_days.next_after(last) is None


@given(
    st.builds(every, st.integers(1_000, 366 * DAY), st.integers(0, 2 * NOON)),
    st.integers(0, 2 * NOON),
    st.integers(0, 40),
    st.integers(1, 50),
)
def test_between_an_interval_agrees_with_its_steps(table: Timetable, after: int, count: int, most: int) -> None:
    slots = [after]
    for _ in range(count + 1):
        slots.append(table.next_after(slots[-1]) or 0)
    assert all(later > earlier for earlier, later in pairwise(slots))
    assert table.between(after, slots[-1] - 1, most) == slots[1:-1][-most:]


@pytest.mark.parametrize("missed", Missed)
@pytest.mark.parametrize("late_ms", [0, 1, GRACE_MS])
def test_a_slot_that_is_at_most_a_minute_late_is_made(missed: Missed, late_ms: int) -> None:
    assert owed(every(HOUR, NOON), late_ms, missed) == Due((NOON,), 0, NOON + HOUR)


def test_a_slot_that_is_later_than_that_is_missed() -> None:
    table = every(HOUR, NOON)
    assert owed(table, GRACE_MS + 1, Missed.SKIP) == Due((), 1, NOON + HOUR)
    assert owed(table, GRACE_MS + 1, Missed.ONCE) == Due((NOON,), 0, NOON + HOUR)
    assert owed(table, GRACE_MS + 1, Missed.ALL) == Due((NOON,), 0, NOON + HOUR)


@pytest.mark.parametrize(
    ("missed", "most", "made", "skipped"),
    [(Missed.SKIP, 100, 0, 5), (Missed.ONCE, 100, 1, 4), (Missed.ALL, 100, 5, 0), (Missed.ALL, 3, 3, 2)],
)
def test_of_missed_slots_the_newest_are_made_oldest_first(missed: Missed, most: int, made: int, skipped: int) -> None:
    answer = owed(every(HOUR, NOON), 4 * HOUR + 30 * MINUTE, missed, most)
    assert answer == Due(tuple(NOON + hour * HOUR for hour in range(5 - made, 5)), skipped, NOON + 5 * HOUR)


def test_slots_on_time_are_made_beside_missed_ones() -> None:
    answer = owed(every(10_000, NOON), 100_000, Missed.SKIP)
    assert answer == Due(tuple(NOON + 10_000 * nth for nth in range(4, 11)), 4, NOON + 110_000)
    assert owed(every(1_000, NOON), 60_000).slots == tuple(range(NOON, NOON + 60_001, 1_000))


@pytest.mark.parametrize("table", [cron("* * * * *", "Europe/Berlin"), every(1_000, 0)])
def test_ten_years_off_cost_no_more_than_a_day(table: Timetable) -> None:
    answer = owed(table, 3_653 * DAY + 30_000, Missed.ALL, 100)
    late = [slot for slot in answer.slots if slot < NOON + 3_653 * DAY + 30_000 - GRACE_MS]
    assert len(late) == 100
    assert late == table.between(NOON, late[-1], 100)
    assert answer.skipped == SKIPPED_MOST
    assert answer.next_ms == table.next_after(NOON + 3_653 * DAY + 30_000)


def test_a_planned_slot_is_made_even_if_the_table_no_longer_has_it() -> None:
    answer = due(cron("0 3 * * *", "UTC"), next_ms=NOON, now_ms=NOON + 5, missed=Missed.SKIP, most=1)
    assert answer == Due((NOON,), 0, parse_timestamp("2026-06-16T03:00:00Z"))


def test_after_the_last_slot_nothing_is_planned() -> None:
    last = parse_timestamp("9998-02-28T00:00:00Z")
    assert due(cron("0 0 28 2 *", "UTC"), next_ms=last, now_ms=last, missed=Missed.SKIP, most=1) == Due(
        (last,), 0, None
    )


@pytest.mark.parametrize("back_ms", [1, 2_000, 59 * MINUTE, HOUR, 2 * HOUR])
def test_a_clock_that_is_put_back_a_little_makes_no_slot_again(back_ms: int) -> None:
    answer = due(every(HOUR, NOON), next_ms=NOON, now_ms=NOON - back_ms, missed=Missed.ALL, most=100)
    assert answer == Due((), 0, NOON)


@pytest.mark.parametrize("table", [every(HOUR, NOON), cron("0 * * * *", "Europe/Berlin")])
def test_a_slot_planned_by_a_clock_that_was_years_ahead_is_planned_anew(table: Timetable) -> None:
    now = parse_timestamp("2020-01-01T00:00:01Z")
    answer = due(table, next_ms=NOON, now_ms=now, missed=Missed.ALL, most=100)
    assert answer == Due((), 0, parse_timestamp("2020-01-01T01:00:00Z"))


@settings(max_examples=50)
@given(st.integers(0, 400), st.lists(st.integers(-3 * HOUR, 40 * HOUR), max_size=20), st.sampled_from(Missed))
def test_no_slot_is_made_twice_or_planned_in_the_past(minutes: int, moves: list[int], missed: Missed) -> None:
    table = cron(f"{minutes % 60} */{minutes % 12 + 1} * * *", "Australia/Lord_Howe")
    now = parse_timestamp("2026-10-02T00:00:00Z")
    planned = table.next_after(now)
    made: set[int] = set()
    for move in moves:
        now += abs(move)
        assert planned is not None
        answer = due(table, next_ms=planned, now_ms=now, missed=missed, most=5)
        assert made.isdisjoint(answer.slots), timestamp(now)
        assert answer.next_ms is not None and answer.next_ms > now
        made.update(answer.slots)
        planned = answer.next_ms
