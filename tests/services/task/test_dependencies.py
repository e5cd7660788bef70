from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from hearth.runtime import Runtime
from hearth.store.jobs import JobState
from tests.conftest import Done
from tests.services.task.conftest import Run, Submit, WaitFor, python
from tests.services.task.test_submit import count, problems
from tests.services.task.test_wait import end

CHOSEN = "job_" + "0" * 26
Batch = Callable[..., Done]


def job(*on: Any, **more: Any) -> dict[str, Any]:
    """A job that waits for what is given: an index, an id, or a whole dependency."""
    named = [each if isinstance(each, dict) else {"index" if isinstance(each, int) else "job": each} for each in on]
    return {"command": "true", "dependencies": named, **more}


@pytest.fixture
def batch(hearth: Run) -> Batch:
    def submit(*jobs: dict[str, Any], **options: Any) -> Done:
        given = {"jobs": list(jobs), "start": False, **options}
        return hearth("call", "task.submit", "-", stdin=json.dumps(given).encode())

    return submit


@pytest.mark.parametrize(
    ("jobs", "expected"),
    [
        ((job(0),), ("jobs.0.dependencies.0", "cyclic")),
        ((job(), job(1)), ("jobs.1.dependencies.0", "cyclic")),
        ((job(1), job(0)), ("jobs.0.dependencies", "cyclic")),
        ((job(), job(2), job(3), job(1, 0)), ("jobs.1.dependencies", "cyclic")),
        ((job(CHOSEN, id=CHOSEN),), ("jobs.0.dependencies.0", "cyclic")),
        ((job(1, id=CHOSEN), job(CHOSEN)), ("jobs.0.dependencies", "cyclic")),
        ((job(), job(2)), ("jobs.1.dependencies.0", "out_of_range")),
        ((job(), job({})), ("jobs.1.dependencies.0", "not_one_of")),
        ((job(), job({"job": "job_1", "index": 0})), ("jobs.1.dependencies.0", "not_one_of")),
        ((job("job_none"),), ("jobs.0.dependencies.0", "unknown_job")),
    ],
    ids=lambda value: value[1] if isinstance(value[0], str) else None,
)
def test_what_can_never_start_is_refused(
    batch: Batch, runtime: Runtime, jobs: tuple[dict[str, Any], ...], expected: tuple[str, str]
) -> None:
    assert problems(batch(*jobs)) == [expected]
    assert count(runtime) == 0


def test_a_circle_through_jobs_that_wait_already_is_refused(batch: Batch, runtime: Runtime) -> None:
    (waiting,) = batch(job(CHOSEN), allow_missing=True).json["jobs"]
    (further,) = batch(job(waiting["id"])).json["jobs"]
    done = batch(job(further["id"], id=CHOSEN))
    assert problems(done) == [("dependencies", "cyclic")]
    assert problems(batch(job(1, id=CHOSEN), job(further["id"]))) == [("dependencies", "cyclic")]
    assert count(runtime) == 2


@pytest.mark.usefixtures("worker")
def test_a_job_waits_for_one_that_is_submitted_later(batch: Batch, wait_for: WaitFor) -> None:
    (early,) = batch(job(CHOSEN), allow_missing=True).json["jobs"]
    assert early["state"] == "waiting"
    command, *args = python("")
    batch({"command": command, "args": args, "id": CHOSEN})
    first, last = wait_for(CHOSEN), wait_for(early["id"])
    assert first.state is JobState.COMPLETED
    assert (last.ended_at or "") >= (first.ended_at or "")


@pytest.mark.usefixtures("worker")
def test_jobs_run_in_the_order_of_what_they_wait_for(batch: Batch, wait_for: WaitFor) -> None:
    command, *args = python("")
    run = {"command": command, "args": args}
    ids = [each["id"] for each in batch({**job(2), **run}, {**job(), **run}, {**job(1), **run}).json["jobs"]]
    ended = [wait_for(id_) for id_ in ids]
    assert [each.state for each in ended] == [JobState.COMPLETED] * 3
    assert str(ended[1].ended_at) <= str(ended[2].started_at) <= str(ended[2].ended_at) <= str(ended[0].started_at)


