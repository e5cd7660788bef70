from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hearth.clock import parse_timestamp
from hearth.engine import presence
from hearth.engine.spec import Spec
from hearth.engine.waiting import wait_until
from hearth.errors import Cancelled
from hearth.runtime import Runtime
from hearth.services.task.accept import accept
from hearth.services.task.job_input import JobFields, JobInput
from hearth.services.task.submit import SubmitJobs
from hearth.services.task.submit import submit as run
from hearth.store.jobs import JobState
from tests.conftest import ROOT, Done
from tests.marks import posix_only
from tests.services.task.conftest import SLEEPER, Run, Submit, WaitFor, Working, python

TOKEN = "sk-" + "Ab3" * 16
Batch = Callable[..., Done]


@pytest.fixture
def batch(hearth: Run) -> Batch:
    """Submit several jobs in one call: `batch({"command": "true"}, allow_missing=True)`."""

    def submit(*jobs: dict[str, Any], **options: Any) -> Done:
        given = {"jobs": list(jobs), "start": False, **options}
        return hearth("call", "task.submit", "-", stdin=json.dumps(given).encode())

    return submit


def problems(done: Done) -> list[tuple[str, str]]:
    assert done.status == 2, done
    return [(each["field"], each["code"]) for each in done.json["error"]["details"]["problems"]]


def count(runtime: Runtime) -> int:
    with runtime.store.read() as view:
        return int(view.execute("SELECT count(*) FROM jobs").fetchone()[0])


def output(hearth: Run, id_: str) -> str:
    """What a job printed, with whatever line ends."""
    artifact = hearth("task", "get", id_, "--json").json["job"]["stdout_artifact"]
    return hearth("artifact", "read", artifact).out.replace("\r\n", "\n")


def test_submit_answers_at_once_with_ids(hearth: Run) -> None:
    done = hearth("task", "submit", "--json", "--no-start", "--", "make", "all")
    assert (done.status, done.json["state"], done.json["worker"]) == (0, "pending", "none")
    (job,) = done.json["jobs"]
    assert job == {"id": job["id"], "state": "queued", "title": "make all", "deduplicated": False, "message": None}
    assert "`hearth worker` is one" in done.err


@pytest.mark.usefixtures("worker")
def test_wait_tells_by_the_exit_status_how_the_job_ended(hearth: Run) -> None:
    words = ("task", "submit", "--wait", "--json")
    failed = hearth(*words, "--", *python("raise SystemExit(3)"))
    assert (failed.status, failed.json["state"], failed.json["jobs"][0]["state"]) == (1, "failed", "failed")
    assert hearth(*words, "--", *python("")).status == 0
    assert hearth(*words, "--exit-code", "--", *python("raise SystemExit(3)")).status == 3
    assert hearth(*words, "--timeout", "50ms", "--grace", "0ms", "--", *python(SLEEPER)).status == 124
    assert hearth(*words, "--wait-timeout", "1ms", "--delay", "1h", "--", *python("")).status == 5


@pytest.mark.usefixtures("worker")
def test_wait_tells_why_a_job_failed(hearth: Run) -> None:
    done = hearth("task", "submit", "--wait", "--", *python("raise SystemExit(3)"))
    assert done.out.rstrip("\n").split("\t")[-1] == "it ended with 3"


@pytest.mark.parametrize("way", ["--wait", "--follow"])
def test_no_worker_is_started_while_waiting_where_none_is_wanted(hearth: Run, runtime: Runtime, way: str) -> None:
    done = hearth("task", "submit", "--no-start", way, "--wait-timeout", "20ms", "--", "true")
    assert done.status == 5
    assert not presence.workers(runtime)
    assert not Path(runtime.data_dir, presence.MARKER).exists()


def test_a_wait_that_is_taken_back_names_the_jobs(runtime: Runtime) -> None:
    runtime.cancelled.set()
    both = SubmitJobs(jobs=(JobInput(command="true"), JobInput(command="true")), wait=True, start=False)
    with pytest.raises(Cancelled) as caught:
        run(runtime, both)
    runtime.cancelled.clear()
    with runtime.store.read() as view:
        ids = [row[0] for row in view.execute("SELECT id FROM jobs ORDER BY seq")]
    assert caught.value.details == {"ids": ids}
    assert f"`hearth task cancel {' '.join(ids)}`" in (caught.value.hint or "")


