from __future__ import annotations

import pytest

from hearth.errors import NotFound
from hearth.model import State
from hearth.runtime import Runtime
from tests.engine.recurring import fire, next_due, slots
from tests.services.task.scheduling import call, schedule, set_clock

HOUR, DAY = 3_600_000, 86_400_000


def test_while_a_schedule_is_disabled_no_slot_is_made_or_missed(runtime: Runtime) -> None:
    clock = set_clock(runtime)
    schedule(runtime, every_ms=HOUR, missed="all")
    off = call(runtime, "disable", names=["nightly"])
    assert [(each.enabled, each.next_at) for each in off.schedules] == [(False, None)]
    assert next_due(runtime) is None
    clock.move(3 * DAY + 1)
    on = call(runtime, "enable", names=["nightly"], start=False)
    assert [(each.enabled, each.next_at) for each in on.schedules] == [(True, "2026-06-18T13:00:00.000Z")]
    fire(runtime)
    assert slots(runtime) == []
    assert call(runtime, "schedules").schedules[0].skipped == 0


def test_enabling_what_is_enabled_changes_nothing(runtime: Runtime) -> None:
    clock = set_clock(runtime)
    schedule(runtime, every_ms=HOUR)
    clock.move(HOUR + 1)
    (shown,) = call(runtime, "enable", names=["nightly"], start=False).schedules
    assert shown.next_at == "2026-06-15T13:00:00.000Z", "this slot is still to be made"


def test_a_slot_is_not_made_again_by_switching_a_schedule_off_and_on(runtime: Runtime) -> None:
    clock = set_clock(runtime)
    schedule(runtime, every_ms=HOUR, overlap="queue")
    clock.move(HOUR)
    fire(runtime)
    clock.move(-1)
    call(runtime, "disable", names=["nightly"])
    call(runtime, "enable", names=["nightly"], start=False)
    clock.move(1)
    fire(runtime)
    assert slots(runtime) == ["2026-06-15T13:00:00.000Z"]


def test_enabling_a_schedule_that_stopped_tries_it_again(runtime: Runtime) -> None:
    clock = set_clock(runtime)
    schedule(runtime, cron="0 * * * *", zone="UTC")
    with runtime.store.write() as tx:
        tx.execute("UPDATE schedules SET zone = 'Mars/Utopia'")
    clock.move(HOUR)
    fire(runtime)
    (stopped,) = call(runtime, "schedules").schedules
    assert "Mars/Utopia" in stopped.problem
    with runtime.store.write() as tx:
        tx.execute("UPDATE schedules SET zone = 'UTC'")
    (again,) = call(runtime, "enable", names=["nightly"], start=False).schedules
    assert (again.problem, again.next_at) == (None, "2026-06-15T14:00:00.000Z")


@pytest.mark.parametrize("verb", ["enable", "disable"])
def test_those_that_are_missing_are_told(runtime: Runtime, verb: str) -> None:
    more = {"start": False} if verb == "enable" else {}
    schedule(runtime)
    done = call(runtime, verb, names=["nobody", "nightly"], **more)
    assert ([each.name for each in done.schedules], [each.name for each in done.errors], done.state) == (
        ["nightly"],
        ["nobody"],
        State.PARTIAL,
    )
    with pytest.raises(NotFound):
        call(runtime, verb, names=["nobody"], **more)
