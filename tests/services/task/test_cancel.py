from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hearth.engine import finish
from hearth.engine.leases import Kind
from hearth.engine.running import Ended, Ending
from hearth.engine.worker import Worker
from hearth.platforms.processes import Exit
from hearth.runtime import Runtime
from hearth.store import job_queue, jobs
from hearth.store.jobs import Job, JobState
from tests.conftest import ROOT
from tests.marks import posix_only
from tests.services.task.conftest import SLEEPER, Run, Submit, WaitFor, Working, python

asks_first = posix_only("a program on Windows hears of its end through the console only")
CLEANS_UP = """
import pathlib, signal, sys, threading
def end(*_):
    threading.Timer(0.2, pathlib.Path('cleaned').touch).start()
signal.signal(signal.SIGTERM, lambda *_: (end(), sys.exit(0)))
pathlib.Path('ready').touch()
signal.pause()
"""
STUBBORN = """
import pathlib, signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
pathlib.Path('ready').touch()
while True:
    signal.pause()
"""


def cancelled(hearth: Run, *words: str) -> tuple[int, str, list[tuple[str, str]]]:
    """The exit status, the answer's state, and of each job where it stands and what came of it."""
    done = hearth("task", "cancel", "--json", *words)
    return done.status, done.json["state"], [(job["state"], job["outcome"]) for job in done.json["jobs"]]


@pytest.fixture
def ready(runtime: Runtime, work: Path) -> Callable[[], None]:
    """Wait until a program has made the file `ready`."""

    def wait() -> None:
        # What is not in the database rings no bell, so that the file is looked for at each of the slow looks.
        for _ in range(200):
            if (work / "ready").exists():
                return
            runtime.cancelled.wait(0.02)
        raise AssertionError("the program is not ready")

    return wait


