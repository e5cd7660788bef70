"""Following what a job prints: in a process of its own, as at a terminal or in a pipe."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from hearth.engine.outputs import Outputs
from hearth.runtime import Runtime
from hearth.store import job_queue
from hearth.store.jobs import Job, JobState
from tests.conftest import ROOT
from tests.marks import WINDOWS, posix_only
from tests.services.task.conftest import SLEEPER, Run, Submit, WaitFor, Working, python
from tests.services.task.test_logs import code

Follow = Callable[..., subprocess.Popen[bytes]]
AT_ONCE_S = 0.5
# One dot a line that it is given, without a newline of its own.
DOTS = "import os, sys; [os.write(1, b'.') for _ in sys.stdin]"


@pytest.fixture
def follow(work: Path) -> Iterator[Follow]:
    """Follow a job: `follow(id, "--tail", "1")`; whoever still follows at the end is killed."""
    started: list[subprocess.Popen[bytes]] = []

    def start(*words: str) -> subprocess.Popen[bytes]:
        given = [sys.executable, "-m", "hearth", "task", *words]
        process = subprocess.Popen(
            given,
            cwd=work,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        with process:  # which waits, and closes what is open
            pass


def read(process: subprocess.Popen[bytes], size: int) -> bytes:
    """So many bytes of its output, as they come."""
    assert process.stdout is not None
    data = b""
    while len(data) < size and (more := os.read(process.stdout.fileno(), size - len(data))):
        data += more
    return data


def listening(hearth: Run, text: str, *options: str) -> str:
    """A job whose input is open."""
    words = ("task", "submit", "--json", "--no-start", "--open-stdin", *options, "--", *python(text))
    return str(hearth(*words).json["jobs"][0]["id"])


def say(runtime: Runtime, job: Job, data: bytes = b"\n") -> None:
    assert runtime.detacher.send(Outputs.of(runtime, job).folder, data, 2) == len(data)


@pytest.mark.usefixtures("worker")
class TestFollow:
    def test_each_byte_appears_at_once_also_without_a_newline(
        self, runtime: Runtime, hearth: Run, follow: Follow, wait_for: WaitFor
    ) -> None:
        id_ = listening(hearth, DOTS)
        job = wait_for(id_, JobState.RUNNING)
        process = follow("logs", "--follow", id_)
        say(runtime, job)
        assert read(process, 1) == b"."
        for _ in range(5):
            before = time.monotonic()
            say(runtime, job)
            assert read(process, 1) == b"."
            assert time.monotonic() - before < AT_ONCE_S
        runtime.detacher.close_stdin(Outputs.of(runtime, job).folder)
        assert process.communicate() == (b"", b"")
        assert process.returncode == 0

    def test_a_job_that_has_not_started_is_waited_for(self, submit: Submit, follow: Follow) -> None:
        id_ = submit(*code("out(b'late'); err(b'!')"), delay="400ms")
        process = follow("logs", "-f", id_)
        assert process.communicate() == (b"late", b"!")
        assert process.returncode == 0

    @pytest.mark.parametrize(
        ("text", "options", "words", "status"),
        [
            ("", (), (), 0),
            ("raise SystemExit(3)", (), (), 1),
            ("raise SystemExit(3)", (), ("--exit-code",), 3),
            (SLEEPER, ("--timeout", "200ms"), (), 124),
            (SLEEPER, (), ("--wait-timeout", "200ms"), 5),
        ],
    )
    def test_it_ends_as_the_job_did(
        self, hearth: Run, text: str, options: tuple[str, ...], words: tuple[str, ...], status: int
    ) -> None:
        id_ = hearth("task", "submit", "--json", "--no-start", *options, "--", *python(text)).json["jobs"][0]["id"]
        done = hearth("task", "logs", "--follow", id_, *words)
        assert (done.status, done.out) == (status, "")
        answered = hearth("task", "logs", "--follow", id_, *words, "--json")
        assert answered.status == status

    def test_a_cancelled_job_ends_it_with_6(
        self, runtime: Runtime, submit: Submit, follow: Follow, wait_for: WaitFor
    ) -> None:
        id_ = submit(*code("out(b'.'); time.sleep(300)"))
        process = follow("logs", "-f", id_)
        assert read(process, 1) == b"."
        with runtime.store.write() as tx:
            assert job_queue.want_end(tx, wait_for(id_, JobState.RUNNING).seq, "cancel")
        runtime.host.ring(runtime.bells)
        assert process.communicate() == (b"", f"hearth: {id_} was cancelled\n".encode())
        assert process.returncode == 6

    def test_a_job_that_does_not_exist_is_no_success(self, hearth: Run) -> None:
        done = hearth("task", "logs", "--follow", "job_none")
        assert (done.status, done.out) == (4, "")
        assert done.err.startswith("hearth: there is no job job_none\n")

    def test_it_goes_on_with_the_next_run(self, hearth: Run, work: Path) -> None:
        counts = "import os, sys; n = len(os.listdir('.')); open(str(n), 'w').close(); print(n); sys.exit(n < 2)"
        retry = ("--retry", "attempts=3,delay=10ms", "--cwd", str(work))
        done = hearth("task", "submit", "--follow", "--no-start", *retry, "--", *python(counts))
        id_ = hearth("task", "list", "--json").json["jobs"][0]["id"]
        assert (done.status, done.out.split()) == (0, ["0", "1", "2"])
        assert done.err.splitlines()[-2:] == [f"hearth: run 2 of {id_}", f"hearth: run 3 of {id_}"]

    def test_what_has_ended_is_shown_from_its_beginning_or_its_last_lines(
        self, hearth: Run, submit: Submit, wait_for: WaitFor
    ) -> None:
        id_ = submit(*code("out(b'1\\n2\\n3\\n'); err(b'a\\nb\\n')"))
        wait_for(id_)
        done = hearth("task", "logs", "-f", id_)
        assert (done.out, done.err) == ("1\n2\n3\n", "a\nb\n")
        done = hearth("task", "logs", "-f", id_, "--tail", "1", "--stream", "merged")
        assert (done.out, done.err) == ("3\nb\n", "")
        done = hearth("task", "logs", "-f", id_, "--stream", "stderr")
        assert (done.out, done.err) == ("", "a\nb\n")
        assert hearth("task", "logs", "-f", id_, "--quiet").out == ""

    def test_the_last_lines_of_what_runs_are_followed_by_what_comes(
        self, runtime: Runtime, hearth: Run, follow: Follow, wait_for: WaitFor
    ) -> None:
        id_ = listening(hearth, f"import os; os.write(1, b'1\\n2\\n3\\n'); {DOTS}")
        job = wait_for(id_, JobState.RUNNING)
        first = follow("logs", "-f", id_)
        assert read(first, 6) == b"1\n2\n3\n"
        process = follow("logs", "-f", id_, "--tail", "1")
        assert read(process, 2) == b"3\n"
        say(runtime, job, b"\n\n")
        assert read(process, 2) == b".."

    @posix_only("an interrupt for one process alone")
    def test_ctrl_c_ends_the_following_and_not_the_job(self, hearth: Run, submit: Submit, follow: Follow) -> None:
        id_ = submit(*code("out(b'.'); time.sleep(300)"))
        process = follow("logs", "-f", id_)
        assert read(process, 1) == b"."
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
        assert (process.returncode, out) == (130, b"")
        assert err.decode() == f"hearth: {id_} is running still; `hearth task cancel {id_}` ends it\n"
        assert hearth("task", "get", id_, "--json").json["job"]["state"] == "running"

    def test_nobody_who_reads_on_is_a_quiet_end(
        self, runtime: Runtime, hearth: Run, follow: Follow, wait_for: WaitFor
    ) -> None:
        id_ = listening(hearth, DOTS)
        job = wait_for(id_, JobState.RUNNING)
        process = follow("logs", "-f", id_)
        say(runtime, job)
        assert read(process, 1) == b"."
        assert process.stdout is not None
        process.stdout.close()
        say(runtime, job)
        assert process.wait(4) == 0
        assert process.stderr is not None
        assert process.stderr.read() == b""

    @pytest.mark.skipif(WINDOWS, reason="nothing tells there, so it looks ten times a second")
    def test_who_follows_a_silent_job_rests(self, submit: Submit, follow: Follow, wait_for: WaitFor) -> None:
        id_ = submit(*code("out(b'.'); time.sleep(300)"))
        process = follow("logs", "-f", id_)
        assert read(process, 1) == b"."
        wait_for(id_, JobState.RUNNING)
        before = _switches(process.pid)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.5)
        assert _switches(process.pid) - before < 4


def _switches(pid: int) -> int:
    return int(psutil.Process(pid).num_ctx_switches().voluntary)


def test_all_of_a_fast_long_output_comes(hearth: Run, worker: Working) -> None:
    text = "[out(b'%07d\\n' % n * 128) for n in range(2_000)]"
    done = hearth("task", "submit", "--follow", "--no-start", "--", *code(text))
    assert done.status == 0
    assert done.out_bytes == b"".join(b"%07d\n" % n * 128 for n in range(2_000))
    assert worker.worker.id
