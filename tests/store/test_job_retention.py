from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hearth.clock import Clock, timestamp
from hearth.platforms.local import local_host
from hearth.settings import RetentionSettings
from hearth.store import artifacts, jobs
from hearth.store.artifacts import Artifact
from hearth.store.database import Store
from hearth.store.jobs import Attempt, Condition, Dependency, Job, JobState
from hearth.store.retention import DAY_MS, GRACE_MS, Removed, Retention, tend
from tests.store.job_rows import insert, row

NOW = Clock().now_ms() + 2 * GRACE_MS  # what a test makes is old enough to be nobody's

Retain = Callable[..., Retention]


@pytest.fixture
def retain(store: Store, data: Path) -> Retain:
    """The rules, with the settings that differ from what everybody has."""

    def make(*, dry_run: bool = False, now_ms: int = NOW, **changed: int) -> Retention:
        keep = RetentionSettings(**changed)
        return Retention(local_host(), store, str(data), keep, now_ms, dry_run=dry_run)

    return make


def ended(days: float, state: JobState = JobState.COMPLETED, **changed: Any) -> Job:
    return row(state, at=timestamp(NOW - int(days * DAY_MS)), **changed)


def put(store: Store, *made: Job) -> list[int]:
    with store.write() as tx:
        return insert(tx, *made)


def left(store: Store) -> list[str]:
    with store.read() as view:
        return [each[0] for each in view.execute("SELECT title FROM jobs ORDER BY seq")]


