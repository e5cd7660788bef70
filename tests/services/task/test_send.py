"""Text to the standard input of jobs."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest

from hearth import bounds
from hearth.errors import Conflict, InputClosed, WaitRanOut
from hearth.runtime import Caller, Runtime
from hearth.services.task.send import SendText, TextSent, send
from hearth.store.jobs import JobState
from tests.services.task.conftest import SLEEPER, Run, Submit, WaitFor, Working, python
from tests.services.task.test_logs import answer, until

ECHOES = "import os, sys; [os.write(1, b'<' + line.encode() + b'>') for line in sys.stdin]; os.write(1, b'over')"


@pytest.fixture
def job(hearth: Run) -> str:
    """One that shows each line that it is given, and its end."""
    words = ("task", "submit", "--json", "--no-start", "--open-stdin", "--", *python(ECHOES))
    return str(hearth(*words).json["jobs"][0]["id"])


def sent(runtime: Runtime, id_: str, **values: object) -> TextSent:
    """As an MCP host sends."""
    return send(runtime.for_call(caller=Caller.MCP), bounds.build(SendText, {"id": id_, **values}))


def printed(runtime: Runtime, id_: str) -> str:
    return (answer(runtime, id_, stream="stdout").stdout or "").replace("\r", "")


@pytest.mark.usefixtures("worker")
class TestOpen:
    def test_a_text_at_the_shell_answers_a_prompt(self, runtime: Runtime, hearth: Run, job: str) -> None:
        done = hearth("task", "send", job, "yes", "--json")
        assert (done.status, done.json["sent_bytes"], done.json["closed"]) == (0, 4, False)
        until(lambda: printed(runtime, job) == "<yes\n>")
        assert hearth("task", "send", job[:20], "").status == 0
        until(lambda: printed(runtime, job) == "<yes\n><\n>")

    def test_without_a_newline_the_line_goes_on(
        self, hearth: Run, job: str, wait_for: WaitFor, runtime: Runtime
    ) -> None:
        hearth("task", "send", job, "a", "--no-newline")
        hearth("task", "send", job, "b")
        assert hearth("task", "send", job, "--eof", "--json").json["closed"] is True
        wait_for(job, JobState.COMPLETED)
        assert printed(runtime, job) == "<ab\n>over"

    def test_elsewhere_exactly_the_text_is_sent(self, runtime: Runtime, job: str, wait_for: WaitFor) -> None:
        assert sent(runtime, job, text="-").sent_bytes == 1
        assert sent(runtime, job, text="e", newline=True).sent_bytes == 2
        found = sent(runtime, job, text="end", eof=True)
        assert (found.state, found.closed, found.attempt) == ("completed", True, 1)
        wait_for(job, JobState.COMPLETED)
        assert printed(runtime, job) == "<-e\n><end>over"

    def test_standard_input_is_passed_on_as_it_is(self, hearth: Run, job: str, wait_for: WaitFor) -> None:
        given = b"".join(b"%d\n" % n for n in range(30_000))
        done = hearth("task", "send", job, "-", "--eof", "--json", stdin=given)
        assert (done.status, done.json["sent_bytes"], done.json["closed"]) == (0, len(given), True)
        assert wait_for(job, JobState.COMPLETED).stdout_bytes == len(given) + 2 * 30_000 + len("over")

    def test_the_end_can_be_sent_twice(self, runtime: Runtime, job: str) -> None:
        assert sent(runtime, job, eof=True).closed
        with contextlib.suppress(Conflict):  # it has ended by now
            assert sent(runtime, job, eof=True).closed

    def test_a_job_that_has_ended_takes_nothing(
        self, runtime: Runtime, hearth: Run, job: str, wait_for: WaitFor
    ) -> None:
        sent(runtime, job, eof=True)
        wait_for(job)
        done = hearth("task", "send", job, "more")
        assert (done.status, done.err) == (3, f"hearth: {job} has ended: completed\n")

    @pytest.mark.slow  # a second, since it might only be about to open it
    def test_a_program_that_closed_its_input_takes_nothing(self, runtime: Runtime, hearth: Run, work: Path) -> None:
        text = f"import os; os.close(0); open('closed', 'w').close(); {SLEEPER}"
        words = ("--open-stdin", "--cwd", str(work), "--", *python(text))
        id_ = hearth("task", "submit", "--json", "--no-start", *words).json["jobs"][0]["id"]
        until(lambda: (work / "closed").exists())
        with pytest.raises(InputClosed):
            sent(runtime, id_, text="more")

    def test_a_program_that_does_not_read_takes_what_fits(self, runtime: Runtime, hearth: Run) -> None:
        words = ("task", "submit", "--json", "--no-start", "--open-stdin", "--", *python(SLEEPER))
        id_ = hearth(*words).json["jobs"][0]["id"]
        text = "x" * 1_000_000
        found = sent(runtime, id_, text=text, eof=True, wait_timeout_ms=500)
        assert (found.state, found.exit_status, found.closed) == ("partial", 5, False)
        assert 0 < found.sent_bytes < len(text)


@pytest.mark.usefixtures("worker")
def test_an_input_that_is_not_open_is_told_with_what_opens_it(hearth: Run, submit: Submit) -> None:
    id_ = submit(*python(SLEEPER))
    done = hearth("task", "send", id_, "yes")
    assert done.status == 1
    assert done.err.splitlines() == [
        f"hearth: the standard input of {id_} is not open",
        "  hint: submit it with open_stdin (--open-stdin)",
    ]


def test_a_job_that_does_not_start_is_waited_for_only_so_long(runtime: Runtime, hearth: Run, job: str) -> None:
    del hearth
    with runtime.store.write() as tx:
        tx.execute("UPDATE jobs SET state = 'scheduled', due_at = '2100-01-01T00:00:00.000Z'")
    worker = Working(runtime)
    try:
        with pytest.raises(WaitRanOut, match="has not started"):
            sent(runtime, job, text="x", wait_timeout_ms=50)
    finally:
        worker.stop()


def test_nothing_to_send_is_refused(hearth: Run) -> None:
    done = hearth("task", "send", "job_1")
    assert done.status == 2
    assert "give a text, or eof" in done.err


def test_an_unknown_job_is_not_found(hearth: Run) -> None:
    assert hearth("task", "send", "job_none", "x").status == 4


def test_no_event_holds_what_was_sent(runtime: Runtime, hearth: Run, job: str) -> None:
    worker = Working(runtime)
    try:
        assert hearth("task", "send", job, "a-word-of-its-own", "--eof").status == 0
    finally:
        worker.stop()
    held = b"".join(path.read_bytes() for path in Path(runtime.data_dir).glob("hearth.sqlite3*"))
    assert b"a-word-of-its-own" not in held
    assert os.fsencode(job) in held