@pytest.mark.parametrize("before", [True, False], ids=["ended before", "ends after"])
@pytest.mark.parametrize(
    ("state", "starts"),
    [
        (JobState.COMPLETED, {"success", "finished"}),
        (JobState.FAILED, {"failure", "finished"}),
        (JobState.TIMED_OUT, {"failure", "finished"}),
        (JobState.LOST, {"failure", "finished"}),
        (JobState.CANCELLED, {"finished"}),
    ],
)
def test_how_a_job_ends_decides_what_starts(
    runtime: Runtime, submit: Submit, wait_for: WaitFor, state: JobState, starts: set[str], *, before: bool
) -> None:
    first = submit("true")
    if before:
        end(runtime, first, state)
    ids = {on: submit("true", after=f"{first}:{on}") for on in ("success", "failure", "finished")}
    if not before:
        assert {wait_for(id_, JobState.WAITING, seconds=0).unmet for id_ in ids.values()} == {1}
        end(runtime, first, state)
    for on, id_ in ids.items():
        found = wait_for(id_, JobState.QUEUED, JobState.BLOCKED, seconds=0)
        assert found.state is (JobState.QUEUED if on in starts else JobState.BLOCKED), on
        if on not in starts:
            assert found.reason == "dependency"
            assert first in (found.message or "")


def test_a_job_of_a_batch_that_is_blocked_at_once_blocks_what_waits_for_it(
    batch: Batch, runtime: Runtime, submit: Submit
) -> None:
    failed = end(runtime, submit("true"), JobState.FAILED)
    made = batch(job(1), job(failed), job({"index": 1, "on": "finished"}), job({"index": 0, "on": "failure"})).json[
        "jobs"
    ]
    assert [each["state"] for each in made] == ["blocked", "blocked", "queued", "queued"]


def test_a_chosen_id_that_is_blocked_at_once_blocks_what_waited_for_it(
    batch: Batch, runtime: Runtime, submit: Submit, wait_for: WaitFor
) -> None:
    failed = end(runtime, submit("true"), JobState.FAILED)
    (early,) = batch(job(CHOSEN), allow_missing=True).json["jobs"]
    batch(job(failed, id=CHOSEN))
    assert wait_for(early["id"], seconds=0).state is JobState.BLOCKED


def test_a_job_that_waits_for_the_same_one_twice_starts_once_it_ended(
    runtime: Runtime, submit: Submit, batch: Batch, wait_for: WaitFor
) -> None:
    first = submit("true")
    (both,) = batch(job(first, {"job": first, "on": "finished"})).json["jobs"]
    end(runtime, first, JobState.COMPLETED)
    assert wait_for(both["id"], JobState.QUEUED, seconds=0).unmet == 0


def test_what_is_waited_for_does_not_make_a_job_start_before_its_time(
    runtime: Runtime, submit: Submit, wait_for: WaitFor
) -> None:
    first = submit("true")
    later = submit("true", after=first, delay="1h")
    end(runtime, first, JobState.COMPLETED)
    assert wait_for(later, JobState.SCHEDULED, seconds=0)


def test_at_the_shell_a_job_may_be_named_by_its_beginning(hearth: Run, submit: Submit) -> None:
    first = submit("true")
    second = submit("true", after=first[:25] if len(first) > 25 else first)
    told = hearth("task", "get", second, "--json").json["job"]
    assert [each["job"] for each in told["dependencies"]] == [first]
    done = hearth("task", "submit", "--json", "--no-start", "--after", "job_", "--", "true")
    assert problems(done) == [("dependencies.0", "ambiguous")]


def test_a_long_chain_is_settled_to_its_end(batch: Batch, hearth: Run, wait_for: WaitFor) -> None:
    ids = [each["id"] for each in batch(job(), *(job(index) for index in range(63))).json["jobs"]]
    hearth("task", "cancel", ids[0])
    assert wait_for(ids[-1], seconds=0).state is JobState.BLOCKED


def test_a_job_cannot_wait_for_a_call(hearth: Run) -> None:
    done = hearth(
        "task", "submit", "--after", "fut_01m8ptc6xb0q2s1r9v5w3k7d8e", "--allow-missing", "--json", "--", "true"
    )
    assert (done.status, done.json["error"]["details"]["problems"][0]["code"]) == (2, "not_a_job")
