from __future__ import annotations

import pytest

from hearth.errors import NotFound
from hearth.model import State
from hearth.runtime import Runtime
from tests.engine.recurring import fire, next_due, slots
from tests.services.task.scheduling import call, schedule, set_clock

HOUR = 3_600_000


def test_a_schedule_goes_and_its_jobs_stay(runtime: Runtime) -> None:
    clock = set_clock(runtime)
    schedule(runtime, every_ms=HOUR)
    clock.move(HOUR)
    fire(runtime)
    gone = call(runtime, "unschedule", names=["nightly"])
    assert [(each.name, each.made) for each in gone.schedules] == [("nightly", 1)]
    clock.move(HOUR)
    fire(runtime)
    assert slots(runtime) == ["2026-06-15T13:00:00.000Z"]
    assert next_due(runtime) is None
    assert call(runtime, "schedules").schedules == ()


def test_those_that_are_there_go_although_others_are_missing(runtime: Runtime) -> None:
    schedule(runtime, "a")
    schedule(runtime, "b")
    gone = call(runtime, "unschedule", names=["a", "nobody", "b", "a"])
    assert [each.name for each in gone.schedules] == ["a", "b"]
    assert [(each.name, each.code) for each in gone.errors] == [("nobody", "not_found")]
    assert gone.state is State.PARTIAL


def test_one_that_does_not_exist_is_not_found(runtime: Runtime) -> None:
    with pytest.raises(NotFound):
        call(runtime, "unschedule", names=["nobody"])


def test_a_name_can_be_taken_again_and_makes_another_schedule(runtime: Runtime) -> None:
    before = schedule(runtime)
    call(runtime, "unschedule", names=["nightly"])
    assert schedule(runtime).id != before.id
