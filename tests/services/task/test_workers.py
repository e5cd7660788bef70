from __future__ import annotations

import os
import sys

import pytest

from hearth import dispatch
from hearth.engine import leases, presence
from hearth.engine.leases import Kind, Standing
from hearth.runtime import Runtime
from hearth.store import workers
from hearth.store.jobs import JobState
from tests.engine.workers import submit, until, working
from tests.store.job_rows import insert, row


def listed(runtime: Runtime) -> dict[str, tuple[Standing, int]]:
    answer = dispatch.call_json(runtime, "task.workers", {})
    assert answer.error is None
    return {each.id: (each.standing, each.jobs) for each in answer.result.workers}


def test_workers_are_listed_with_the_jobs_that_they_look_after(runtime: Runtime) -> None:
    with working(runtime) as worker:
        until(runtime, submit(runtime, "import time; time.sleep(60)"), JobState.RUNNING)
        assert listed(runtime) == {worker.id: (Standing.LIVING, 1)}
    assert listed(runtime) == {}


def test_a_worker_that_shows_nothing_for_long_is_stuck(runtime: Runtime) -> None:
    me = leases.sign_on(runtime, Kind.FOREGROUND)
    with runtime.store.write() as tx:
        workers.beat(tx, me.id, leases.beat_now() - round(leases.LEASE_S * 1000) - 1)
    assert listed(runtime)[me.id][0] is Standing.STUCK
    assert presence.workers(runtime) == []


def unrelated(runtime: Runtime) -> str:
    """The row of a worker whose number an unrelated process of now has: this one."""
    me = leases.sign_on(runtime, Kind.BACKGROUND)
    stale = replace_start(me)
    with runtime.store.write() as tx:
        workers.delete(tx, me.id)
        workers.insert(tx, stale)
    return stale.id


def replace_start(me: workers.WorkerRow) -> workers.WorkerRow:
    return me._replace(pid_start=me.pid_start + "1")


def test_a_process_that_has_a_dead_workers_number_is_not_taken_for_it(runtime: Runtime) -> None:
    stale = unrelated(runtime)
    assert listed(runtime)[stale] == (Standing.GONE, 0)
    with runtime.store.write() as tx:
        insert(tx, row(JobState.RUNNING, worker=stale, attempt=1))
    id_ = submit(runtime)
    with working(runtime) as worker:
        assert until(runtime, id_).state is JobState.COMPLETED
        assert [*listed(runtime)] == [worker.id]


def test_a_worker_of_an_earlier_start_of_the_machine_is_gone(runtime: Runtime) -> None:
    me = leases.sign_on(runtime, Kind.BACKGROUND)
    earlier = me._replace(boot="earlier", id="wrk_earlier")
    with runtime.store.write() as tx:
        workers.insert(tx, earlier)
    assert listed(runtime)["wrk_earlier"][0] is Standing.GONE


@pytest.mark.parametrize(("age_s", "other"), [(presence.STARTING_S + 1, ""), (-3_600, ""), (0, "1")])
def test_a_stale_sign_of_a_start_keeps_nobody_from_starting_a_worker(
    runtime: Runtime, age_s: float, other: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It names a living process: long ago, or after the clock was put back, or one that only has the number now."""
    unrelated(runtime)
    started: list[list[str]] = []

    def start(words: list[str], *_: object) -> int:
        started.append(words)
        return os.getpid()

    monkeypatch.setattr(runtime.host, "start_background", start)
    marker = os.path.join(runtime.data_dir, presence.MARKER)
    now = runtime.clock.now_ms() / 1000
    with open(marker, "w", encoding="ascii") as file:
        file.write(f"{os.getpid()} {runtime.host.process_start(os.getpid())}{other}\n")
    os.utime(marker, (now - age_s, now - age_s))
    assert presence.ensure_worker(runtime)
    assert [words[0] for words in started] == [sys.executable]
    assert not presence.ensure_worker(runtime), "one that was started a moment ago is about to sign on"
    assert len(started) == 1


def test_the_sign_of_a_start_goes_once_that_worker_is_there(runtime: Runtime) -> None:
    id_ = submit(runtime)
    marker = os.path.join(runtime.data_dir, presence.MARKER)
    with open(marker, "w", encoding="ascii"):
        """As who starts one in the background leaves it."""
    with working(runtime, kind=Kind.BACKGROUND):
        until(runtime, id_)
        assert not os.path.exists(marker)