def test_retry_takes_several_exit_codes(submit: Submit, wait_for: WaitFor) -> None:
    job = wait_for(submit("true", retry="attempts=2,on=75,on=76"), JobState.QUEUED, seconds=0)
    assert Spec.from_json(job.spec).retry.on == (75, 76)


def test_a_worker_is_started_whenever_there_is_none(runtime: Runtime, hearth: Run) -> None:
    for _ in range(2):
        done = hearth("task", "submit", "--json", "--wait", "--", *python(""))
        assert (done.status, done.json["worker"]) == (0, "started")
        assert wait_until(runtime, lambda _: True if presence.workers(runtime) == [] else None, 4, starts=False)


@pytest.mark.usefixtures("worker")
def test_a_worker_that_lives_is_enough(hearth: Run) -> None:
    hearth("task", "submit", "--wait", "--", *python(""))
    assert hearth("task", "submit", "--json", "--", *python("")).json["worker"] == "living"


# Times.


def test_a_delay_of_nothing_is_now_and_a_day_is_a_day(submit: Submit, wait_for: WaitFor) -> None:
    assert wait_for(submit("true", delay_ms=0), JobState.QUEUED, seconds=0)
    later = wait_for(submit("true", delay_ms=86_400_000), JobState.SCHEDULED, seconds=0)
    # Both are read off the clock, one after the other.
    assert 0 <= parse_timestamp(later.created_at) + 86_400_000 - parse_timestamp(later.due_at) < 1_000


def test_a_time_has_to_have_a_zone(hearth: Run, submit: Submit, wait_for: WaitFor) -> None:
    for wrong in ("2999-01-31T12:00:00", "2999-01-31", "garbage", "0", "12:00Z"):
        words = ("task", "submit", "--no-start", "--json", "--run-at", wrong, "--", "true")
        assert problems(hearth(*words)) == [("run_at", "wrong_form")]
    right = wait_for(submit("true", run_at="2999-01-31T12:00:00+09:00"), JobState.SCHEDULED)
    assert right.due_at == "2999-01-31T03:00:00.000Z"


def test_a_time_that_has_passed_is_now(submit: Submit, wait_for: WaitFor) -> None:
    assert wait_for(submit("true", run_at="2001-01-01T00:00:00Z"), JobState.QUEUED, seconds=0)


def test_a_time_limit_of_nothing_is_refused_and_half_a_second_is_one(
    hearth: Run, submit: Submit, worker: object, wait_for: WaitFor
) -> None:
    done = hearth("task", "submit", "--no-start", "--json", "--timeout-ms", "0", "--", "true")
    assert problems(done) == [("timeout_ms", "too_small")]
    ended = wait_for(submit(*python(SLEEPER), timeout_ms=500, grace_ms=0))
    assert (ended.state, ended.reason) == (JobState.TIMED_OUT, "timed_out")
    assert ended.ran_ms is not None
    assert 500 <= ended.ran_ms < 3_000
    assert worker is not None


@pytest.mark.usefixtures("worker")
def test_a_job_that_was_not_started_in_time_never_is(submit: Submit, wait_for: WaitFor) -> None:
    ended = wait_for(submit(*python(""), expires_at="2001-01-01T00:00:00Z"))
    assert (ended.state, ended.started_at) == (JobState.EXPIRED, None)


# What is refused.


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), ("command", "not_one_of")),
        (("--delay", "1s", "--run-at", "2999-01-01T00:00:00Z", "--", "true"), ("run_at", "not_both")),
        (("--stdin", "x", "--open-stdin", "--", "true"), ("stdin", "not_both")),
        (("--group", "a b", "--", "true"), ("group", "wrong_form")),
        (("--label", "", "--", "true"), ("labels.0", "too_short")),
        (("--id", "job_1", "--", "true"), ("id", "wrong_form")),
        (("--env", "=x", "--", "true"), ("env", "wrong_type")),
        (("--priority", "1001", "--", "true"), ("priority", "too_large")),
        (("--retry", "0", "--", "true"), ("attempts", "too_small")),
        (("--wait", "--exit-code", "--file", "f"), ("follow", "not_one")),
        (("--exit-code", "--", "true"), ("exit_code", "not_alone")),
        (("--wait-timeout", "1s", "--", "true"), ("wait_timeout_ms", "not_alone")),
        (("--retry", "on=7+5", "--", "true"), ("on", "wrong_type")),
        (("--retry", "attempts=2,attempts=3", "--", "true"), ("attempts", "not_unique")),
        (("--after", "", "--", "true"), ("dependencies.0.job", "too_short")),
        (("--after", "nobody", "--allow-missing", "--", "true"), ("dependencies.0", "wrong_form")),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) and len(value) != 2 else None,
)
def test_what_makes_no_sense_is_refused(
    hearth: Run, runtime: Runtime, work: Path, words: tuple[str, ...], expected: tuple[str, str]
) -> None:
    (work / "f").write_text('[{"command": "true"}, {"command": "true"}]', encoding="utf-8")
    found = problems(hearth("task", "submit", "--no-start", "--json", *words))
    assert [(field.rpartition("retry.")[2], code) for field, code in found] == [expected]
    assert count(runtime) == 0


