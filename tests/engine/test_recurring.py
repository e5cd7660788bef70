"""Recurring jobs, through the engine: rows of schedules in a real store, and the jobs that come of them."""

from __future__ import annotations

import sqlite3
from datetime import date, datetime, timedelta
from functools import partial
from zoneinfo import ZoneInfo

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hearth.engine import recurring
from hearth.engine.moves import move
from hearth.engine.waiting import wait_until
from hearth.engine.worker import Worker
from hearth.runtime import Runtime
from hearth.store import job_queue, jobs, schedules
from hearth.store.jobs import JobState
from tests.clocks import SetClock, ShiftedClock
from tests.engine.recurring import (
    DAY,
    HOUR,
    MINUTE,
    end_jobs,
    fire,
    gaps,
    next_due,
    now_of,
    pass_time,
    schedule,
    slots,
)
from tests.engine.workers import PATIENCE_S, working

pytestmark = pytest.mark.timeout(30)  # of a busy machine; each takes less than a second

CHANGES = {
    # Each with the days around both changes of 2026.
    "America/Los_Angeles": ("2026-03-08", "2026-11-01"),
    "Europe/Berlin": ("2026-03-29", "2026-10-25"),
    "Australia/Lord_Howe": ("2026-04-05", "2026-10-04"),  # by half an hour
    "America/Santiago": ("2026-04-05", "2026-09-06"),  # at midnight
}


@pytest.fixture
def clock(runtime: Runtime) -> SetClock:
    made = SetClock("2026-06-15T12:00:00.000Z")
    runtime.clock = made
    return made


def local(at: str, zone: str) -> datetime:
    return datetime.fromisoformat(at).astimezone(ZoneInfo(zone))


def days_from(first: str, count: int) -> list[date]:
    return [date.fromisoformat(first) + timedelta(days=each) for each in range(count)]


@pytest.mark.parametrize("time", ["0 0", "30 2", "15 1"])
@pytest.mark.parametrize(
    ("zone", "day"), [(zone, day) for zone, days in CHANGES.items() for day in days], ids=lambda each: each
)
def test_each_local_day_has_its_job_once_through_a_change_of_the_clock(
    runtime: Runtime, clock: SetClock, zone: str, day: str, time: str
) -> None:
    before = date.fromisoformat(day) - timedelta(days=3)
    clock.set(datetime(before.year, before.month, before.day, 12, tzinfo=ZoneInfo(zone)).isoformat())
    schedule(runtime, f"{time} * * *", zone)
    pass_time(runtime, clock, (datetime.fromisoformat(str(clock)) + timedelta(days=6)).isoformat())
    assert [local(at, zone).date() for at in slots(runtime)] == days_from(str(before + timedelta(days=1)), 6)
    hour, minute = int(time.split()[1]), int(time.split()[0])
    wall = [local(at, zone) for at in slots(runtime) if local(at, zone).date() != date.fromisoformat(day)]
    assert {(each.hour, each.minute) for each in wall} == {(hour, minute)}


def test_a_daily_interval_stays_24_hours_through_a_change_of_the_clock(runtime: Runtime, clock: SetClock) -> None:
    clock.set("2026-03-05T20:00:00-08:00")
    schedule(runtime, every_ms=DAY, zone="America/Los_Angeles")
    pass_time(runtime, clock, "2026-03-12T21:00:00-07:00")
    assert gaps(slots(runtime)) == [DAY] * 6
    assert local(slots(runtime)[-1], "America/Los_Angeles").hour == 21


