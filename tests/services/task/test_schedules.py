from __future__ import annotations

from collections.abc import Callable

import pytest

from hearth.errors import NotFound
from hearth.model import State
from hearth.runtime import Caller, Runtime
from tests.conftest import Done
from tests.engine.recurring import end_jobs, fire
from tests.services.task.scheduling import call, schedule, set_clock

Hearth = Callable[..., Done]
HOUR = 3_600_000


def test_schedules_are_listed_by_name_in_pages(runtime: Runtime) -> None:
    for name in ("b", "c", "a"):
        schedule(runtime, name)
    first = call(runtime, "schedules", limit=2)
    assert ([each.name for each in first.schedules], first.state, first.next_cursor) == (
        ["a", "b"],
        State.PARTIAL,
        "b",
    )
    rest = call(runtime, "schedules", limit=2, cursor="b")
    assert ([each.name for each in rest.schedules], rest.state, rest.next_cursor) == (["c"], State.COMPLETED, None)


def test_a_schedule_tells_what_became_of_its_last_job_and_when_the_next_is_made(runtime: Runtime) -> None:
    clock = set_clock(runtime)
    schedule(runtime, every_ms=HOUR)
    for state in ("queued", "completed"):
        clock.move(HOUR)
        fire(runtime)
        (shown,) = call(runtime, "schedules").schedules
        assert shown.last_state == "queued"
        end_jobs(runtime)
        (shown,) = call(runtime, "schedules").schedules
        assert shown.last_state == "completed", state
    assert (shown.made, shown.last_at, shown.next_at) == (2, "2026-06-15T14:00:00.000Z", "2026-06-15T15:00:00.000Z")
    assert call(runtime, "list").jobs[0].id == shown.last_job


def test_the_jobs_of_a_schedule_are_listed_by_its_name_and_still_by_its_id_when_it_is_gone(runtime: Runtime) -> None:
    clock = set_clock(runtime)
    made = schedule(runtime, every_ms=HOUR)
    schedule(runtime, "other", every_ms=HOUR)
    clock.move(HOUR)
    fire(runtime)
    (job,) = call(runtime, "list", schedule="nightly").jobs
    assert job.schedule == made.id
    call(runtime, "unschedule", names=["nightly"])
    assert [each.id for each in call(runtime, "list", schedule=made.id).jobs] == [job.id]
    assert call(runtime, "list", schedule="nightly").jobs == ()


def test_those_that_are_named_are_told_and_what_is_missing_too(runtime: Runtime) -> None:
    made = schedule(runtime)
    found = call(runtime, "schedules", names=["nightly", made.id, "nobody"])
    assert ([each.name for each in found.schedules], [each.code for each in found.errors]) == (
        ["nightly", "nightly"],
        ["not_found"],
    )
    assert found.state is State.PARTIAL
    with pytest.raises(NotFound):
        call(runtime, "schedules", names=["nobody"])


def test_the_beginning_of_an_id_is_enough_at_the_shell_only(runtime: Runtime) -> None:
    made = schedule(runtime)
    assert call(runtime, "schedules", names=[made.id[:12]]).schedules[0].id == made.id
    with pytest.raises(NotFound):
        call(runtime.for_call(caller=Caller.MCP), "schedules", names=[made.id[:12]])


def test_people_are_told_that_nobody_makes_the_jobs(runtime: Runtime, hearth: Hearth) -> None:
    assert hearth("task", "schedules").err == ""
    schedule(runtime)
    shown = hearth("task", "schedules")
    assert "no worker is there" in shown.err
    assert shown.out.split("\t")[:3] == ["nightly", "yes", "30 2 * * *"]