def test_64_jobs_are_taken_at_once_and_65_are_not(batch: Batch, runtime: Runtime) -> None:
    assert problems(batch(*[{"command": "true"}] * 65)) == [("jobs", "too_long")]
    assert count(runtime) == 0
    assert len(batch(*[{"command": "true"}] * 64).json["jobs"]) == 64


def test_one_wrong_job_keeps_all_out(batch: Batch, runtime: Runtime) -> None:
    assert problems(batch({"command": "true"}, {"command": "x", "run_at": "soon"})) == [("jobs.1.run_at", "wrong_form")]
    assert batch({"command": "true"}, {"command": "x", "cwd": "/"}).json["error"]["code"] == "outside_root"
    assert count(runtime) == 0


@pytest.mark.parametrize(
    "job",
    [
        {"command": "curl", "args": ["-H", f"Authorization: Bearer {TOKEN}"]},
        {"command": "tool", "args": ["--password", "hunter2"]},
        {"command": "tool", "args": ["--token=abc"]},
        {"command": "tool", "env": {"API_TOKEN": "x"}},
        {"command": "tool", "env": {"HARMLESS": TOKEN}},
        {"command": "tool", "stdin": f"key {TOKEN}"},
        {"command": "tool", "group": TOKEN},
        {"command": "tool", "labels": ["fine", TOKEN]},
        {"command": "tool", "idempotency_key": TOKEN},
    ],
    ids=lambda job: list(job)[-1],
)
def test_a_secret_is_refused_and_stored_nowhere(batch: Batch, runtime: Runtime, job: dict[str, Any]) -> None:
    done = batch(job)
    assert (done.status, done.json["error"]["code"]) == (1, "secret_refused")
    assert TOKEN not in done.out + done.err
    assert count(runtime) == 0
    runtime.close()
    kept = b"".join(path.read_bytes() for path in Path(runtime.data_dir).rglob("*") if path.is_file())
    assert TOKEN.encode() not in kept


def test_a_job_that_is_too_large_is_refused(batch: Batch) -> None:
    done = batch({"command": "cat", "stdin": "x" * (1024 * 1024)})
    assert problems(done) == [("jobs.0.stdin", "too_large")]


def test_a_job_with_too_many_words_is_not_told_to_be_too_large_elsewhere(batch: Batch) -> None:
    done = batch({"command": "true", "args": ["x" * 600_000] * 2, "stdin": "x"})
    assert problems(done) == [("jobs.0.args", "too_large")]


# The same call twice.


def test_the_same_key_is_the_same_job(hearth: Run, runtime: Runtime, work: Path) -> None:
    words = ("task", "submit", "--no-start", "--json", "--idempotency-key", "k")
    first, again = (hearth(*words, "--", "true").json["jobs"][0] for _ in range(2))
    assert (first["deduplicated"], again["deduplicated"], again["id"]) == (False, True, first["id"])
    assert hearth(*words, "--conversation", "c", "--", "true").json["jobs"][0]["deduplicated"] is False
    other = hearth(*words, "--", "false")
    assert (other.status, other.json["error"]["code"], other.json["error"]["details"]) == (
        3, "conflict", {"id": first["id"]},
    )  # fmt: skip
    (work / "below").mkdir()
    assert hearth(*words, "--cwd", "below", "--", "true").status == 3
    assert count(runtime) == 2


