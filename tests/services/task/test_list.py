from __future__ import annotations

import json
from typing import Any

import pytest

from hearth import conversations
from hearth.errors import NotFound
from hearth.runtime import Caller, Runtime
from hearth.services.task.get import GetJob, get
from hearth.services.task.list import ListJobs, list_jobs
from tests.services.task.conftest import Run, Submit


def listed(hearth: Run, *words: str) -> list[str]:
    done = hearth("task", "list", "--json", *words)
    assert done.status == 0, done
    return [job["id"] for job in done.json["jobs"]]


def test_pages_join_without_gap_or_repeat(hearth: Run) -> None:
    batch = json.dumps({"start": False, "jobs": [{"command": "true"}] * 7})
    made = [job["id"] for job in hearth("call", "task.submit", "-", stdin=batch.encode()).json["jobs"]]
    seen: list[str] = []
    cursor: tuple[str, ...] = ()
    while True:
        page = hearth("task", "list", "--json", "-n", "3", *cursor).json
        seen += [job["id"] for job in page["jobs"]]
        if page["next_cursor"] is None:
            break
        assert page["state"] == "partial"
        cursor = ("--cursor", page["next_cursor"])
    assert seen == made[::-1]


def test_what_is_listed_can_be_chosen(hearth: Run, submit: Submit) -> None:
    plain = submit("make", "all")
    late = submit("Make", "test", delay="1h", group="nightly", label="a")
    assert listed(hearth, "--job-state", "scheduled") == [late]
    assert listed(hearth, "--job-state", "queued", "--job-state", "scheduled") == [late, plain]
    assert listed(hearth, "--unfinished") == [late, plain]
    assert listed(hearth, "--group", "nightly", "--label", "a", "--text", "mAKE T") == [late]
    assert listed(hearth, "--label", "b") == listed(hearth, "--since", "2999-01-01T00:00:00Z") == []


@pytest.mark.parametrize(
    ("words", "field"),
    [(("--cursor", "x"), "cursor"), (("--since", "2026-01-01"), "since"),
     (("--unfinished", "--states", "failed"), "unfinished"), (("--states", "done"), "states.0")],
)  # fmt: skip
def test_what_cannot_be_listed_is_refused(hearth: Run, words: tuple[str, ...], field: str) -> None:
    done = hearth("task", "list", *words, "--json")
    assert (done.status, done.json["error"]["details"]["problems"][0]["field"]) == (2, field)


def test_a_conversation_sees_its_own_jobs_and_no_other_ones(hearth: Run, submit: Submit, runtime: Runtime) -> None:
    nobodys = submit("true")
    own, foreign = (submit("true", conversation=name) for name in ("mine", "yours"))
    mine = runtime.for_call(caller=Caller.MCP, conversation=conversations.named("mine"))

    def ids(seen: Any) -> list[str]:
        return [job.id for job in seen.jobs]

    assert ids(list_jobs(mine, ListJobs())) == [own]
    assert ids(list_jobs(runtime, ListJobs())) == [foreign, own, nobodys]
    seen = get(mine, GetJob(id=nobodys)).job
    assert seen is not None
    assert seen.id == nobodys
    with pytest.raises(NotFound):
        get(mine, GetJob(id=foreign))
    assert hearth("task", "get", foreign, "--conversation", "mine").status == 0, "who has the shell has everything"


def test_a_table_names_what_a_person_looks_for(hearth: Run, submit: Submit) -> None:
    id_ = submit("make", "all")
    head, row = hearth("task", "list", "--no-color", terminal=True).out.splitlines()[:2]
    assert head.split()[:4] == ["id", "state", "title", "group"]
    assert row.split()[:4] == [id_, "queued", "make", "all"]