def number_of(store: Store, table: str) -> int:
    with store.read() as view:
        return int(view.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


def artifact(store: Store, retention: Retention, name: str, content: bytes, *, pinned: bool = False) -> str:
    sha256 = retention.blobs.store([content], sync=False).sha256
    made = Artifact(
        id=f"art_{name}",
        at=timestamp(NOW),
        body=sha256,
        size=len(content),
        media_type="text/plain",
        operation="task.submit",
        caller="shell",
        pinned=pinned,
    )
    with store.write() as tx:
        artifacts.insert(tx, made)
    return made.id


def test_jobs_go_some_days_after_they_ended(store: Store, retain: Retain) -> None:
    put(store, ended(31, title="old"), ended(29, title="young"), ended(400, JobState.QUEUED, title="waits"))
    assert retain(jobs_days=30).expire_jobs() == Removed("jobs", 1, 0)
    assert left(store) == ["young", "waits"]


def test_of_too_many_jobs_the_oldest_go_but_none_of_the_last_minute(store: Store, retain: Retain) -> None:
    put(store, *(ended(days, title=str(days)) for days in (3, 5, 4, 1)), ended(0, title="now"))
    assert retain(jobs_max=2).expire_jobs().count == 3
    assert left(store) == ["1", "now"]
    assert retain(jobs_max=0).expire_jobs().count == 1
    assert left(store) == ["now"]


def test_jobs_above_the_number_that_ended_at_one_moment_go_by_the_number(store: Store, retain: Retain) -> None:
    put(store, *(ended(2) for _ in range(9)))
    assert retain(jobs_max=4).expire_jobs().count == 5
    assert len(left(store)) == 4


def test_with_a_job_go_its_runs_labels_artifacts_files_and_variables(store: Store, data: Path, retain: Retain) -> None:
    retention = retain()
    names = {name: artifact(store, retention, name, name.encode()) for name in ("out", "err", "earlier")}
    pinned = artifact(store, retention, "pinned", b"pinned", pinned=True)
    old = ended(31, stdout_artifact=names["out"], stderr_artifact=names["err"], attempt=2)
    with store.write() as tx:
        seq = jobs.insert(tx, old._replace(environment=jobs.environment(tx, {"A": "1"})), labels=["a"])
        first = dict.fromkeys(Attempt._fields[5:]) | {"stdout_artifact": names["earlier"], "stderr_artifact": pinned}
        jobs.keep_attempt(tx, seq, Attempt(1, None, old.created_at, JobState.FAILED, 1, **first))
    folder = data / "jobs" / f"{old.id}.2.0123abcd"
    folder.mkdir(parents=True)
    (folder / "stdout").write_bytes(b"out")
    assert retention.expire_jobs() == Removed("jobs", 1, len("outerrearlier"))
    assert [number_of(store, each) for each in ("jobs", "job_attempts", "job_labels", "environments")] == [0] * 4
    with store.read() as view:
        assert [each.id for each in artifacts.page(view, before=1 << 62, limit=9)] == [pinned]
    assert not folder.exists()
    assert sum(path.is_file() for path in (data / "blobs").rglob("*")) == 1


def test_variables_that_another_job_has_stay(store: Store, retain: Retain) -> None:
    put(store, ended(31), ended(1))
    retain().expire_jobs()
    assert number_of(store, "environments") == 1


def test_variables_that_nobody_has_go(store: Store, retain: Retain) -> None:
    put(store, ended(1))
    with store.write() as tx:
        jobs.environment(tx, {"LOST": "x"})
    size = len('{"LOST": "x"}')
    assert retain(dry_run=True).remove_environments() == Removed("environments", 1, size)
    assert retain().remove_environments() == Removed("environments", 1, size)
    assert retain().remove_environments().count == 0
    assert number_of(store, "environments") == 1


def test_what_waits_for_other_jobs_is_left_alone(store: Store, retain: Retain) -> None:
    old = ended(31, title="old")
    put(store, old)
    with store.write() as tx:
        waits = row(JobState.WAITING, title="waits", environment=jobs.environment(tx, {}))
        needs = [Dependency(old.id, Condition.SUCCESS, True), Dependency("job_later", Condition.SUCCESS, False)]
        seq = jobs.insert(tx, waits, dependencies=needs)
    retain().expire_jobs()
    with store.read() as view:
        assert jobs.dependencies(view, seq) == tuple(needs)
        found = jobs.find_by_seq(view, seq)
    assert found is not None
    assert (found.state, found.unmet) == (JobState.WAITING, 1)


def test_files_whose_jobs_are_over_go_and_those_of_what_runs_or_is_kept_later_stay(
    store: Store, data: Path, retain: Retain
) -> None:
    made = {
        "runs": row(JobState.RUNNING, worker="wrk_x", attempt=2),
        "ended": ended(1, attempt=1),
        "in_files": ended(1, attempt=2, in_files=True),
        "gone": row(),
    }
    put(store, *(made[name] for name in ("runs", "ended", "in_files")))
    kept = [f"{made['runs'].id}.1.a", f"{made['runs'].id}.2.b", f"{made['in_files'].id}.2.c"]
    over = [f"{made['ended'].id}.1.d", f"{made['in_files'].id}.1.e", f"{made['gone'].id}.1.f"]
    for name in (*kept, *over):
        (data / "jobs" / name).mkdir(parents=True)
        (data / "jobs" / name / "stdout").write_bytes(b"12345")
    assert retain(now_ms=NOW - 2 * GRACE_MS).remove_job_folders().count == 0
    assert retain(dry_run=True).remove_job_folders() == Removed("job files", 3, 15)
    assert retain().remove_job_folders() == Removed("job files", 3, 15)
    assert sorted(os.listdir(data / "jobs")) == sorted(kept)


def test_a_dry_run_counts_the_jobs_that_would_go(store: Store, retain: Retain) -> None:
    retention = retain()
    put(store, ended(31, stdout_artifact=artifact(store, retention, "a", b"12345")), ended(2), ended(1))
    told = retain(dry_run=True, jobs_max=1).expire_jobs()
    assert (told, number_of(store, "jobs")) == (Removed("jobs", 2, 5), 3)
    assert retain(jobs_max=1).expire_jobs() == told
    assert number_of(store, "artifacts") == 0


def test_old_jobs_go_in_passing(store: Store, retain: Retain) -> None:
    put(store, ended(31), ended(1))
    tend(retain(), number=1)
    assert number_of(store, "jobs") == 1
