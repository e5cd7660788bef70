from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hearth import dispatch
from hearth.clock import timestamp
from hearth.engine import leases
from hearth.engine.leases import Kind
from hearth.runtime import Runtime
from hearth.services.self.checks import jobs as checks
from hearth.services.self.checks.outcome import Health
from hearth.store import job_groups, workers
from hearth.store.jobs import JobState
from tests.store.job_rows import insert, row


def found(runtime: Runtime) -> list[tuple[Health, str]]:
    return [(each.health, each.message) for each in checks.look(runtime)]


def put(runtime: Runtime, *states: JobState, **changed: Any) -> None:
    with runtime.store.write() as tx:
        insert(tx, *(row(state, **changed) for state in states))


def test_without_a_database_nothing_is_made(runtime: Runtime) -> None:
    assert found(runtime) == [(Health.OK, "none yet")]
    assert not Path(runtime.data_dir).exists()


def test_what_is_well_is_one_line(runtime: Runtime) -> None:
    leases.sign_on(runtime, Kind.FOREGROUND)
    put(runtime, JobState.QUEUED, JobState.COMPLETED)
    ((health, message),) = found(runtime)
    assert health is Health.OK
    assert message.startswith("1 worker, 1 unfinished job, at most ")


def test_jobs_that_nobody_looks_after_are_told_with_the_way_out(runtime: Runtime) -> None:
    put(runtime, JobState.QUEUED, JobState.SCHEDULED, JobState.SCHEDULED)
    put(runtime, JobState.RUNNING, worker="wrk_gone")
    put(runtime, JobState.SCHEDULED, due_at="2999-01-01T00:00:00.000Z")
    (only,) = checks.look(runtime)
    assert only.message == "1 job is queued, 1 job is running, 2 jobs are overdue, and no worker is there"
    assert "`hearth worker`" in (only.hint or "")


def test_a_worker_whose_heart_stands_still_is_told(runtime: Runtime) -> None:
    me = leases.sign_on(runtime, Kind.FOREGROUND)
    with runtime.store.write() as tx:
        workers.beat(tx, me.id, leases.beat_now() - 90_000)
    ((health, message),) = found(runtime)
    assert health is Health.WARN
    assert message.startswith(f"the worker {me.id} (process {me.pid}) has not moved for 9")


def test_paused_groups_with_jobs_in_them_are_told(runtime: Runtime) -> None:
    leases.sign_on(runtime, Kind.FOREGROUND)
    put(runtime, JobState.QUEUED, JobState.QUEUED, group_name="held")
    with runtime.store.write() as tx:
        for name in ("held", "empty"):
            job_groups.set_group(tx, name, paused=True)
    (only,) = checks.look(runtime)
    assert (only.message, only.hint) == ("the group held is paused, and 2 jobs in it wait", "`hearth task resume held`")


def test_jobs_of_paused_groups_need_no_worker(runtime: Runtime) -> None:
    put(runtime, JobState.QUEUED, group_name="held")
    with runtime.store.write() as tx:
        job_groups.set_group(tx, "held", paused=True)
    assert [message for _, message in found(runtime)] == ["the group held is paused, and 1 job in it waits"]


def test_lost_jobs_of_late_and_outputs_without_room_are_told(runtime: Runtime) -> None:
    leases.sign_on(runtime, Kind.FOREGROUND)
    put(runtime, JobState.LOST, at=timestamp(runtime.clock.now_ms() - 1_000))
    put(runtime, JobState.LOST)
    put(runtime, JobState.COMPLETED, in_files=True)
    assert [message.partition(",")[0] for _, message in found(runtime)] == [
        "the outputs of 1 job wait in files",
        "1 job of the last day is lost: nobody saw the end",
    ]


def test_the_rule_by_which_jobs_go_is_told_with_their_number(runtime: Runtime) -> None:
    put(runtime, JobState.COMPLETED, JobState.FAILED, JobState.QUEUED)
    (only,) = checks.kept(runtime)
    assert only.message == (
        "jobs that ended are kept for 30 days, the newest 100,000 of them, their outputs for 30 days; 2 are there"
    )


@pytest.mark.parametrize("can", [True, False])
def test_a_file_system_without_holes_is_a_warning(runtime: Runtime, can: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    Path(runtime.data_dir).mkdir(parents=True)
    monkeypatch.setattr(runtime.host, "punch_hole", lambda *_: can)
    assert [each.health for each in checks.holes(runtime)] == [Health.OK if can else Health.WARN]
    assert list(Path(runtime.data_dir).iterdir()) == []


def test_the_doctor_looks_at_jobs(runtime: Runtime) -> None:
    answer = dispatch.call_json(runtime, "self.doctor", {})
    assert answer.error is None
    assert {"jobs", "job_retention", "job_outputs"} <= {each.check for each in answer.result.checks}