def test_what_waits_for_a_place_waits_for_the_job_that_an_earlier_call_made_there(hearth: Run, batch: Batch) -> None:
    keyed = {"command": "true", "idempotency_key": "k"}
    (first,) = batch(keyed).json["jobs"]
    again, waiting = batch(keyed, {"command": "false", "dependencies": [{"index": 0}]}).json["jobs"]
    assert again["id"] == first["id"]
    told = hearth("task", "get", waiting["id"], "--json").json["job"]
    assert [each["job"] for each in told["dependencies"]] == [first["id"]]


def test_two_jobs_of_a_batch_cannot_have_the_same_key(batch: Batch) -> None:
    assert problems(batch(*[{"command": "true", "idempotency_key": "k"}] * 2)) == [("jobs", "not_unique")]


def test_two_processes_with_the_same_key_make_one_job(runtime: Runtime, work: Path) -> None:
    words = [sys.executable, "-P", "-c", f"import sys; sys.path.append({str(ROOT)!r});"
             " from hearth.__main__ import main; sys.exit(main())", "task", "submit", "--no-start", "--json",
             "--idempotency-key", "k", "--", "true"]  # fmt: skip
    running = [subprocess.Popen(words, cwd=work, stdout=subprocess.PIPE) for _ in range(3)]
    answers = [json.loads(each.communicate(timeout=10)[0])["jobs"][0] for each in running]
    assert len({job["id"] for job in answers}) == 1
    assert sorted(job["deduplicated"] for job in answers) == [False, True, True]
    assert count(runtime) == 1


