from __future__ import annotations

import json
import sys

import pytest

from hearth.store.jobs import JobState
from tests.services.task.conftest import Run, Submit, WaitFor, python


@pytest.mark.usefixtures("worker")
def test_a_job_is_told_from_its_submission_to_its_end(hearth: Run, submit: Submit, wait_for: WaitFor) -> None:
    id_ = submit(*python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)"), group="g", label="l")
    assert wait_for(id_).state is JobState.FAILED
    told = hearth("task", "get", id_, "--json").json
    job = told["job"]
    assert told["state"] == "completed"
    assert (job["state"], job["exit_code"], job["reason"], job["attempt"]) == ("failed", 3, "exit_code", 1)
    assert (job["group"], job["labels"], job["pid"], told["worker"]) == ("g", ["l"], None, None)
    assert told["command"][0] == sys.executable
    assert job["stdout_artifact"].startswith("art_")
    assert job["created_at"] <= job["started_at"] <= job["ended_at"]


def test_a_job_is_found_by_the_beginning_of_its_id_at_the_shell_only(hearth: Run, submit: Submit) -> None:
    id_ = submit("true")
    assert hearth("task", "get", id_[:12], "--json").json["job"]["id"] == id_
    request = json.dumps({"operation": "task.get", "input": {"id": id_[:12]}})
    assert hearth("call", "--batch", stdin=request.encode()).lines[0]["exit_status"] == 4


def test_a_beginning_of_several_ids_is_refused(hearth: Run, submit: Submit) -> None:
    submit("true")
    submit("true")
    done = hearth("task", "get", "job_", "--json")
    assert (done.status, done.json["error"]["details"]["problems"][0]["code"]) == (2, "ambiguous")


def test_an_id_of_no_job_is_not_found(hearth: Run) -> None:
    done = hearth("task", "get", "job_none", "--json")
    assert (done.status, done.json["error"]["code"]) == (4, "not_found")


def test_status_is_another_name_of_get(hearth: Run, submit: Submit) -> None:
    id_ = submit("true")
    assert hearth("task", "status", id_, "--json").json == hearth("task", "get", id_, "--json").json
