from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hearth import dispatch
from hearth.clock import timestamp
from hearth.engine.outputs import FOLDER
from hearth.model import State
from hearth.runtime import Caller, Runtime
from hearth.services.self.checks import jobs as checks
from hearth.settings import DAY_MS
from hearth.store import artifacts, jobs
from hearth.store.artifacts import Artifact
from hearth.store.jobs import Job, JobState
from tests.engine.workers import job, submit, until, working
from tests.store.job_rows import insert, row

Hearth = Callable[..., Any]


def prune(runtime: Runtime, **given: Any) -> Any:
    answer = dispatch.call_json(runtime, "task.prune", given)
    assert answer.error is None, answer.error
    return answer.result


def put(runtime: Runtime, *made: Job) -> list[str]:
    with runtime.store.write() as tx:
        insert(tx, *made)
    return [each.id for each in made]


def ended(runtime: Runtime, days: float, state: JobState = JobState.COMPLETED, **changed: Any) -> Job:
    return row(state, at=timestamp(runtime.clock.now_ms() - round(days * DAY_MS)), **changed)


def left(runtime: Runtime) -> list[str]:
    with runtime.store.read() as view:
        return [each[0] for each in view.execute("SELECT title FROM jobs ORDER BY seq")]


def bytes_below(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def test_what_a_job_left_goes_with_it(runtime: Runtime) -> None:
    data = Path(runtime.data_dir)
    with working(runtime):
        ids = [submit(runtime, f"import os; os.write(1, b'x' * {number})") for number in (5_001, 6_001)]
        for each in ids:
            assert until(runtime, each).state is JobState.COMPLETED
    assert bytes_below(data / "blobs") == 11_002
    found = prune(runtime, ids=[ids[0]])
    assert (found.pruned, found.bytes, bytes_below(data / "blobs")) == (1, 5_001, 6_001)
    assert prune(runtime, all=True).pruned == 1
    assert bytes_below(data / "blobs") == 0
    assert list((data / FOLDER).iterdir()) == []
    with runtime.store.read() as view:
        counts = [view.execute(f"SELECT count(*) FROM {each}").fetchone()[0] for each in ("artifacts", "environments")]
    assert counts == [0, 0]


@pytest.mark.timeout(20)
def test_the_space_of_a_thousand_jobs_with_output_is_free_again_and_the_doctor_tells_the_rule(
    runtime: Runtime,
) -> None:
    made = []
    bodies = [runtime.blobs.store([b"%9d" % number * 100], sync=False) for number in range(50)]
    with runtime.store.write() as tx:
        for number in range(1_000):
            body = bodies[number % len(bodies)]
            made.append(ended(runtime, 1, stdout_artifact=f"art_{number}", attempt=1))
            artifacts.insert(tx, output(made[-1], runtime.now(), body.sha256, body.size))
        insert(tx, *made)
    blobs = Path(runtime.data_dir, "blobs")
    assert bytes_below(blobs) == 45_000
    dry = prune(runtime, all=True, dry_run=True)
    assert (dry.pruned, dry.bytes, bytes_below(blobs)) == (1_000, 900_000, 45_000)
    assert "1,000 are there" in next(checks.kept(runtime)).message
    found = prune(runtime, all=True)
    assert (found.pruned, found.bytes, bytes_below(blobs)) == (1_000, 900_000, 0)
    told = next(checks.kept(runtime)).message
    assert told.startswith("jobs that ended are kept for 30 days, the newest 100,000 of them")
    assert "0 are there" in told


def output(of: Job, at: str, body: str, size: int) -> Artifact:
    assert of.stdout_artifact is not None
    return Artifact(
        id=of.stdout_artifact, at=at, body=body, size=size, media_type="text/plain",
        operation="task.submit", caller="shell",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("given", "stay"),
    [
        ({"states": ["failed", "lost"]}, ["a", "d", "waits"]),
        ({"group": "g"}, ["a", "c", "waits"]),
        ({"older_than_ms": 3 * DAY_MS}, ["c", "d", "waits"]),
        ({"keep": 1}, ["d", "waits"]),
        ({"keep": 1, "group": "g"}, ["a", "c", "d", "waits"]),
        ({"all": True}, ["waits"]),
        ({"older_than_ms": 9 * DAY_MS, "states": ["completed"]}, ["a", "b", "c", "d", "waits"]),
    ],
)
def test_jobs_are_chosen_by_how_they_ended_their_group_and_their_age(
    runtime: Runtime, given: dict[str, Any], stay: list[str]
) -> None:
    put(
        runtime,
        ended(runtime, 5, title="a"),
        ended(runtime, 4, JobState.FAILED, title="b", group_name="g"),
        ended(runtime, 2, JobState.LOST, title="c"),
        ended(runtime, 1, title="d", group_name="g"),
        ended(runtime, 9, JobState.QUEUED, title="waits", group_name="g"),
    )
    dry = prune(runtime, **given, dry_run=True)
    assert left(runtime) == ["a", "b", "c", "d", "waits"]
    assert prune(runtime, **given).pruned == dry.pruned == 5 - len(stay)
    assert left(runtime) == stay


def test_many_jobs_go_in_steps_past_those_that_stay(runtime: Runtime) -> None:
    put(runtime, *(ended(runtime, 1, title=str(number), group_name="ab"[number % 2]) for number in range(1_203)))
    assert prune(runtime, group="b").pruned == 601
    assert prune(runtime, group="a", keep=2).pruned == 600
    assert left(runtime) == ["1200", "1202"]


def test_of_several_ids_those_that_cannot_go_are_told(runtime: Runtime) -> None:
    over, waits = put(runtime, ended(runtime, 1), row(JobState.QUEUED))
    found = prune(runtime, ids=[over, waits, "job_nowhere"])
    assert (found.state, found.pruned) == (State.PARTIAL, 1)
    assert [(each.id, each.code) for each in found.errors] == [("job_nowhere", "not_found"), (waits, "conflict")]
    assert job(runtime, waits).state is JobState.QUEUED


def test_the_only_one_that_cannot_go_is_an_error(runtime: Runtime, hearth: Hearth) -> None:
    (waits,) = put(runtime, row(JobState.RUNNING, worker="wrk_x"))
    data = ("--data-dir", runtime.data_dir)
    assert hearth("task", "prune", waits, *data).status == 3
    assert hearth("task", "prune", "job_nowhere", *data).status == 4
    assert job(runtime, waits).state is JobState.RUNNING


@pytest.mark.parametrize(
    "words",
    [(), ("--job-state", "queued"), ("job_a", "--all"), ("job_a", "--keep", "1"), ("--dry-run",), ("--keep", "-1")],
)
def test_what_is_to_go_must_be_said(hearth: Hearth, words: tuple[str, ...]) -> None:
    assert hearth("task", "prune", *words).status == 2


def test_a_conversation_prunes_its_own_jobs_only(runtime: Runtime) -> None:
    put(runtime, ended(runtime, 1, title="mine", conversation="a"), ended(runtime, 1, title="other", conversation="b"))
    assert prune(runtime.for_call(caller=Caller.MCP, conversation="a"), all=True).pruned == 1
    assert left(runtime) == ["other"]


def test_a_job_whose_key_was_used_by_one_that_is_gone_is_made_anew(runtime: Runtime) -> None:
    first = submit(runtime, idempotency_key="k")
    with runtime.store.write() as tx:
        tx.execute("UPDATE jobs SET state = 'completed', ended_at = '2026-01-01T00:00:00.000Z'")
    prune(runtime, ids=[first])
    assert submit(runtime, idempotency_key="k") != first
    with runtime.store.read() as view:
        assert jobs.find(view, first) is None
