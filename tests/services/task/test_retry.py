from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hearth import conversations
from hearth.engine import presence
from hearth.errors import NotFound
from hearth.runtime import Caller, Runtime
from hearth.services.task.retry import RetryJobs, retry
from hearth.store.jobs import JobState
from tests.services.task.conftest import Run, Submit, WaitFor, python
from tests.services.task.test_wait import end


def retried(hearth: Run, *words: str) -> list[dict[str, Any]]:
    done = hearth("task", "retry", "--no-start", "--json", *words)
    assert done.status == 0, done
    jobs: list[dict[str, Any]] = done.json["jobs"]
    return jobs


def told(hearth: Run, id_: str) -> dict[str, Any]:
    job: dict[str, Any] = hearth("task", "get", id_, "--json").json["job"]
    return job


@pytest.mark.usefixtures("worker")
def test_a_failed_job_runs_again_as_a_new_one(hearth: Run, work: Path, submit: Submit, wait_for: WaitFor) -> None:
    code = "import os, sys; sys.exit(0 if os.path.exists('there') else 3)"
    old = submit(*python(code), group="g", label="l", priority=5)
    assert wait_for(old).state is JobState.FAILED
    (work / "there").touch()
    (new,) = retried(hearth, old)
    assert wait_for(new["id"]).state is JobState.COMPLETED
    before, after = told(hearth, old), told(hearth, new["id"])
    assert (before["state"], before["retried_by"]) == ("failed", new["id"])
    assert after["retry_of"] == old
    same = ("title", "group", "labels", "priority")
    assert [before[name] for name in same] == [after[name] for name in same]


def test_any_way_to_end_can_be_retried_and_more_than_once(hearth: Run, runtime: Runtime, submit: Submit) -> None:
    old = end(runtime, submit("true"), JobState.COMPLETED)
    first, second = (retried(hearth, old)[0]["id"] for _ in range(2))
    assert first != second
    assert told(hearth, old)["retried_by"] == second


def test_what_has_not_ended_is_not_retried(hearth: Run, runtime: Runtime, submit: Submit) -> None:
    queued, failed = submit("true"), end(runtime, submit("true"), JobState.FAILED)
    done = hearth("task", "retry", queued, "--json")
    assert (done.status, done.json["error"]["code"]) == (3, "conflict")
    done = hearth("task", "retry", queued, failed, "job_none", "--no-start", "--json")
    assert (done.status, done.json["state"]) == (1, "partial")
    assert {error["id"]: error["code"] for error in done.json["errors"]} == {
        queued: "conflict",
        "job_none": "not_found",
    }
    assert [job["retry_of"] for job in done.json["jobs"]] == [failed]
    assert hearth("task", "retry", "job_none").status == 4


@pytest.mark.parametrize("words", [(), ("job_0", "--all-failed"), ("job_0", "--group", "g")])
def test_either_ids_or_all_that_failed_are_retried(hearth: Run, words: tuple[str, ...]) -> None:
    assert hearth("task", "retry", *words, "--json").status == 2


def test_no_worker_is_started_for_nothing(hearth: Run, runtime: Runtime) -> None:
    assert hearth("task", "retry", "--all-failed", "--json").json["worker"] == "none"
    assert not Path(runtime.data_dir, presence.LOG).exists()


def test_all_that_failed_in_a_group_is_retried_once(hearth: Run, runtime: Runtime, submit: Submit) -> None:
    states = (JobState.FAILED, JobState.TIMED_OUT, JobState.LOST, JobState.COMPLETED, JobState.CANCELLED)
    old = [end(runtime, submit("true", group="g"), state) for state in states]
    end(runtime, submit("true"), JobState.FAILED)
    assert [job["retry_of"] for job in retried(hearth, "--all-failed", "--group", "g")] == old[:3]
    assert retried(hearth, "--all-failed", "--group", "g") == []


def test_what_waited_for_a_job_keeps_to_it_when_that_is_retried(hearth: Run, runtime: Runtime, submit: Submit) -> None:
    first = submit("true")
    waiting, after_failure = submit("true", after=first), submit("true", after=f"{first}:failure")
    end(runtime, first, JobState.FAILED)
    retried(hearth, first)
    assert (told(hearth, waiting)["state"], told(hearth, after_failure)["state"]) == ("blocked", "queued")
    for id_ in (waiting, after_failure):
        assert [each["job"] for each in told(hearth, id_)["dependencies"]] == [first]


def test_dependents_that_were_blocked_follow_the_retry_if_they_are_to(
    hearth: Run, runtime: Runtime, submit: Submit
) -> None:
    first, fine = submit("true"), submit("true")
    middle = submit("true", after=first)
    last = submit("false", after=middle)
    both = hearth("task", "submit", "--no-start", "--json", "--after", last, "--after", fine, "--", "x").json["jobs"][0]
    unconcerned = submit("true", after=f"{first}:failure")
    end(runtime, fine, JobState.COMPLETED)
    end(runtime, first, JobState.FAILED)
    new = {job["retry_of"]: job for job in retried(hearth, first, "--dependents")}
    assert list(new) == [first, middle, last, both["id"]]
    assert unconcerned not in new
    assert [job["state"] for job in new.values()] == ["queued", "waiting", "waiting", "waiting"]

    def waits_for(id_: str) -> list[str]:
        return [each["job"] for each in told(hearth, new[id_]["id"])["dependencies"]]

    assert waits_for(middle) == [new[first]["id"]]
    assert waits_for(last) == [new[middle]["id"]]
    assert waits_for(both["id"]) == [new[last]["id"], fine]


def test_jobs_of_another_conversation_are_not_retried_with_it(runtime: Runtime, submit: Submit) -> None:
    mine, foreign = (submit("true", conversation=name) for name in ("mine", "yours"))
    submit("true", conversation="yours", after=mine)
    for id_ in (mine, foreign):
        end(runtime, id_, JobState.FAILED)
    own = runtime.for_call(caller=Caller.MCP, conversation=conversations.named("mine"))
    made = [
        retry(own, given).jobs
        for given in (RetryJobs(ids=(mine,), dependents=True, start=False), RetryJobs(all_failed=True, start=False))
    ]
    assert [[job.retry_of for job in jobs] for jobs in made] == [[mine], []]
    with pytest.raises(NotFound):
        retry(own, RetryJobs(ids=(foreign,)))


def test_a_blocked_job_waits_again_and_for_the_newest_retry(hearth: Run, runtime: Runtime, submit: Submit) -> None:
    first = submit("true")
    waiting = submit("true", after=first)
    end(runtime, first, JobState.FAILED)
    (still,) = retried(hearth, waiting)
    assert still["state"] == "blocked"
    (again,) = retried(hearth, first)
    (new,) = retried(hearth, still["id"])
    assert new["state"] == "waiting"
    assert [each["job"] for each in told(hearth, new["id"])["dependencies"]] == [again["id"]]


def test_a_job_that_was_allowed_to_start_waits_for_nothing(hearth: Run, runtime: Runtime, submit: Submit) -> None:
    first = submit("true")
    failed = submit("true", after=first)
    end(runtime, first, JobState.COMPLETED)
    end(runtime, failed, JobState.FAILED)
    (new,) = retried(hearth, failed)
    assert (new["state"], told(hearth, new["id"])["dependencies"]) == ("queued", [])
