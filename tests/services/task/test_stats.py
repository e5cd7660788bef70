from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hearth import dispatch
from hearth.clock import timestamp
from hearth.runtime import Runtime
from hearth.services.task import stats as module
from hearth.store.jobs import Job, JobState
from tests.store.job_rows import insert, row

Hearth = Callable[..., Any]
HOUR_MS = 3_600_000


def stats(runtime: Runtime, **given: Any) -> Any:
    answer = dispatch.call_json(runtime, "task.stats", given)
    assert answer.error is None, answer.error
    return answer.result


def ended(runtime: Runtime, hours: float, state: JobState = JobState.COMPLETED, **changed: Any) -> Job:
    """A job that ended so many hours ago."""
    return row(state, at=timestamp(runtime.clock.now_ms() - round(hours * HOUR_MS)), **changed)


def test_figures_tell_how_long_jobs_waited_and_ran_and_how_they_ended(runtime: Runtime) -> None:
    with runtime.store.write() as tx:
        insert(tx, *(ended(runtime, 1, waited_ms=each, ran_ms=10 * each) for each in range(1, 101)))
        insert(tx, ended(runtime, 1, JobState.FAILED, reason="exit_code", group_name="b"))
        insert(tx, ended(runtime, 1, JobState.FAILED, reason="exit_code", group_name="b"))
        insert(tx, ended(runtime, 1, JobState.CANCELLED, group_name="b"))
        insert(tx, ended(runtime, 25, JobState.LOST, group_name="b"))
    found = stats(runtime)
    other, usual = found.groups
    assert (usual.group, usual.ended, usual.completed, usual.failures) == ("default", 100, 100, ())
    assert (usual.waited_median_ms, usual.waited_p95_ms, usual.waited_max_ms) == (50, 95, 100)
    assert (usual.ran_median_ms, usual.ran_p95_ms, usual.ran_max_ms) == (500, 950, 1_000)
    assert [(each.reason, each.count) for each in other.failures] == [("exit_code", 2), ("cancelled", 1)]
    assert (other.ended, other.completed, other.waited_median_ms, other.ran_max_ms) == (3, 0, None, None)
    assert (found.total.group, found.total.ended, found.total.ended_per_hour) == (None, 103, 4.29)


def test_figures_tell_what_is_not_finished(runtime: Runtime) -> None:
    first = timestamp(runtime.clock.now_ms() - 60_000)
    with runtime.store.write() as tx:
        insert(tx, row(JobState.QUEUED, queued_at=first), row(JobState.QUEUED, queued_at=runtime.now()))
        insert(tx, row(JobState.SCHEDULED), row(JobState.WAITING), row(JobState.WAITING))
        insert(tx, row(JobState.RUNNING, worker="wrk_x"))
    (found,) = stats(runtime).groups
    assert (found.scheduled, found.waiting, found.queued, found.running) == (1, 2, 2, 1)
    assert 60_000 <= found.queued_for_ms < 90_000
    assert found.ended == 0


@pytest.mark.parametrize(
    ("given", "count"), [({"last_ms": HOUR_MS}, 1), ({"since": "2020-01-01T00:00:00Z"}, 3), ({}, 2)]
)
def test_figures_are_of_the_time_that_was_asked_for(runtime: Runtime, given: dict[str, Any], count: int) -> None:
    with runtime.store.write() as tx:
        insert(tx, *(ended(runtime, hours) for hours in (0.5, 5, 50)))
    assert stats(runtime, **given).total.ended == count


def test_of_very_many_jobs_the_newest_are_counted_and_the_answer_says_since_when(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_ENDED", 10)
    made = [ended(runtime, hours / 10, ran_ms=hours) for hours in range(30)]
    with runtime.store.write() as tx:
        insert(tx, *made)
    found = stats(runtime)
    assert (found.total.ended, found.since_at) == (10, made[9].ended_at)
    assert found.total.ran_max_ms == 9
    assert found.total.ended_per_hour == pytest.approx(10 / 0.9, rel=0.05)


def test_a_time_is_given_in_one_way(hearth: Hearth) -> None:
    assert hearth("task", "stats", "--last", "1h", "--since", "2020-01-01T00:00:00Z").status == 2
    assert hearth("task", "stats", "--since", "yesterday").status == 2
    assert hearth("task", "stats", "--last", "1h").status == 0