def test_a_job_is_made_from_what_its_schedule_says(runtime: Runtime, clock: SetClock) -> None:
    made = schedule(runtime, every_ms=HOUR)
    clock.move(HOUR + 250)
    fire(runtime)
    with runtime.store.read() as view:
        (job,) = [jobs.job_of(row) for row in view.execute("SELECT * FROM jobs")]
        assert jobs.labels(view, job.seq) == ("nightly",)
        assert schedules.newest_job(view, made.id) == (job.id, "queued")
    assert (job.state, job.schedule, job.slot_at) == (JobState.QUEUED, made.id, "2026-06-15T13:00:00.000Z")
    assert (job.due_at, job.queued_at) == (job.slot_at, "2026-06-15T13:00:00.250Z")
    after = now_of(runtime, made.name)
    assert (after.made, after.skipped, after.last_at, after.next_at) == (
        1,
        0,
        job.slot_at,
        "2026-06-15T14:00:00.000Z",
    )


def test_nothing_is_made_before_its_time(runtime: Runtime, clock: SetClock) -> None:
    schedule(runtime, every_ms=HOUR)
    clock.move(HOUR - 1)
    fire(runtime)
    assert slots(runtime) == []
    clock.move(1)
    fire(runtime)
    assert slots(runtime) == ["2026-06-15T13:00:00.000Z"]


@pytest.mark.parametrize(
    ("missed", "most", "made", "skipped"),
    [("skip", 10, [], 3), ("once", 10, [18], 2), ("all", 10, [16, 17, 18], 0), ("all", 2, [17, 18], 1)],
)
def test_after_a_jump_of_three_days_missed_slots_become_what_was_asked_for(
    runtime: Runtime, clock: SetClock, missed: str, most: int, made: list[int], skipped: int
) -> None:
    planned = schedule(runtime, "0 3 * * *", missed=missed, missed_most=most, overlap="queue")
    clock.move(3 * DAY)
    fire(runtime)
    assert slots(runtime) == [f"2026-06-{day}T03:00:00.000Z" for day in made]
    after = now_of(runtime, planned.name)
    assert (after.made, after.skipped, after.next_at) == (len(made), skipped, "2026-06-19T03:00:00.000Z")
    fire(runtime)
    assert len(slots(runtime)) == len(made)


def test_years_of_minutes_are_caught_up_with_at_most_as_many_jobs_as_asked_for(
    runtime: Runtime, clock: SetClock
) -> None:
    planned = schedule(runtime, "* * * * *", missed="all", missed_most=50, overlap="queue")
    clock.move(2_000 * DAY + 30_000)
    fire(runtime)
    # One more is not even a minute late.
    assert len(slots(runtime)) == 51 == now_of(runtime, planned.name).made
    assert set(gaps(slots(runtime))) == {MINUTE}


def test_a_clock_that_is_put_back_two_hours_makes_no_slot_twice_and_loses_none(
    runtime: Runtime, clock: SetClock
) -> None:
    schedule(runtime, "0 * * * *")
    pass_time(runtime, clock, "2026-06-15T15:00:00Z")
    clock.move(-2 * HOUR - 1)
    recurring.plan_anew(runtime)
    pass_time(runtime, clock, "2026-06-15T18:00:00Z")
    assert slots(runtime) == [f"2026-06-15T{hour}:00:00.000Z" for hour in range(13, 19)]


def test_a_schedule_goes_on_after_a_clock_that_was_a_year_ahead_is_put_right(runtime: Runtime, clock: SetClock) -> None:
    planned = schedule(runtime, "0 * * * *")
    pass_time(runtime, clock, "2026-06-15T14:00:00Z")
    clock.move(365 * DAY)
    fire(runtime)
    end_jobs(runtime)
    assert now_of(runtime, planned.name).next_at == "2027-06-15T15:00:00.000Z"
    clock.set("2026-06-15T14:20:00Z")
    recurring.plan_anew(runtime)
    assert now_of(runtime, planned.name).next_at == "2026-06-15T15:00:00.000Z"


