from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from hearth.engine.moves import move
from hearth.errors import Cancelled
from hearth.runtime import Caller, Runtime
from hearth.services.task import outcome
from hearth.services.task.wait import WaitForJobs, wait
from hearth.store import jobs
from hearth.store.jobs import JobState
from tests.conftest import ROOT
from tests.marks import posix_only
from tests.services.task.conftest import SLEEPER, Run, Submit, WaitFor, Working, python

STATES = {
    JobState.COMPLETED: (0, "completed"),
    JobState.FAILED: (1, "failed"),
    JobState.TIMED_OUT: (124, "failed"),
    JobState.CANCELLED: (6, "cancelled"),
    JobState.BLOCKED: (1, "failed"),
    JobState.EXPIRED: (1, "failed"),
    JobState.LOST: (1, "failed"),
}


def end(runtime: Runtime, id_: str, state: JobState, code: int | None = None) -> str:
    """Let a job that nobody runs end so."""
    with runtime.store.write() as tx:
        job = jobs.find(tx, id_)
        assert job is not None
        if state is JobState.BLOCKED:
            assert jobs.move(tx, job.seq, job.state, state, ended_at=runtime.now())
            return id_
        if state not in (JobState.CANCELLED, JobState.EXPIRED):
            assert move(tx, job, JobState.RUNNING, worker="wrk_0", attempt=1, started_at=runtime.now())
            job = jobs.find(tx, id_)
            assert job is not None
        assert move(tx, job, state, ended_at=runtime.now(), exit_code=code)
    return id_


@pytest.fixture
def ended(runtime: Runtime, submit: Submit) -> dict[JobState, str]:
    """A job of each way to end."""
    return {state: end(runtime, submit("true"), state) for state in STATES}


def waited(hearth: Run, *words: str) -> tuple[int, str]:
    done = hearth("task", "wait", "--json", "--timeout", "4s", *words)
    return done.status, done.json["state"]


def test_the_exit_status_tells_how_a_job_ended(hearth: Run, ended: dict[JobState, str]) -> None:
    for state, expected in STATES.items():
        assert waited(hearth, ended[state]) == expected, state


@pytest.mark.parametrize(
    ("states", "expected"),
    [
        ((JobState.COMPLETED, JobState.CANCELLED), 6),
        ((JobState.CANCELLED, JobState.TIMED_OUT, JobState.COMPLETED), 124),
        ((JobState.TIMED_OUT, JobState.CANCELLED, JobState.LOST), 1),
    ],
)
def test_of_several_jobs_the_gravest_outcome_counts(
    hearth: Run, ended: dict[JobState, str], states: tuple[JobState, ...], expected: int
) -> None:
    assert waited(hearth, *(ended[state] for state in states))[0] == expected


def test_a_wait_that_ran_out_goes_before_a_failure_and_an_unknown_id_before_both(
    hearth: Run, submit: Submit, ended: dict[JobState, str]
) -> None:
    queued, failed = submit("true"), ended[JobState.FAILED]
    words = ("task", "wait", failed, queued, "--timeout", "0ms", "--json")
    done = hearth(*words)
    assert (done.status, done.json["state"]) == (5, "pending")
    done = hearth(*words, "job_none")
    assert (done.status, done.json["state"]) == (4, "partial")
    assert [error["code"] for error in done.json["errors"]] == ["not_found"]
    assert [job["id"] for job in done.json["jobs"]] == [failed, queued]


def test_an_id_of_no_job_is_not_found(hearth: Run) -> None:
    done = hearth("task", "wait", "job_none", "--json")
    assert (done.status, done.json["error"]["code"]) == (4, "not_found")


@pytest.mark.usefixtures("worker")
def test_a_wait_ends_with_the_job(hearth: Run, submit: Submit) -> None:
    failing = submit(*python("raise SystemExit(3)"))
    assert waited(hearth, failing, submit(*python(""))) == (1, "failed")
    assert waited(hearth, failing, "--exit-code") == (3, "failed")


def test_exit_code_passes_the_status_of_one_program_on(
    hearth: Run, runtime: Runtime, submit: Submit, ended: dict[JobState, str]
) -> None:
    failed = end(runtime, submit("true"), JobState.FAILED, code=42)
    assert hearth("task", "wait", failed, "--exit-code").status == 42
    assert hearth("task", "wait", ended[JobState.TIMED_OUT], "--exit-code").status == 124
    assert hearth("task", "wait", ended[JobState.LOST], "--exit-code").status == 1
    assert hearth("task", "wait", failed, ended[JobState.LOST], "--exit-code").status == 2


