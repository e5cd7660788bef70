"""What jobs print: while they run, afterwards, as an answer and as exact bytes at a shell."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hearth import bounds
from hearth.engine.outputs import SLACK_BYTES, Outputs
from hearth.errors import ArtifactMissing, InvalidInput, NotFound
from hearth.platforms.processes import Stream
from hearth.runtime import Caller, Runtime
from hearth.services.task.logs import JobLogs, ReadLogs, logs
from hearth.settings import WorkerSettings
from hearth.store import jobs
from hearth.store.jobs import JobState
from tests.marks import posix_only
from tests.services.task.conftest import Run, Submit, WaitFor, Working, end_all, python

PRINTS = "import sys; sys.stdout.write('out\\n'); sys.stderr.write('err\\n')"
MOST = 8_192


def code(text: str) -> tuple[str, ...]:
    """A program that writes bytes by `out` and `err`, and that can wait for ever."""
    begin = "import os, sys, time; out = lambda data: os.write(1, data); err = lambda data: os.write(2, data); "
    return python(begin + text)


def answer(runtime: Runtime, id_: str, **values: Any) -> JobLogs:
    """The answer as an MCP host gets it."""
    return logs(runtime.for_call(caller=Caller.MCP), bounds.build(ReadLogs, {"id": id_, **values}))


def until(true: Callable[[], bool], seconds: float = 4) -> None:
    pause = threading.Event()
    for _ in range(round(seconds / 0.01)):
        if true():
            return
        pause.wait(0.01)
    raise AssertionError("it did not come true")


@pytest.mark.usefixtures("worker")
class TestEnded:
    def test_a_shell_gets_the_exact_bytes_of_each_output(self, hearth: Run, submit: Submit, wait_for: WaitFor) -> None:
        id_ = submit(*code("out(bytes(range(256))); err(b'\\xff\\r\\n\\xc3')"))
        wait_for(id_)
        done = hearth("task", "logs", id_, "--stream", "stdout")
        assert (done.status, done.out_bytes, done.err) == (0, bytes(range(256)), "")
        merged = hearth("task", "logs", id_, "--stream", "merged")
        assert merged.out_bytes == bytes(range(256)) + b"\xff\r\n\xc3"

    def test_both_outputs_go_to_the_shells_own(self, hearth: Run, submit: Submit, wait_for: WaitFor) -> None:
        id_ = submit(*python(PRINTS))
        wait_for(id_)
        done = hearth("task", "logs", id_[:20])
        assert (done.status, done.out.split(), done.err.split()) == (0, ["out"], ["err"])

    def test_an_answer_has_texts_and_facts(self, runtime: Runtime, submit: Submit, wait_for: WaitFor) -> None:
        id_ = submit(*code("out(b'one\\ntwo\\n'); err(b'a\\0b\\xff')"))
        job = wait_for(id_)
        found = answer(runtime, id_)
        assert (found.state, found.job_state, found.attempt, found.merged) == ("completed", "completed", 1, None)
        assert (found.stdout, found.stderr) == ("one\ntwo\n", "a\0b\\xff")
        facts = found.stdout_facts
        assert facts is not None
        assert (facts.size_bytes, facts.offset, facts.length, facts.next_offset) == (8, 0, 8, None)
        assert (facts.first_line, facts.encoding, facts.artifact) == (1, "utf-8", job.stdout_artifact)
        assert found.stderr_facts is not None
        assert found.stderr_facts.encoding_note == "binary"

    @pytest.mark.parametrize("limit", [1, 2, 3, 7, 100])
    def test_parts_in_a_row_make_the_whole(
        self, runtime: Runtime, submit: Submit, wait_for: WaitFor, limit: int
    ) -> None:
        text = "naïve €5 🙂\nzwei\n"
        id_ = submit(*code(f"out({text.encode()!r})"))
        wait_for(id_)
        parts, offset = [], 0
        while offset is not None:
            found = answer(runtime, id_, stream="stdout", offset=offset, limit=limit)
            assert found.stdout
            assert found.stdout_facts is not None
            assert found.state == ("partial" if found.stdout_facts.next_offset else "completed")
            parts.append(found.stdout)
            offset = found.stdout_facts.next_offset  # type: ignore[assignment]
        assert "".join(parts) == text

    @pytest.mark.parametrize(
        ("options", "shown"),
        [
            ({"head": 2}, ("1\n2\n", "a\n")),
            ({"tail": 2}, ("4\n5", "a\n")),
            ({"lines": "2:3"}, ("2\n3\n", "")),
            ({"lines": "4:"}, ("4\n5", "")),
            ({"offset": 4}, ("3\n4\n5", "")),
            ({"offset": 2, "limit": 3}, ("2\n3", "")),
            ({"offset": 99}, ("", "")),
        ],
    )
    def test_lines_and_bytes_are_those_of_each_output(
        self, runtime: Runtime, hearth: Run, submit: Submit, wait_for: WaitFor, options: Any, shown: tuple[str, str]
    ) -> None:
        id_ = submit(*code("out(b'1\\n2\\n3\\n4\\n5'); err(b'a\\n')"))
        wait_for(id_)
        found = answer(runtime, id_, **options)
        assert (found.stdout, found.stderr) == shown
        words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        done = hearth("task", "logs", id_, *words)
        assert (done.out, done.err) == shown

    def test_merged_is_exact_where_both_were_one_from_the_start(
        self, runtime: Runtime, hearth: Run, wait_for: WaitFor
    ) -> None:
        text = "[(out if n % 2 else err)(b'%d\\n' % n) for n in range(50)]"
        done = hearth("task", "submit", "--json", "--no-start", "--merge", "--", *code(text))
        id_ = done.json["jobs"][0]["id"]
        wait_for(id_)
        numbers = "".join(f"{n}\n" for n in range(50))
        found = answer(runtime, id_, stream="merged")
        assert (found.merged, found.order, found.stdout) == (numbers, "exact", None)
        assert answer(runtime, id_).stderr == ""
        assert hearth("task", "logs", id_).out == numbers

    def test_else_the_order_is_what_was_seen_and_that_is_told(
        self, runtime: Runtime, hearth: Run, wait_for: WaitFor
    ) -> None:
        text = "[(out(b'out\\n'), err(b'error\\n')) for _ in sys.stdin]"
        begin = ("task", "submit", "--json", "--no-start", "--open-stdin", "--")
        id_ = hearth(*begin, *code(text)).json["jobs"][0]["id"]
        order = Outputs.of(runtime, wait_for(id_, JobState.RUNNING)).order
        until(lambda: hearth("task", "send", id_, "go").status == 0 and len(order.read()) > 1)
        assert answer(runtime, id_, stream="merged").order == "seen"
        notes = order.read()
        hearth("task", "send", id_, "--eof")
        wait_for(id_)
        found = answer(runtime, id_, stream="merged")
        assert (found.order, found.state) == ("seen", "completed")
        assert found.merged is not None
        for stdout, stderr in notes:
            before = found.merged[: stdout + stderr].splitlines()
            assert (before.count("out") * 4, before.count("error") * 6) == (stdout, stderr)
        assert hearth("task", "logs", id_, "--stream", "merged").out == found.merged

    def test_of_a_short_run_no_order_is_known(self, runtime: Runtime, submit: Submit, wait_for: WaitFor) -> None:
        id_ = submit(*code("err(b'0\\n'); out(b'1\\n')"))
        wait_for(id_)
        found = answer(runtime, id_, stream="merged")
        assert (found.merged, found.order) == ("1\n0\n", "unknown")

    def test_a_single_output_needs_no_order(self, runtime: Runtime, submit: Submit, wait_for: WaitFor) -> None:
        id_ = submit(*code("err(b'only\\n')"))
        wait_for(id_)
        found = answer(runtime, id_, stream="merged", head=1)
        assert (found.merged, found.order) == ("only\n", "exact")

    def test_each_run_of_a_job_can_be_read(self, runtime: Runtime, hearth: Run, work: Path, wait_for: WaitFor) -> None:
        counts = "import os, sys; n = len(os.listdir('.')); open(str(n), 'w').close(); print('run', n); sys.exit(n < 2)"
        words = ("task", "submit", "--json", "--no-start", "--retry", "3", "--cwd", str(work), "--", *python(counts))
        id_ = hearth(*words).json["jobs"][0]["id"]
        assert wait_for(id_).attempt == 3
        runs = [answer(runtime, id_, attempt=n, stream="stdout").stdout or "" for n in (1, 2, 3)]
        assert [text.split() for text in runs] == [["run", "0"], ["run", "1"], ["run", "2"]]
        assert answer(runtime, id_).stdout == runs[2]
        with pytest.raises(NotFound, match="no run 4"):
            answer(runtime, id_, attempt=4)

    def test_an_answer_keeps_to_its_bound_and_says_where_to_go_on(
        self, runtime: Runtime, submit: Submit, wait_for: WaitFor
    ) -> None:
        id_ = submit(*code("out(b'x' * 5000); err(b'y' * 300)"))
        wait_for(id_)
        small = runtime.for_call(settings=replace(runtime.settings, max_output_bytes=1_024))
        found = answer(small, id_)
        assert (found.state, found.stdout, found.stderr) == ("partial", "x" * 724, "y" * 300)
        assert found.stdout_facts is not None
        assert found.stdout_facts.next_offset == 724

    def test_what_is_no_longer_kept_is_told(
        self, runtime: Runtime, hearth: Run, submit: Submit, wait_for: WaitFor
    ) -> None:
        id_ = submit(*python(PRINTS))
        artifact = wait_for(id_).stdout_artifact
        assert hearth("artifact", "delete", str(artifact)).status == 0
        with pytest.raises(ArtifactMissing, match="no longer kept"):
            answer(runtime, id_)
        assert answer(runtime, id_, stream="stderr").stderr

    def test_outputs_that_could_not_become_artifacts_are_read_from_their_files(
        self, runtime: Runtime, submit: Submit, wait_for: WaitFor
    ) -> None:
        bodies = Path(runtime.data_dir) / "blobs"
        Path(runtime.data_dir).mkdir(parents=True, exist_ok=True)
        bodies.write_bytes(b"")  # no folder can be made there, as on a full disk
        id_ = submit(*python(PRINTS))
        assert wait_for(id_).in_files
        found = answer(runtime, id_)
        assert ((found.stdout or "").split(), (found.stderr or "").split()) == (["out"], ["err"])
        bodies.unlink()


class TestTooMuch:
    @pytest.fixture
    def small(self, runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> Runtime:
        monkeypatch.setenv("HEARTH_WORKER_OUTPUT_MAX_BYTES", str(MOST))
        return runtime.for_call(settings=replace(runtime.settings, worker=WorkerSettings(output_max_bytes=MOST)))

    def test_the_middle_of_too_long_output_is_missing_and_that_is_told(
        self, small: Runtime, hearth: Run, submit: Submit, wait_for: WaitFor
    ) -> None:
        worker = Working(small)
        try:
            id_ = submit(*code("out(b''.join(b'%07d\\n' % n for n in range(10_000)))"))
            assert wait_for(id_).stdout_bytes == 80_000
        finally:
            worker.stop()
        done = hearth("task", "logs", id_)
        assert done.err == "hearth: 71,808 bytes of the middle are not kept\n"
        assert done.out.split() == [f"{n:07}" for n in (*range(512), *range(9_488, 10_000))]
        first = answer(small, id_, stream="stdout")
        assert first.stdout_facts is not None
        assert (first.state, first.stdout_facts.dropped, first.stdout_facts.next_offset) == ("partial", 71_808, 4_096)
        rest = answer(small, id_, stream="stdout", offset=4_096)
        assert rest.stdout_facts is not None
        assert (rest.state, rest.stdout_facts.offset, rest.stdout_facts.size_bytes) == ("completed", 75_904, 80_000)
        assert (rest.stdout or "").splitlines() == [f"{n:07}" for n in range(9_488, 10_000)]
        assert answer(small, id_, stream="stdout", tail=1).stdout == "0009999\n"
        # Lines count what is kept; a text ends where something is missing.
        over = answer(small, id_, stream="stdout", lines="512:513")
        assert (over.state, over.stdout) == ("partial", "0000511\n")

    @posix_only("files get no holes")
    def test_a_hole_in_the_middle_of_what_runs_is_never_read_as_zeros(
        self, small: Runtime, hearth: Run, submit: Submit, wait_for: WaitFor
    ) -> None:
        size = 3 * SLACK_BYTES
        worker = Working(small)
        try:
            id_ = submit(*code(f"out(b'x' * {size}); time.sleep(300)"))
            outputs = Outputs.of(small, wait_for(id_, JobState.RUNNING))
            until(lambda: (gap := outputs.gap(Stream.STDOUT)) is not None and gap.end - gap.start == size - MOST)
            done = hearth("task", "logs", id_)
            assert done.err == f"hearth: {size - MOST:,} bytes of the middle are not kept\n"
            assert done.out == "x" * MOST
            followed = hearth("task", "logs", id_, "--follow", "--wait-timeout", "50ms")
            assert followed.out == "x" * MOST
            assert followed.err.startswith(f"hearth: {size - MOST:,} bytes of stdout are not kept\n")
            found = answer(small, id_, stream="stdout", offset=1_000_000, limit=10)
            assert found.stdout_facts is not None
            assert (found.stdout, found.stdout_facts.offset) == ("x" * 10, size - MOST // 2)
            assert found.stdout_facts.dropped == size - MOST
        finally:
            end_all(small)
            worker.stop()


class TestRunning:
    def test_what_was_printed_so_far_is_shown(
        self, runtime: Runtime, worker: Working, hearth: Run, submit: Submit
    ) -> None:
        id_ = submit(*code("out('né'.encode()[:2]); err(b'e'); time.sleep(300)"))
        until(lambda: answer(runtime, id_).stderr == "e")
        found = answer(runtime, id_)
        assert (found.state, found.job_state, found.stdout) == ("completed", "running", "n")
        assert found.stdout_facts is not None
        # Half a character waits for its rest, and there is always somewhere to go on from.
        assert (found.stdout_facts.size_bytes, found.stdout_facts.next_offset) == (2, 1)
        done = hearth("task", "logs", id_)
        assert (done.status, done.out_bytes, done.err) == (0, b"n\xc3", "e")
        assert worker.worker.id

    def test_a_job_that_waits_has_printed_nothing(self, runtime: Runtime, hearth: Run, submit: Submit) -> None:
        id_ = submit(*python(PRINTS))
        found = answer(runtime, id_)
        assert (found.job_state, found.attempt, found.stdout, found.stderr) == ("queued", 0, "", "")
        done = hearth("task", "logs", id_)
        assert (done.status, done.out) == (0, "")
        assert done.err == f"hearth: {id_} is queued and printed nothing\n"

    @pytest.mark.usefixtures("worker")
    def test_a_job_that_could_not_start_says_why(self, hearth: Run, submit: Submit, wait_for: WaitFor) -> None:
        id_ = submit("no-such-program-at-all")
        wait_for(id_, JobState.FAILED)
        done = hearth("task", "logs", id_)
        assert done.status == 0
        assert done.err.startswith(
            f"hearth: {id_} failed and printed nothing: there is no program 'no-such-program-at-all'"
        )

    def test_a_claimed_job_has_printed_nothing_yet(self, runtime: Runtime, submit: Submit) -> None:
        id_ = submit(*python(PRINTS))
        with runtime.store.write() as tx:
            job = jobs.find(tx, id_)
            assert job is not None
            jobs.move(tx, job.seq, JobState.QUEUED, JobState.RUNNING, worker="wrk_1", mark="m", attempt=1)
        found = answer(runtime, id_)
        assert (found.job_state, found.attempt, found.stdout) == ("running", 1, "")


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"head": 1, "tail": 1}, "lines"),
        ({"encoding": "rot13"}, "encoding"),
        ({"exit_code": True}, "exit_code"),
        ({"follow": True, "attempt": 1}, "attempt"),
        ({"follow": True, "offset": 1}, "follow"),
    ],
)
def test_what_contradicts_itself_is_refused(runtime: Runtime, values: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        answer(runtime, "job_1", **values)
    assert refused.value.problems[0].field == field


def test_an_unknown_job_is_not_found(hearth: Run) -> None:
    done = hearth("task", "logs", "job_none", "--json")
    assert (done.status, done.json["error"]["code"]) == (4, "not_found")