def test_while_a_job_is_unfinished_its_slots_are_skipped_and_counted(runtime: Runtime, clock: SetClock) -> None:
    planned = schedule(runtime, every_ms=MINUTE)
    for _ in range(3):
        clock.move(MINUTE)
        fire(runtime)
    assert slots(runtime) == ["2026-06-15T12:01:00.000Z"]
    end_jobs(runtime)
    clock.move(MINUTE)
    fire(runtime)
    assert slots(runtime) == ["2026-06-15T12:01:00.000Z", "2026-06-15T12:04:00.000Z"]
    after = now_of(runtime, planned.name)
    assert (after.made, after.skipped) == (2, 2)
    with runtime.store.read() as view:
        told = view.execute("SELECT state, error, data FROM events WHERE operation = 'task.slot' ORDER BY id")
        assert [tuple(row) for row in told][1:3] == [("superseded", "overlap", '{"slots": 1}')] * 2


def test_queued_slots_run_one_after_another_even_if_one_of_them_is_cancelled(runtime: Runtime, clock: SetClock) -> None:
    schedule(runtime, every_ms=MINUTE, overlap="queue")
    for _ in range(3):
        clock.move(MINUTE)
        fire(runtime)
    assert slots(runtime, "queued") == ["2026-06-15T12:01:00.000Z"]
    assert slots(runtime, "waiting") == ["2026-06-15T12:02:00.000Z", "2026-06-15T12:03:00.000Z"]
    for state, left in (("waiting", "waiting"), ("queued", "queued")):
        with runtime.store.write() as tx:
            row = tx.execute("SELECT * FROM jobs WHERE state = :state ORDER BY seq", {"state": state}).fetchone()
            move(tx, jobs.job_of(row), JobState.CANCELLED, ended_at=runtime.now())
        assert slots(runtime, left) == ["2026-06-15T12:03:00.000Z"]


def test_a_job_that_never_ends_leaves_a_bounded_queue(runtime: Runtime, clock: SetClock) -> None:
    planned = schedule(runtime, every_ms=1_000, overlap="queue")
    for _ in range(3):
        clock.move(40_000)
        fire(runtime)
    after = now_of(runtime, planned.name)
    assert (len(slots(runtime)), after.made, after.skipped) == (recurring.UNFINISHED_MOST, 100, 20)


def test_a_disabled_schedule_makes_nothing_and_nobody_waits_for_it(runtime: Runtime, clock: SetClock) -> None:
    schedule(runtime, every_ms=HOUR, enabled=False)
    clock.move(DAY)
    fire(runtime)
    assert slots(runtime) == []
    assert next_due(runtime) is None
    with runtime.store.read() as view:
        assert job_queue.is_idle(view)


def test_a_schedule_that_can_no_longer_be_read_stops_alone_and_says_why(runtime: Runtime, clock: SetClock) -> None:
    broken = schedule(runtime, every_ms=HOUR, name="broken")
    with runtime.store.write() as tx:
        tx.execute("UPDATE schedules SET every_ms = NULL, cron = '0 13 * * *', zone = 'Mars/Utopia'")
    whole = schedule(runtime, every_ms=HOUR, name="whole")
    clock.move(HOUR)
    fire(runtime)
    with runtime.store.read() as view:
        assert [row[0] for row in view.execute("SELECT schedule FROM jobs")] == [whole.id]
    after = now_of(runtime, broken.name)
    assert after.next_at is None
    assert "Mars/Utopia" in str(after.problem)
    assert next_due(runtime) == "2026-06-15T14:00:00.000Z"


