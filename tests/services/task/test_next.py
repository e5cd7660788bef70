from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hearth.errors import InvalidInput, NotFound
from hearth.runtime import Runtime
from tests.conftest import Done
from tests.services.task.scheduling import call, problems, schedule, set_clock

Hearth = Callable[..., Done]
HOUR = 3_600_000


def times(result: Any) -> list[tuple[str, str]]:
    return [(each.at, each.local) for each in result.slots]


def test_times_are_shown_on_both_clocks_through_a_change(runtime: Runtime) -> None:
    set_clock(runtime, "2026-03-27T12:00:00Z")
    shown = call(runtime, "next", cron="30 2 * * *", zone="Europe/Berlin", limit=3)
    assert times(shown) == [
        ("2026-03-28T01:30:00.000Z", "2026-03-28T02:30:00+01:00"),
        ("2026-03-29T01:00:00.000Z", "2026-03-29T03:00:00+02:00"),
        ("2026-03-30T00:30:00.000Z", "2026-03-30T02:30:00+02:00"),
    ]
    assert (shown.zone, shown.enabled) == ("Europe/Berlin", None)


def test_an_interval_is_shown_from_now_on(runtime: Runtime) -> None:
    set_clock(runtime, "2026-06-15T12:00:00.250Z")
    shown = call(runtime, "next", every_ms=90_000, zone="UTC", limit=2)
    assert times(shown)[1] == ("2026-06-15T12:03:00.250Z", "2026-06-15T12:03:00.250+00:00")


def test_of_a_schedule_its_next_job_comes_first(runtime: Runtime) -> None:
    clock = set_clock(runtime)
    schedule(runtime, every_ms=HOUR)
    clock.move(HOUR // 2)
    assert [at for at, _ in times(call(runtime, "next", name="nightly", limit=2))] == [
        "2026-06-15T13:00:00.000Z",
        "2026-06-15T14:00:00.000Z",
    ]
    clock.move(10 * HOUR)
    assert times(call(runtime, "next", name="nightly"))[0][0] == "2026-06-15T23:00:00.000Z"
    call(runtime, "disable", names=["nightly"])
    shown = call(runtime, "next", name="nightly")
    assert (shown.enabled, len(shown.slots)) == (False, 5)


def test_nothing_is_stored(runtime: Runtime) -> None:
    call(runtime, "next", cron="@daily")
    assert call(runtime, "schedules").schedules == ()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, ("cron", "not_one_of")),
        ({"name": "nightly", "cron": "@daily"}, ("name", "not_both")),
        ({"cron": "@fortnightly"}, ("cron", "wrong_form")),
        ({"cron": "@daily", "limit": 0}, ("limit", "too_small")),
    ],
    ids=str,
)
def test_what_makes_no_sense_is_refused(runtime: Runtime, given: dict[str, Any], expected: tuple[str, str]) -> None:
    with pytest.raises(InvalidInput) as caught:
        call(runtime, "next", **given)
    assert problems(caught) == [expected]


def test_a_schedule_that_does_not_exist_is_not_found(runtime: Runtime) -> None:
    with pytest.raises(NotFound):
        call(runtime, "next", name="nobody")


def test_the_shell_prints_a_line_a_time(hearth: Hearth) -> None:
    done = hearth("task", "next", "--cron", "*/20 9-17 * * *", "--zone", "Asia/Tokyo", "-n", "4")
    assert done.status == 0
    rows = [line.split("\t") for line in done.out.splitlines()]
    assert [len(row) for row in rows] == [2] * 4
    assert all(at.endswith("Z") and local.endswith("+09:00") for at, local in rows)


def test_a_disabled_schedule_is_told_to_be_one(hearth: Hearth) -> None:
    hearth("task", "schedule", "--no-start", "nightly", "--every", "1h", "true")
    assert hearth("task", "next", "nightly").err == ""
    hearth("task", "disable", "nightly")
    assert "nightly is disabled" in hearth("task", "next", "nightly").err
