from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hearth import dispatch
from hearth.cancellation import Cancellation
from hearth.engine import presence
from hearth.engine.leases import Kind
from hearth.engine.worker import Worker
from hearth.runtime import Runtime
from hearth.store.jobs import JobState
from tests.engine.workers import job, submit, until, working

Hearth = Callable[..., Any]
ENDLESS = "import time; time.sleep(60)"


def call(runtime: Runtime, operation: str, **given: Any) -> Any:
    answer = dispatch.call_json(runtime, f"task.{operation}", given)
    assert answer.error is None, answer.error
    return answer.result


def states(runtime: Runtime, ids: list[str]) -> list[JobState]:
    return [job(runtime, each).state for each in ids]


def rows(runtime: Runtime) -> int:
    with runtime.store.read() as view:
        return int(view.execute("SELECT count(*) FROM job_groups").fetchone()[0])


def test_a_group_is_listed_with_its_limit_and_what_is_queued_in_it(runtime: Runtime) -> None:
    submit(runtime, group="builds")
    submit(runtime, group="builds")
    call(runtime, "group", name="builds", parallel=3)
    call(runtime, "pause", groups=["later"])
    found = {each.name: each for each in call(runtime, "groups").groups}
    assert list(found) == ["builds", "later"]
    assert (found["builds"].parallel, found["builds"].own_parallel, found["builds"].queued) == (3, 3, 2)
    assert (found["later"].own_parallel, found["later"].paused, found["later"].queued) == (None, True, 0)
    assert found["later"].parallel >= 1


def test_long_lists_of_groups_come_in_pages(runtime: Runtime) -> None:
    for name in ("a", "c", "d"):
        submit(runtime, group=name)
    call(runtime, "pause", groups=["b"])
    first = call(runtime, "groups", limit=3)
    assert ([each.name for each in first.groups], first.state) == (["a", "b", "c"], "partial")
    assert [each.name for each in call(runtime, "groups", cursor=first.next_cursor).groups] == ["d"]


def test_a_limit_of_one_keeps_the_order_and_more_starts_more_at_once(runtime: Runtime) -> None:
    call(runtime, "group", name="line", parallel=1)
    ids = [submit(runtime, ENDLESS, group="line") for _ in range(3)]
    with working(runtime):
        until(runtime, ids[0], JobState.RUNNING)
        assert states(runtime, ids) == ["running", "queued", "queued"]
        call(runtime, "group", name="line", parallel=2)
        until(runtime, ids[1], JobState.RUNNING)
        assert states(runtime, ids) == ["running", "running", "queued"]


def test_a_limit_that_is_taken_away_leaves_no_row(runtime: Runtime) -> None:
    call(runtime, "group", name="a", parallel=7)
    assert rows(runtime) == 1
    assert call(runtime, "group", name="a", default=True).group.own_parallel is None
    assert rows(runtime) == 0


@pytest.mark.parametrize("given", [{"parallel": 0}, {}, {"parallel": 1, "default": True}, {"parallel": 10_001}])
def test_a_limit_that_is_none_is_refused(runtime: Runtime, given: dict[str, Any]) -> None:
    answer = dispatch.call_json(runtime, "task.group", {"name": "a", **given})
    assert answer.error is not None
    assert answer.error.code == "invalid_input"


def test_in_a_paused_group_what_runs_goes_on_and_nothing_new_starts(runtime: Runtime, work: Path) -> None:
    go = work / "go"
    first = submit(runtime, f"import os\nwhile not os.path.exists({str(go)!r}): pass", group="g")
    with working(runtime):
        until(runtime, first, JobState.RUNNING)
        assert [each.paused for each in call(runtime, "pause", groups=["g"]).groups] == [True]
        second = submit(runtime, group="g")
        other = submit(runtime, group="other")
        go.touch()
        assert until(runtime, first).state is JobState.COMPLETED
        assert until(runtime, other).state is JobState.COMPLETED
        assert job(runtime, second).state is JobState.QUEUED
        call(runtime, "resume", groups=["g"])
        assert until(runtime, second).state is JobState.COMPLETED
    assert rows(runtime) == 0


def test_all_groups_are_paused_and_resumed_at_once(runtime: Runtime) -> None:
    for name in ("a", "b"):
        submit(runtime, group=name)
    call(runtime, "pause", groups=["b"])
    assert [each.name for each in call(runtime, "pause", all=True).groups] == ["a"]
    assert call(runtime, "pause", all=True).groups == ()
    with working(runtime):
        assert [each.name for each in call(runtime, "resume", all=True).groups] == ["a", "b"]


@pytest.mark.parametrize("words", [("pause",), ("resume",), ("pause", "a", "--all"), ("pause", "not a name")])
def test_groups_are_named_or_all_are_meant(hearth: Hearth, words: tuple[str, ...]) -> None:
    assert hearth("task", *words).status == 2


def test_a_shell_completes_groups_and_jobs(runtime: Runtime, hearth: Hearth) -> None:
    made = [submit(runtime, group=name) for name in ("alpha", "beta", "alps")]
    call(runtime, "pause", groups=["alto"])
    data = ("--data-dir", runtime.data_dir)
    assert hearth("__complete", "group", "al", *data).out.split() == ["alpha", "alps", "alto"]
    assert hearth("__complete", "group", *data).out.split() == ["alpha", "alps", "alto", "beta"]
    assert hearth("__complete", "job", "job_", *data).out.split() == made[::-1]


def test_jobs_of_a_paused_group_keep_no_idle_worker_and_get_one_when_they_are_resumed(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    call(runtime, "pause", groups=["g"])
    id_ = submit(runtime, group="g")
    worker = Worker(runtime, Kind.BACKGROUND, idle_exit_ms=0)
    worker.run(Cancellation())
    assert job(runtime, id_).state is JobState.QUEUED
    assert not presence.hand_over(runtime)
    started: list[object] = []

    def start(*given: object) -> int:
        started.append(given)
        return os.getpid()

    monkeypatch.setattr(runtime.host, "start_background", start)
    call(runtime, "resume", groups=["g"])
    assert len(started) == 1


@pytest.mark.parametrize("words", ["group {} --parallel 1", "pause {}", "resume fine {}"])
def test_a_secret_is_no_name_of_a_group(runtime: Runtime, hearth: Hearth, words: str) -> None:
    token = "ghp_" + "a1B2" * 9
    done = hearth("task", *words.format(token).split(), "--json")
    assert done.json["error"]["code"] == "secret_refused"
    assert token not in done.out
    assert rows(runtime) == 0


def test_what_is_queued_in_a_paused_group_is_told(runtime: Runtime, hearth: Hearth) -> None:
    call(runtime, "pause", groups=["later"])
    told = "hearth: the group later is paused; `hearth task resume later` lets its jobs start\n"
    assert told in hearth("task", "submit", "--no-start", "--group", "later", "true").err
    assert told in hearth("task", "schedule", "--no-start", "--group", "later", "s", "--every", "1h", "true").err
    assert "paused" not in hearth("task", "submit", "--no-start", "true").err
    hearth("task", "cancel", "--group", "later")
    with runtime.store.read() as view:
        (id_,) = (row[0] for row in view.execute("SELECT id FROM jobs WHERE group_name = 'later'"))
    assert told in hearth("task", "retry", "--no-start", id_).err