def test_a_worker_that_dies_between_a_job_and_its_schedule_leaves_neither(
    runtime: Runtime, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = schedule(runtime, every_ms=HOUR)
    clock.move(HOUR)
    with monkeypatch.context() as patch:
        patch.setattr(schedules, "advance", _die)
        with pytest.raises(KeyboardInterrupt):
            fire(runtime)
    assert slots(runtime) == []
    fire(runtime)
    assert slots(runtime) == ["2026-06-15T13:00:00.000Z"]
    assert now_of(runtime, planned.name).made == 1


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    moves=st.lists(st.integers(-30 * HOUR, 60 * HOUR), min_size=1, max_size=12),
    missed=st.sampled_from(["skip", "once", "all"]),
    cron=st.sampled_from(["0 * * * *", "20 */7 * * *", "30 2 * * *"]),
)
def test_however_the_clock_jumps_no_slot_has_two_jobs_and_the_schedule_goes_on(
    runtime: Runtime, clock: SetClock, moves: list[int], missed: str, cron: str
) -> None:
    with runtime.store.write() as tx:
        tx.execute("DELETE FROM jobs")
        tx.execute("DELETE FROM schedules")
    clock.set("2026-10-24T12:00:00Z")  # Berlin's change is in the middle
    planned = schedule(runtime, cron, "Europe/Berlin", missed=missed, overlap="queue")
    for move_ms in moves:
        clock.move(move_ms)
        if move_ms < 0:
            recurring.plan_anew(runtime)
        fire(runtime)
        end_jobs(runtime)
    found = slots(runtime)
    assert len(set(found)) == len(found) == now_of(runtime, planned.name).made
    newest = max([str(clock), *found])
    clock.set(newest)
    pass_time(runtime, clock, (datetime.fromisoformat(newest) + timedelta(days=2)).isoformat())
    assert max(slots(runtime)) > newest


def test_more_schedules_than_one_pass_takes_are_made_in_the_next(
    runtime: Runtime, clock: SetClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recurring, "SPELL_S", 0)
    for number in range(3):
        schedule(runtime, every_ms=HOUR, name=f"s{number}")
    clock.move(HOUR)
    for count in (1, 2, 3, 3):
        fire(runtime)
        assert len(slots(runtime)) == count


def test_a_worker_wakes_for_a_slot_and_runs_its_job(runtime: Runtime) -> None:
    runtime.clock = ShiftedClock("2026-06-15T11:59:59.900Z")
    planned = schedule(runtime, "0 12 * * *")
    with working(runtime):
        done = wait_until(runtime, lambda view: _newest(view, planned.id, "completed"), PATIENCE_S, starts=False)
    assert done == "completed"
    assert slots(runtime) == ["2026-06-15T12:00:00.000Z"]


def test_a_worker_notices_a_clock_that_was_put_back(runtime: Runtime) -> None:
    clock = ShiftedClock("2027-06-15T12:00:00Z")
    runtime.clock = clock
    planned = schedule(runtime, "0 * * * *")
    with working(runtime):
        clock.set("2026-06-15T12:59:59.500Z")
        done = wait_until(runtime, lambda view: _newest(view, planned.id, "completed"), PATIENCE_S, starts=False)
    assert done == "completed"
    assert slots(runtime) == ["2026-06-15T13:00:00.000Z"]


def test_two_workers_make_each_slot_once(runtime: Runtime) -> None:
    runtime.clock = ShiftedClock("2026-06-15T11:59:59.800Z")
    for number in range(8):
        schedule(runtime, "0 12 * * *", name=f"s{number}")
    count = "SELECT count(*) FROM jobs WHERE state = 'completed'"
    with working(runtime), working(runtime):
        wait_until(runtime, lambda view: view.execute(count).fetchone()[0] == 8 or None, PATIENCE_S, starts=False)
    assert slots(runtime, "completed") == ["2026-06-15T12:00:00.000Z"] * 8
    assert [now_of(runtime, f"s{number}").made for number in range(8)] == [1] * 8


def test_a_worker_with_nothing_else_to_do_stays_for_a_schedule(runtime: Runtime) -> None:
    runtime.clock = ShiftedClock("2026-06-15T11:59:59.700Z")
    planned = schedule(runtime, "0 12 * * *")
    with working(runtime, make=partial(Worker, idle_exit_ms=1)):
        done = wait_until(runtime, lambda view: _newest(view, planned.id, "completed"), PATIENCE_S, starts=False)
    assert done == "completed"


def _die(*_: object, **__: object) -> None:
    raise KeyboardInterrupt


def _newest(view: sqlite3.Connection, id_: str, state: str) -> str | None:
    found = schedules.newest_job(view, id_)
    return state if found is not None and found[1] == state else None