def gone(job: Job) -> bool:
    import psutil

    assert job.pid is not None
    try:
        return psutil.Process(job.pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_a_job_that_has_not_started_never_does(hearth: Run, submit: Submit, wait_for: WaitFor) -> None:
    for options in ({}, {"delay": "1h"}):
        id_ = submit("true", **options)
        assert cancelled(hearth, id_) == (0, "completed", [("cancelled", "cancelled")])
        assert wait_for(id_, seconds=0).started_at is None


@pytest.mark.usefixtures("worker")
def test_a_running_job_is_cancelled_only_once_it_is_gone(hearth: Run, submit: Submit, wait_for: WaitFor) -> None:
    id_ = submit(*python(SLEEPER))
    running = wait_for(id_, JobState.RUNNING)
    assert cancelled(hearth, id_) == (0, "completed", [("cancelled", "cancelled")])
    assert gone(running)


@asks_first
@pytest.mark.usefixtures("worker")
def test_a_cancelled_job_has_time_to_clean_up(
    hearth: Run, submit: Submit, ready: Callable[[], None], work: Path
) -> None:
    id_ = submit(*python(CLEANS_UP), grace="4s")
    ready()
    assert cancelled(hearth, id_) == (0, "completed", [("cancelled", "cancelled")])
    assert (work / "cleaned").exists()


@asks_first
@pytest.mark.usefixtures("worker")
def test_a_job_that_ignores_being_asked_is_killed_after_the_grace(
    hearth: Run, submit: Submit, wait_for: WaitFor, ready: Callable[[], None]
) -> None:
    id_ = submit(*python(STUBBORN), grace="100ms")
    running = wait_for(id_, JobState.RUNNING)
    ready()
    assert cancelled(hearth, id_) == (0, "completed", [("cancelled", "cancelled")])
    assert gone(running)


@asks_first
@pytest.mark.usefixtures("worker")
def test_who_insists_shortens_the_grace(hearth: Run, submit: Submit, ready: Callable[[], None]) -> None:
    id_ = submit(*python(STUBBORN), grace="10m")
    ready()
    assert cancelled(hearth, id_, "--no-wait") == (0, "pending", [("running", "pending")])
    assert cancelled(hearth, id_, "--grace", "0ms") == (0, "completed", [("cancelled", "cancelled")])


@pytest.mark.usefixtures("worker")
@pytest.mark.parametrize(("code", "state"), [("", "completed"), ("raise SystemExit(3)", "failed")])
def test_cancel_leaves_a_finished_job_alone(
    hearth: Run, submit: Submit, wait_for: WaitFor, code: str, state: str
) -> None:
    id_ = submit(*python(code))
    before = wait_for(id_)
    assert cancelled(hearth, id_) == (6, "superseded", [(state, "superseded")])
    assert wait_for(id_) == before


@pytest.mark.usefixtures("worker")
def test_a_job_that_timed_out_stays_so(hearth: Run, submit: Submit, wait_for: WaitFor) -> None:
    id_ = submit(*python(SLEEPER), timeout="50ms", grace="0ms")
    wait_for(id_)
    assert cancelled(hearth, id_) == (6, "superseded", [("timed_out", "superseded")])


def test_a_second_cancel_changes_nothing(hearth: Run, submit: Submit) -> None:
    id_ = submit("true")
    cancelled(hearth, id_)
    assert cancelled(hearth, id_) == (6, "superseded", [("cancelled", "superseded")])


def test_what_depends_on_a_cancelled_job_is_blocked(hearth: Run, submit: Submit, wait_for: WaitFor) -> None:
    first = submit("true")
    waiting = submit("true", after=first)
    last = submit("true", after=waiting)
    cancelled(hearth, first)
    assert [wait_for(id_, seconds=0).state for id_ in (waiting, last)] == [JobState.BLOCKED] * 2


def test_a_group_is_cancelled_with_what_waits_in_it(hearth: Run, submit: Submit, wait_for: WaitFor) -> None:
    other = submit("true")
    first = submit("true", group="g")
    submit("true", group="g", after=first)
    assert cancelled(hearth, "--group", "g") == (0, "completed", [("cancelled", "cancelled")] * 2)
    assert cancelled(hearth, "--group", "g") == (0, "completed", [])
    assert cancelled(hearth, "--label", "none") == (0, "completed", [])
    assert wait_for(other, JobState.QUEUED, seconds=0)


def test_unknown_ids_are_told_and_the_others_are_cancelled(hearth: Run, submit: Submit) -> None:
    id_ = submit("true")
    done = hearth("task", "cancel", "job_none", id_, "--json")
    assert (done.status, done.json["state"]) == (1, "partial")
    assert [(error["id"], error["code"]) for error in done.json["errors"]] == [("job_none", "not_found")]
    assert [job["outcome"] for job in done.json["jobs"]] == ["cancelled"]
    assert hearth("task", "cancel", "job_none", "--json").status == 4


@pytest.mark.parametrize("words", [(), ("job_none", "--group", "g")])
def test_either_ids_or_a_group_are_cancelled(hearth: Run, words: tuple[str, ...]) -> None:
    assert hearth("task", "cancel", *words, "--json").status == 2


@pytest.mark.usefixtures("worker")
def test_cancels_and_lists_at_once_agree(hearth: Run, runtime: Runtime, submit: Submit, wait_for: WaitFor) -> None:
    from hearth.services.task.cancel import CancelJobs, cancel
    from hearth.services.task.list import ListJobs, list_jobs

    id_ = submit(*python(SLEEPER))
    wait_for(id_, JobState.RUNNING)
    outcomes: list[str] = []
    seen: list[str] = []

    def end() -> None:
        outcomes.extend(job.outcome for job in cancel(runtime, CancelJobs(ids=(id_,))).jobs)

    def look() -> None:
        seen.extend(job.state for job in list_jobs(runtime, ListJobs()).jobs)

    threads = [threading.Thread(target=target) for target in (end, look, end, look, end)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    assert len(outcomes) == 3
    assert "cancelled" in outcomes
    assert set(outcomes) <= {"cancelled", "superseded"}
    assert set(seen) <= {"running", "cancelled"}
    assert hearth("task", "get", id_, "--json").json["job"]["state"] == "cancelled"


@pytest.mark.usefixtures("worker")
def test_a_job_may_cancel_itself(submit: Submit, wait_for: WaitFor, work: Path) -> None:
    words = [sys.executable, "-P", "-m", "hearth", "--data-dir"]
    code = f"""
import os, subprocess
words = {words!r}
os.environ["PYTHONPATH"] = {str(ROOT)!r}
subprocess.run([*words, os.environ["DATA"], "task", "cancel", os.environ["HEARTH_JOB"]])
"""
    data = work.parent / "home" / "data" / "hearth"
    id_ = submit(*python(code), env=f"DATA={data}")
    assert wait_for(id_).state is JobState.CANCELLED


def test_a_job_of_a_dead_worker_is_adopted_and_ended(runtime: Runtime, submit: Submit, wait_for: WaitFor) -> None:
    first = Working(runtime)
    id_ = submit(*python(SLEEPER))
    running = wait_for(id_, JobState.RUNNING)
    first.stop()
    with runtime.store.write() as tx:
        assert job_queue.want_end(tx, running.seq, Ending.CANCEL)
    second = Working(runtime)
    assert wait_for(id_).state is JobState.CANCELLED
    assert gone(running)
    second.stop()


@pytest.fixture
def claimed(runtime: Runtime, submit: Submit) -> Callable[..., tuple[Worker, Job]]:
    """A job as a worker that is not at work holds it, claimed but without a program."""

    def claim(**options: Any) -> tuple[Worker, Job]:
        id_ = submit("true", **options)
        with runtime.store.write() as tx:
            job = jobs.find(tx, id_)
            assert job is not None
            jobs.move(tx, job.seq, JobState.QUEUED, JobState.RUNNING, worker="wrk_0", mark="m", attempt=1)
            job = jobs.find(tx, id_)
            assert job is not None
        return Worker(runtime, Kind.FOREGROUND), job

    return claim


@pytest.mark.parametrize("state", [JobState.QUEUED, JobState.CANCELLED])
def test_a_job_that_is_cancelled_before_its_program_is_let_go_never_starts(
    runtime: Runtime, claimed: Callable[..., tuple[Worker, Job]], wait_for: WaitFor, state: JobState
) -> None:
    _, job = claimed()
    with runtime.store.write() as tx:
        job_queue.want_end(tx, job.seq, Ending.CANCEL)
        assert not job_queue.hold(tx, job.seq, "wrk_0", job.mark or "", job_queue.Held(1, "1", "", runtime.now(), 0))
        finish.store(tx, runtime, Ended(job, state), finish.NOTHING, holder="wrk_0")
    assert wait_for(job.id, seconds=0).state is JobState.CANCELLED


def test_a_job_that_fails_while_it_is_cancelled_is_not_tried_again(
    runtime: Runtime, claimed: Callable[..., tuple[Worker, Job]], wait_for: WaitFor
) -> None:
    from hearth.engine.outputs import Outputs

    _, job = claimed(retry="3")
    failed = Ended(job, JobState.FAILED, Exit(3, None, None, None), "exit_code", "", Outputs.of(runtime, job))
    with runtime.store.write() as tx:
        job_queue.want_end(tx, job.seq, Ending.CANCEL)
        finish.store(tx, runtime, failed, finish.NOTHING, holder="wrk_0")
    assert wait_for(job.id, seconds=0).state is JobState.FAILED


def test_a_worker_is_started_for_a_job_that_nobody_looks_after(
    hearth: Run, runtime: Runtime, submit: Submit, wait_for: WaitFor
) -> None:
    first = Working(runtime)
    id_ = submit(*python(SLEEPER))
    wait_for(id_, JobState.RUNNING)
    first.stop()
    assert cancelled(hearth, id_) == (0, "completed", [("cancelled", "cancelled")])