def test_the_first_that_ends_is_enough_if_any_is_wanted(
    hearth: Run, submit: Submit, ended: dict[JobState, str]
) -> None:
    queued = submit("true")
    assert waited(hearth, queued, ended[JobState.COMPLETED], "--any") == (0, "completed")
    assert waited(hearth, queued, ended[JobState.FAILED], "--any") == (1, "failed")
    assert hearth("task", "wait", queued, "--any", "--timeout", "0ms").status == 5


def test_one_way_to_end_can_be_waited_for(hearth: Run, ended: dict[JobState, str]) -> None:
    assert waited(hearth, ended[JobState.FAILED], "--until", "failed") == (0, "completed")
    assert waited(hearth, ended[JobState.COMPLETED], "--until", "failed") == (1, "failed")
    assert waited(hearth, ended[JobState.TIMED_OUT], "--until", "failed") == (124, "failed")


def test_a_start_can_be_waited_for(
    hearth: Run, submit: Submit, ended: dict[JobState, str], worker: Working, wait_for: WaitFor
) -> None:
    id_ = submit(*python(SLEEPER))
    assert waited(hearth, id_, "--until", "started") == (0, "completed")
    assert wait_for(id_, JobState.RUNNING)
    assert waited(hearth, ended[JobState.FAILED], "--until", "started") == (0, "completed")
    assert waited(hearth, ended[JobState.EXPIRED], "--until", "started") == (1, "failed")
    worker.runtime.log.debug("it is still at work")


def test_with_labels_those_that_have_ended_count_too(hearth: Run, runtime: Runtime, submit: Submit) -> None:
    end(runtime, submit("true", label="batch", group="g"), JobState.FAILED)
    end(runtime, submit("true", label="batch", group="g"), JobState.COMPLETED)
    assert waited(hearth, "--label", "batch") == (1, "failed")
    assert waited(hearth, "--label", "other")[0] == 4
    assert waited(hearth, "--group", "g") == (0, "completed"), "nothing of it is left to wait for"


@pytest.mark.parametrize("words", [(), ("job_0", "--group", "g")])
def test_either_ids_or_a_group_are_waited_for(hearth: Run, words: tuple[str, ...]) -> None:
    assert hearth("task", "wait", *words, "--json").status == 2


def test_a_job_does_not_wait_for_itself(hearth: Run, submit: Submit, monkeypatch: pytest.MonkeyPatch) -> None:
    id_ = submit("true", group="g")
    monkeypatch.setenv("HEARTH_JOB", id_)
    done = hearth("task", "wait", id_, "--json")
    assert (done.status, done.json["error"]["details"]["problems"][0]["code"]) == (2, "cyclic")
    assert done.err == "", "the variable is no setting"
    assert waited(hearth, "--group", "g") == (0, "completed")


def test_outside_a_shell_a_wait_has_an_end(runtime: Runtime, submit: Submit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outcome, "USUAL_TIMEOUT_MS", 20)
    id_ = submit("true", delay="1h")
    assert wait(runtime.for_call(caller=Caller.BATCH), WaitForJobs(ids=(id_,))).state == "pending"


def test_a_wait_that_is_taken_back_leaves_the_job(runtime: Runtime, submit: Submit, wait_for: WaitFor) -> None:
    id_ = submit("true", delay="1h")
    threading.Timer(0.05, runtime.cancelled.set).start()
    with pytest.raises(Cancelled, match=f"{id_} goes on"):
        wait(runtime, WaitForJobs(ids=(id_,)))
    runtime.cancelled.clear()
    assert wait_for(id_, JobState.SCHEDULED, seconds=0)


@posix_only("a signal cannot be sent to one process there")
def test_ctrl_c_ends_the_wait_and_nothing_else(hearth: Run, submit: Submit, work: Path, wait_for: WaitFor) -> None:
    id_ = submit("true", delay="1h")
    bells = work.parent / "home" / "data" / "hearth" / "bells"
    before = set(bells.iterdir()) if bells.exists() else set()
    words = [sys.executable, "-P", "-c", f"import sys; sys.path.append({str(ROOT)!r});"
             " from hearth.__main__ import main; sys.exit(main())"]  # fmt: skip
    with subprocess.Popen([*words, "task", "wait", id_], stderr=subprocess.PIPE, text=True) as waiting:
        for _ in range(400):
            if bells.exists() and set(bells.iterdir()) - before:
                break
            threading.Event().wait(0.01)
        waiting.send_signal(signal.SIGINT)
        assert waiting.stderr is not None
        told = waiting.stderr.read()
        assert (waiting.wait(5), told.splitlines()[0]) == (130, f"hearth: no longer waiting; {id_} goes on")
    assert wait_for(id_, JobState.SCHEDULED, seconds=0)
    hearth("task", "cancel", id_)