@pytest.mark.timeout(60)
@pytest.mark.parametrize("number", [30, pytest.param(300, marks=pytest.mark.slow)])
def test_two_processes_that_submit_at_once_lose_no_job(runtime: Runtime, work: Path, number: int) -> None:
    line = json.dumps({"id": 1, "operation": "task.submit", "input": {"command": "true", "start": False}})
    words = [sys.executable, "-m", "hearth", "call", "--batch", "--data-dir", runtime.data_dir]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    both = [
        subprocess.Popen(words, cwd=work, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for process in both:
        assert process.stdin is not None
        process.stdin.write(f"{line}\n" * number)
        process.stdin.close()
    answers = [json.loads(line) for process in both if process.stdout for line in process.stdout]
    assert [process.wait(10) for process in both] == [0, 0]
    for process in both:
        assert process.stdout is not None
        process.stdout.close()
    assert len({answer["result"]["jobs"][0]["id"] for answer in answers}) == 2 * number
    with runtime.store.read() as view:
        assert tuple(view.execute("SELECT count(*), count(DISTINCT seq) FROM jobs").fetchone()) == (2 * number,) * 2


def test_an_id_is_taken_once(batch: Batch) -> None:
    chosen = "job_" + "0" * 26
    assert batch({"command": "true", "id": chosen}).json["jobs"][0]["id"] == chosen
    assert batch({"command": "true", "id": chosen}).status == 3
    assert problems(batch(*[{"command": "true", "id": "job_" + "1" * 26}] * 2)) == [("jobs", "not_unique")]


# What the program gets.


@pytest.mark.usefixtures("worker")
def test_a_job_inherits_what_its_submitter_has_but_no_secrets(
    hearth: Run, submit: Submit, wait_for: WaitFor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    monkeypatch.setenv("HARMLESS", TOKEN)
    monkeypatch.setenv("PLAIN", "of the submitter")
    path = os.environ["PATH"] + os.pathsep + os.path.join(os.getcwd(), "own")
    monkeypatch.setenv("PATH", path)
    id_ = submit(*python("import os, json; print(json.dumps(dict(os.environ)))"), env="GIVEN=1")
    monkeypatch.setenv("PLAIN", "of the worker")
    wait_for(id_)
    seen = json.loads(output(hearth, id_))
    assert not {"OPENAI_API_KEY", "HARMLESS"} & seen.keys()
    assert (seen["PLAIN"], seen["PATH"], seen["GIVEN"], seen["HEARTH_JOB"]) == ("of the submitter", path, "1", id_)


@pytest.mark.usefixtures("worker")
def test_input_of_any_size_is_read_as_it_is(hearth: Run, batch: Batch, wait_for: WaitFor) -> None:
    text = "a\r\nÄ\n" * 50_000
    code = "import hashlib, sys; print(hashlib.sha256(sys.stdin.buffer.read()).hexdigest())"
    command, *args = python(code)
    (job,) = batch({"command": command, "args": args, "stdin": text}).json["jobs"]
    assert wait_for(job["id"]).state is JobState.COMPLETED
    import hashlib

    assert output(hearth, job["id"]) == hashlib.sha256(text.encode()).hexdigest() + "\n"


@pytest.mark.usefixtures("worker")
def test_words_are_handed_on_as_they_are(hearth: Run, submit: Submit, wait_for: WaitFor) -> None:
    words = ["", "a b", "$HOME", "`x`", '"', "'", "\\", "*", "-n", "--json", "ä", "a\nb"]
    id_ = submit(*python("import sys, json; print(json.dumps(sys.argv[1:]))"), *words)
    wait_for(id_)
    assert json.loads(output(hearth, id_)) == words


def test_a_directory_that_is_gone_is_why_a_job_failed(
    runtime: Runtime, work: Path, submit: Submit, wait_for: WaitFor
) -> None:
    (work / "gone").mkdir()
    id_ = submit(*python(""), cwd="gone")
    (work / "gone").rmdir()
    later = Working(runtime)
    ended = wait_for(id_)
    later.stop()
    assert (ended.state, ended.reason, ended.exit_code) == (JobState.FAILED, "not_found", None)
    assert "gone" in (ended.message or "")


def test_a_directory_outside_the_roots_is_refused(hearth: Run, work: Path, runtime: Runtime) -> None:
    words = ("task", "submit", "--no-start", "--json", "--cwd")
    assert hearth(*words, "..", "--", "true").json["error"]["code"] == "outside_root"
    assert hearth(*words, "missing", "--", "true").status == 4
    (work / "file").touch()
    assert hearth(*words, "file", "--", "true").json["error"]["code"] == "not_a_directory"
    assert count(runtime) == 0


@pytest.mark.usefixtures("worker")
def test_a_program_that_is_not_there_fails_as_in_a_shell(submit: Submit, wait_for: WaitFor) -> None:
    ended = wait_for(submit("no-such-program"))
    assert (ended.state, ended.reason, ended.exit_code) == (JobState.FAILED, "program_not_found", 127)


@posix_only("there are no permissions to run")
@pytest.mark.usefixtures("worker")
def test_a_program_that_cannot_be_run_fails_as_in_a_shell(work: Path, submit: Submit, wait_for: WaitFor) -> None:
    (work / "plain").touch(0o644)
    ended = wait_for(submit("./plain"))
    assert (ended.state, ended.reason, ended.exit_code) == (JobState.FAILED, "not_executable", 126)


def test_jobs_stand_although_no_worker_can_be_started(
    hearth: Run, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", os.path.join(runtime.base, "no-python"))
    done = hearth("task", "submit", "--json", "--", "true")
    assert (done.status, done.json["worker"], count(runtime)) == (0, "none", 1)
    assert "no worker could be started" in done.err


def test_a_store_that_fails_takes_none_of_a_batch(runtime: Runtime) -> None:
    with runtime.store.write() as tx:
        tx.execute("CREATE TRIGGER full BEFORE INSERT ON jobs WHEN NEW.title = 'b' BEGIN SELECT raise(ABORT, 'x'); END")
    with pytest.raises(Exception, match="x"):
        accept(runtime, [JobFields(command=name) for name in "abc"], allow_missing=False)
    assert count(runtime) == 0


def test_delayed_jobs_survive_who_submitted_them_and_run_at_once(
    runtime: Runtime, submit: Submit, wait_for: WaitFor
) -> None:
    # Each waits for the other to be there, so that one after the other would never end.
    code = """
import pathlib, sys, time
pathlib.Path(sys.argv[1]).touch()
while not pathlib.Path(sys.argv[2]).exists():
    time.sleep(0.005)
"""
    ids = [submit(*python(code), *names, delay="50ms") for names in (("a", "b"), ("b", "a"))]
    after = submit(*python(""), after=ids[0])
    assert wait_for(ids[0], JobState.SCHEDULED, JobState.QUEUED, seconds=0).pid is None
    later = Working(runtime)  # its own store: that of the process that submitted them is closed
    assert [wait_for(id_).state for id_ in (*ids, after)] == [JobState.COMPLETED] * 3
    later.stop()
