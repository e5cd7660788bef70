"""What every detacher promises, with real programs, also when the process that started them is killed."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from hearth import identifiers
from hearth.errors import ArgumentsTooLong, InputClosed, NotExecutable
from hearth.platforms.base import Host
from hearth.platforms.detached import Detached, DetachedLaunch, Detacher, Found, Record
from hearth.platforms.processes import Exit

ROOT = Path(__file__).parents[2]
SECONDS = 10.0
SLEEPER = "import time; time.sleep(300)"
posix = pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals, sessions and shells")


@pytest.fixture(scope="module")
def detacher(host: Host) -> Iterator[Detacher]:
    made = host.make_detacher()
    yield made
    made.close()


@pytest.fixture
def mark() -> Iterator[str]:
    """A text that only what the test started has in its environment; nothing of that may be left."""
    made = identifiers.new("tst", 0)
    yield made
    assert eventually(lambda: [p for p in psutil.process_iter() if _is_marked(p, made)] == [], 2)


def _is_marked(process: psutil.Process, mark: str) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE and process.environ().get("HEARTH_TEST_MARK") == mark
    except (psutil.Error, OSError):
        return False


@pytest.fixture
def what(tmp_path: Path, mark: str) -> Callable[..., DetachedLaunch]:
    """What to launch: `what("print(1)", "word", merge=True)` runs Python, with a folder of its own."""
    numbers = iter(range(1_000))

    def make(code: str, *words: str, **options: object) -> DetachedLaunch:
        return program(sys.executable, "-c", code, *words, **options)

    def program(path: str, *words: str, **options: object) -> DetachedLaunch:
        folder = tmp_path / f"attempt {next(numbers)}"
        folder.mkdir()
        environment = {**os.environ, "HEARTH_TEST_MARK": mark}
        given = DetachedLaunch(path, (path, *words), str(tmp_path), environment, str(folder), mark=mark)
        return given._replace(**options)  # type: ignore[arg-type]

    make.program = program  # type: ignore[attr-defined]
    return make


def end_of(host: Host, process: Detached, seconds: float = SECONDS) -> Exit:
    assert host.wait_any([process.waitable], seconds) == [process.waitable]
    ended = process.ended
    assert ended is not None
    return ended


def run(host: Host, detacher: Detacher, what: DetachedLaunch) -> Exit:
    process = detacher.launch(what)
    try:
        process.release()
        return end_of(host, process)
    finally:
        process.close()


def output(what: DetachedLaunch, name: str = "stdout") -> bytes:
    return (Path(what.folder) / name).read_bytes().replace(b"\r\n", b"\n")


def is_over(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def eventually(true: Callable[[], bool], seconds: float = SECONDS) -> bool:
    deadline = time.monotonic() + seconds
    while not true():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.005)
    return True


# A worker: it launches what it is told, says how to find it, releases it if it shall, and waits to be killed.
WORKER = """
import json, sys
from hearth.platforms.local import local_host
from hearth.platforms.detached import DetachedLaunch
fields = json.loads(sys.argv[1])
fields["words"] = tuple(fields["words"])
if fields["stdin"] is not None:
    fields["stdin"] = fields["stdin"].encode()
process = local_host().make_detacher().launch(DetachedLaunch(**fields))
if sys.argv[2] == "release":
    process.release()
print(json.dumps(process.record), flush=True)
sys.stdin.read()
"""


@contextlib.contextmanager
def worker(what: DetachedLaunch, then: str = "release") -> Iterator[tuple[subprocess.Popen[bytes], Record]]:
    """Another process that launched `what`; it is killed at the latest at the end."""
    fields = {**what._asdict(), "own": {}, "stdin": None if what.stdin is None else what.stdin.decode()}
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-c", WORKER, json.dumps(fields), then]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        try:
            yield process, Record(*json.loads(process.stdout.readline()))
        finally:
            process.kill()


def orphan(what: DetachedLaunch, then: str = "release") -> Record:
    """What a worker launched that is dead now."""
    with worker(what, then) as (_, record):
        pass
    return record


def adopted(found: Found) -> Detached:
    assert found.process is not None
    assert (found.exit, found.started) == (None, True)
    return found.process


def test_a_program_gets_exactly_its_words(host: Host, detacher: Detacher, what: Callable[..., DetachedLaunch]) -> None:
    words = ["a b", "", "$HOME", "`id`", "$(id)", "-n", "--", "it's", 'a "b"', "back\\", "*", "new\nline", "é", ";&|"]
    given = what("import json, sys; print(json.dumps(sys.argv[1:]))", *words)
    assert run(host, detacher, given).code == 0
    assert json.loads(output(given)) == words


def test_a_program_gets_exactly_its_environment(
    host: Host, detacher: Detacher, what: Callable[..., DetachedLaunch], mark: str
) -> None:
    wanted = {"PLAIN": "1", "FOLDER": "x", "EMPTY": "", "LINES": "a\nb", "PWD": os.getcwd(), "HEARTH_TEST_MARK": mark}
    given = what("import json, os; print(json.dumps(dict(os.environ)))", environment={**wanted}, directory=os.getcwd())
    assert run(host, detacher, given).code == 0
    found = json.loads(output(given))
    assert {name: found.get(name) for name in wanted} == wanted
    if sys.platform != "win32":  # which adds what its programs cannot do without
        assert set(found) - set(wanted) <= {"LC_CTYPE", "_", "SHLVL", "OLDPWD"}


def test_both_outputs_and_the_exit_code_are_kept(
    host: Host, detacher: Detacher, what: Callable[..., DetachedLaunch]
) -> None:
    given = what("import sys; sys.stdout.write('out'); sys.stderr.write('err'); sys.exit(3)")
    ended = run(host, detacher, given)
    assert (ended.code, ended.signal) == (3, None)
    assert ended.cpu_ms is not None and ended.cpu_ms > 0
    assert (output(given), output(given, "stderr")) == (b"out", b"err")


def test_merged_outputs_keep_their_order(host: Host, detacher: Detacher, what: Callable[..., DetachedLaunch]) -> None:
    given = what("import os; [os.write(1 + i % 2, b'%d ' % i) for i in range(200)]", merge=True)
    assert run(host, detacher, given).code == 0
    assert output(given).split() == [b"%d" % i for i in range(200)]
    assert not (Path(given.folder) / "stderr").exists()


def test_a_program_runs_in_its_directory(host: Host, detacher: Detacher, what: Callable[..., DetachedLaunch]) -> None:
    given = what("import os; print(os.getcwd())")
    assert run(host, detacher, given).code == 0
    assert os.path.samefile(output(given).decode().strip(), given.directory)


def test_input_is_empty_or_what_was_given(host: Host, detacher: Detacher, what: Callable[..., DetachedLaunch]) -> None:
    code = "import sys; data = sys.stdin.buffer.read(); print(len(data), data[:5])"
    empty, large = what(code), what(code, stdin=b"\0\r\n\xff " * 100_000)
    assert (run(host, detacher, empty).code, run(host, detacher, large).code) == (0, 0)
    assert output(empty) == b"0 b''\n"
    assert output(large) == b"500000 b'\\x00\\r\\n\\xff '\n"


def test_programs_with_the_same_variables_differ_in_their_own(
    host: Host, detacher: Detacher, what: Callable[..., DetachedLaunch]
) -> None:
    shared = {**os.environ, "SHARED": "s\udcff" if os.name == "posix" else "s", "OWN": "none"}
    seen = []
    for own in ({"OWN": "1"}, {"OWN": "2"}, {"OWN": "3", "no-name": "4"}, {}):
        given = what("import os; print(*map(ascii, map(os.environ.get, ('SHARED', 'OWN', 'no-name'))))")
        given = given._replace(environment=shared, own=own)
        assert run(host, detacher, given).code == 0
        seen.append(output(given).decode().split())
    text = ascii(shared["SHARED"])
    assert seen == [[text, "'1'", "None"], [text, "'2'", "None"], [text, "'3'", "'4'"], [text, "'none'", "None"]]


def test_nothing_runs_before_the_release(host: Host, detacher: Detacher, what: Callable[..., DetachedLaunch]) -> None:
    given = what("print('ran')")
    process = detacher.launch(given)
    assert host.wait_any([process.waitable], 0.1) == []
    assert (process.ended, output(given)) == (None, b"")
    process.release()
    assert (end_of(host, process).code, output(given)) == (0, b"ran\n")
    process.close()


def test_what_is_discarded_never_runs(detacher: Detacher, what: Callable[..., DetachedLaunch]) -> None:
    given = what("print('ran')")
    process = detacher.launch(given)
    process.discard()
    assert not psutil.pid_exists(process.record.pid)
    assert output(given) == b""


def test_what_is_let_go_of_before_its_release_never_runs(
    detacher: Detacher, what: Callable[..., DetachedLaunch]
) -> None:
    given = what("print('ran')")
    process = detacher.launch(given)
    process.close()
    assert detacher.find(process.record) == Found(None, None, started=False)
    assert output(given) == b""


def test_what_a_killed_worker_had_not_released_never_runs(
    detacher: Detacher, what: Callable[..., DetachedLaunch]
) -> None:
    given = what("print('ran')")
    record = orphan(given, "hold")
    assert detacher.find(record) == Found(None, None, started=False)
    assert output(given) == b""


def test_what_a_stopped_worker_holds_is_ended_by_who_takes_over(
    detacher: Detacher, what: Callable[..., DetachedLaunch]
) -> None:
    given = what("print('ran')")
    process = detacher.launch(given)
    assert detacher.find(process.record) == Found(None, None, started=False)
    process.release()
    assert process.ended is not None
    assert output(given) == b""
    process.close()


def test_a_program_outlives_its_worker_and_is_adopted(
    host: Host, detacher: Detacher, what: Callable[..., DetachedLaunch], tmp_path: Path
) -> None:
    go = tmp_path / "go"
    given = what(
        "import os, sys, time\n"
        "print('before', flush=True)\n"
        f"while not os.path.exists({str(go)!r}): time.sleep(0.01)\n"
        "print('after'); sys.exit(7)"
    )
    record = orphan(given)
    process = adopted(detacher.find(record))
    assert eventually(lambda: output(given) == b"before\n")
    assert process.ended is None
    go.touch()
    assert end_of(host, process).code == 7
    assert output(given) == b"before\nafter\n"
    assert eventually(process.is_gone)
    process.close()


def test_an_adopted_program_can_be_killed(host: Host, detacher: Detacher, what: Callable[..., DetachedLaunch]) -> None:
    tree = f"import subprocess, sys; print('up', flush=True); subprocess.run([sys.executable, '-c', {SLEEPER!r}])"
    given = what(tree)
    process = adopted(detacher.find(orphan(given)))
    assert eventually(lambda: output(given) == b"up\n")
    process.kill()
    ended = end_of(host, process)
    assert (ended.code, ended.signal) in ((None, 9), (1, None))
    assert eventually(process.is_gone)
    process.close()


def test_another_start_is_another_program(host: Host, detacher: Detacher, what: Callable[..., DetachedLaunch]) -> None:
    with subprocess.Popen([sys.executable, "-c", SLEEPER]) as other:
        start = host.process_start(other.pid)
        assert start is not None
        given = what("")
        stale = Record(other.pid, start + "0", host.boot_id(), given.folder, given.mark)
        assert detacher.find(stale) == Found(None, None, started=True)
        assert other.poll() is None
        other.kill()


def test_a_program_of_another_boot_is_left_alone(
    host: Host, detacher: Detacher, what: Callable[..., DetachedLaunch]
) -> None:
    if not host.boot_id():
        pytest.skip("process starts tell here")
    process = detacher.launch(what(SLEEPER))
    process.release()
    found = detacher.find(process.record._replace(boot="another"))
    assert found == Found(None, None, started=True)
    assert process.ended is None
    process.kill()
    end_of(host, process)
    process.close()


def test_a_program_that_prints_for_ever_needs_nobody_and_can_be_killed(
    host: Host, detacher: Detacher, what: Callable[..., DetachedLaunch]
) -> None:
    given = what("while True: print('x' * 1000)")
    process = detacher.launch(given)
    process.release()
    assert eventually(lambda: len(output(given)) > 200_000)
    process.kill()
    end_of(host, process)
    assert eventually(process.is_gone)
    process.close()


def test_many_at_once_end_each_with_its_own_code(
    host: Host, detacher: Detacher, what: Callable[..., DetachedLaunch]
) -> None:
    count = 60 if sys.platform == "win32" else 64
    assert detacher.most >= count
    name = "cmd.exe" if sys.platform == "win32" else "sh"
    path = host.find_program(name, os.environ, os.getcwd())
    words = ("/c", "exit") if sys.platform == "win32" else ("-c", 'exit "$0"')
    running = {}
    for code in range(count):
        process = detacher.launch(what.program(path, *words, str(code)))  # type: ignore[attr-defined]
        running[process.waitable] = (code, process)
    for _, process in running.values():
        process.release()
    while running:
        ready = host.wait_any(list(running), SECONDS)
        assert ready
        for waitable in ready:
            code, process = running.pop(waitable)
            assert process.ended is not None and process.ended.code == code
            process.close()


def test_an_open_input_takes_text_until_it_is_closed(
    host: Host, detacher: Detacher, what: Callable[..., DetachedLaunch]
) -> None:
    given = what("import sys; print(sys.stdin.read(), end='')", open_stdin=True)
    process = detacher.launch(given)
    process.release()
    assert detacher.send(given.folder, b"one\n", SECONDS) == 4
    assert detacher.send(given.folder, b"two\n", SECONDS) == 4
    detacher.close_stdin(given.folder)
    detacher.close_stdin(given.folder)
    assert end_of(host, process).code == 0
    assert output(given) == b"one\ntwo\n"
    with pytest.raises(InputClosed):
        detacher.send(given.folder, b"three", SECONDS)
    process.close()


def test_an_input_that_is_closed_before_the_program_has_opened_it_is_at_its_end(
    host: Host, detacher: Detacher, what: Callable[..., DetachedLaunch]
) -> None:
    given = what("import sys; print(repr(sys.stdin.read()), end='')", open_stdin=True)
    process = detacher.launch(given)
    detacher.close_stdin(given.folder)
    process.release()
    assert end_of(host, process).code == 0
    assert output(given) == b"''"
    process.close()


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_text_that_is_sent_right_after_the_release_is_never_lost(
    host: Host, detacher: Detacher, what: Callable[..., DetachedLaunch]
) -> None:
    for _ in range(200):
        given = what("import sys; print(sys.stdin.read(), end='')", open_stdin=True)
        process = detacher.launch(given)
        process.release()
        assert detacher.send(given.folder, b"one\n", SECONDS) == 4
        detacher.close_stdin(given.folder)
        assert end_of(host, process).code == 0
        assert output(given) == b"one\n"
        process.close()


def test_an_input_that_was_not_opened_takes_nothing(
    host: Host, detacher: Detacher, what: Callable[..., DetachedLaunch]
) -> None:
    given = what("")
    assert run(host, detacher, given).code == 0
    with pytest.raises(InputClosed):
        detacher.send(given.folder, b"x", SECONDS)
    detacher.close_stdin(given.folder)


def test_the_input_of_an_ended_program_takes_nothing(
    host: Host, detacher: Detacher, what: Callable[..., DetachedLaunch]
) -> None:
    given = what("", open_stdin=True)
    assert run(host, detacher, given).code == 0
    with pytest.raises(InputClosed):
        detacher.send(given.folder, b"x", SECONDS)


def test_a_full_input_takes_what_it_can_within_the_time(
    host: Host, detacher: Detacher, what: Callable[..., DetachedLaunch]
) -> None:
    given = what(SLEEPER, open_stdin=True)
    process = detacher.launch(given)
    process.release()
    assert 0 < detacher.send(given.folder, b"x" * 10_000_000, 0.3) < 10_000_000
    process.kill()
    end_of(host, process)
    process.close()


def test_what_is_no_program_is_refused_before_anything_starts(
    detacher: Detacher, what: Callable[..., DetachedLaunch], tmp_path: Path
) -> None:
    text = tmp_path / ("text.exe" if sys.platform == "win32" else "text")
    text.write_text("echo this is no program\n", encoding="utf-8")
    text.chmod(0o755)
    with pytest.raises(NotExecutable):
        detacher.launch(what.program(str(text)))  # type: ignore[attr-defined]


def test_words_that_are_too_long_are_refused_before_anything_starts(
    detacher: Detacher, what: Callable[..., DetachedLaunch]
) -> None:
    with pytest.raises(ArgumentsTooLong):
        detacher.launch(what("", "x" * 200_000))


def test_a_directory_that_is_gone_is_refused_before_anything_starts(
    detacher: Detacher, what: Callable[..., DetachedLaunch], tmp_path: Path
) -> None:
    with pytest.raises(OSError, match="gone"):
        detacher.launch(what("", directory=str(tmp_path / "gone")))


@posix
class TestPosix:
    def test_nothing_stays_open_of_programs_that_are_over_or_were_refused(
        self, host: Host, detacher: Detacher, what: Callable[..., DetachedLaunch]
    ) -> None:
        before = len(os.listdir("/dev/fd"))
        for options in ({}, {"stdin": b"x"}, {"open_stdin": True}):
            assert run(host, detacher, what("", **options)).code == 0
            detacher.launch(what("", **options)).discard()
            with pytest.raises(ArgumentsTooLong):
                detacher.launch(what("", "x" * 200_000, **options))
        process = adopted(detacher.find(orphan(what(SLEEPER))))
        process.kill()
        end_of(host, process)
        process.close()
        assert len(os.listdir("/dev/fd")) == before

    def test_a_program_that_cleans_up_after_term_tells_its_own_code(
        self, host: Host, detacher: Detacher, what: Callable[..., DetachedLaunch]
    ) -> None:
        given = what(
            "import signal, sys, time\n"
            "def tidy(*_): print('tidy'); sys.exit(5)\n"
            "signal.signal(signal.SIGTERM, tidy); print('up', flush=True); time.sleep(300)"
        )
        process = adopted(detacher.find(orphan(given)))
        assert eventually(lambda: output(given) == b"up\n")
        process.ask_to_end()
        assert end_of(host, process)[:2] == (5, None)
        assert output(given) == b"up\ntidy\n"
        process.close()

    def test_a_program_that_ignores_term_runs_on_until_it_is_killed(
        self, host: Host, detacher: Detacher, what: Callable[..., DetachedLaunch]
    ) -> None:
        given = what(f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); print(1, flush=True); {SLEEPER}")
        process = detacher.launch(given)
        process.release()
        assert eventually(lambda: output(given) == b"1\n")
        process.ask_to_end()
        assert host.wait_any([process.waitable], 0.1) == []
        process.kill()
        assert end_of(host, process)[:2] == (None, 9)
        assert eventually(process.is_gone)
        process.close()

    def test_what_left_the_group_survives_a_normal_end_and_dies_with_a_kill(
        self, host: Host, detacher: Detacher, what: Callable[..., DetachedLaunch], tmp_path: Path
    ) -> None:
        note = tmp_path / "pid"
        daemon = (
            "import os, pathlib, subprocess, sys\n"
            f"child = subprocess.Popen([sys.executable, '-c', {SLEEPER!r}], start_new_session=True)\n"
            f"pathlib.Path({str(note)!r}).write_text(str(child.pid)); os._exit(0)"
        )
        process = detacher.launch(what(daemon))
        process.release()
        assert end_of(host, process).code == 0
        pid = int(note.read_text())
        assert process.is_gone()
        assert psutil.pid_exists(pid)
        process.kill()
        assert eventually(process.is_gone)
        process.close()

    def test_what_stays_in_the_group_ends_with_the_program(
        self, host: Host, detacher: Detacher, what: Callable[..., DetachedLaunch]
    ) -> None:
        leave = f"import os, subprocess, sys; subprocess.Popen([sys.executable, '-c', {SLEEPER!r}]); os._exit(0)"
        own = detacher.launch(what(leave))
        own.release()
        assert end_of(host, own).code == 0
        assert eventually(own.is_gone)
        own.close()
        found = detacher.find(orphan(what(leave)))
        if found.process is not None:
            assert end_of(host, found.process).code == 0
            assert eventually(found.process.is_gone)
            found.process.close()

    def test_an_adopted_program_still_takes_input(
        self, host: Host, detacher: Detacher, what: Callable[..., DetachedLaunch]
    ) -> None:
        given = what("import sys; print(sys.stdin.read(), end='')", open_stdin=True)
        process = adopted(detacher.find(orphan(given)))
        assert detacher.send(given.folder, b"one\n", SECONDS) == 4
        detacher.close_stdin(given.folder)
        assert end_of(host, process).code == 0
        assert output(given) == b"one\n"
        process.close()

    def test_an_input_that_the_program_closed_takes_nothing(
        self, host: Host, detacher: Detacher, what: Callable[..., DetachedLaunch]
    ) -> None:
        given = what(f"import os; os.close(0); print(1, flush=True); {SLEEPER}", open_stdin=True)
        process = detacher.launch(given)
        process.release()
        assert eventually(lambda: output(given) == b"1\n")
        with pytest.raises(InputClosed):
            detacher.send(given.folder, b"x", 0.2)
        process.kill()
        end_of(host, process)
        process.close()

    def test_a_launch_can_be_repeated_in_the_folder_of_one_that_never_ran(
        self, host: Host, detacher: Detacher, what: Callable[..., DetachedLaunch]
    ) -> None:
        for options in ({"open_stdin": True}, {"stdin": b"x"}):
            given = what("print('ran')", **options)
            detacher.launch(given).discard()
            assert run(host, detacher, given).code == 0
            assert output(given) == b"ran\n"

    def test_what_a_stopped_worker_was_about_to_release_never_runs_beside_another(
        self, host: Host, detacher: Detacher, what: Callable[..., DetachedLaunch]
    ) -> None:
        given = what("print('ran')")
        with worker(given, "hold") as (process, record):
            process.send_signal(signal.SIGSTOP)
            assert detacher.find(record) == Found(None, None, started=False)
            assert run(host, detacher, given).code == 0
            process.send_signal(signal.SIGCONT)
        assert output(given) == b"ran\n"

    def test_the_end_of_a_child_that_somebody_else_waited_for_is_read_from_its_notes(
        self, host: Host, detacher: Detacher, what: Callable[..., DetachedLaunch]
    ) -> None:
        process = detacher.launch(what("import sys; sys.exit(4)"))
        process.release()
        os.waitpid(process.record.pid, 0)
        assert end_of(host, process)._replace(noted_at=None) == Exit(4, None, None, None)
        process.close()

    def test_a_program_that_cannot_be_noted_as_started_is_not_started(
        self, host: Host, detacher: Detacher, what: Callable[..., DetachedLaunch]
    ) -> None:
        given = what("print('ran')")
        process = detacher.launch(given)
        status = Path(given.folder) / "status"
        status.unlink()
        status.mkdir()
        process.release()
        assert end_of(host, process).code == 125
        assert output(given) == b""
        assert b"was not started" in output(given, "stderr")
        process.close()

    def test_how_a_program_ended_while_nobody_looked_is_found(
        self, detacher: Detacher, what: Callable[..., DetachedLaunch]
    ) -> None:
        given = what("import sys; sys.exit(4)")
        with worker(given) as (_, record):
            assert eventually(lambda: "exit 4\n" in (Path(given.folder) / "status").read_text())
        found = detacher.find(record)
        assert found.exit is not None
        noted_at = found.exit.noted_at
        assert noted_at is not None and abs(noted_at - time.time()) < SECONDS
        assert found == Found(None, Exit(4, None, None, None, noted_at), started=True)

    def test_nobody_knows_how_a_program_ended_whose_shell_was_killed(
        self, host: Host, detacher: Detacher, what: Callable[..., DetachedLaunch]
    ) -> None:
        given = what(f"print(1, flush=True); {SLEEPER}")
        own = detacher.launch(given)
        own.release()
        assert eventually(lambda: output(given) == b"1\n")
        os.kill(own.record.pid, signal.SIGKILL)
        assert end_of(host, own) == Exit(None, None, None, None)
        own.close()
        given = what(f"print(1, flush=True); {SLEEPER}")
        record = orphan(given)
        assert eventually(lambda: output(given) == b"1\n")
        os.kill(record.pid, signal.SIGKILL)
        assert eventually(lambda: is_over(record.pid))
        assert detacher.find(record) == Found(None, None, started=True)

    def test_a_shell_killed_before_the_release_has_run_nothing(
        self, detacher: Detacher, what: Callable[..., DetachedLaunch]
    ) -> None:
        with worker(what("print('ran')"), "hold") as (_, record):
            os.kill(record.pid, signal.SIGKILL)
            assert detacher.find(record) == Found(None, None, started=False)

    def test_notes_that_are_gone_do_not_mean_that_nothing_ran(
        self, detacher: Detacher, what: Callable[..., DetachedLaunch]
    ) -> None:
        given = what("")
        record = orphan(given)
        assert eventually(lambda: is_over(record.pid))
        (Path(given.folder) / "status").unlink()
        assert detacher.find(record) == Found(None, None, started=True)

    def test_a_status_that_cannot_be_written_is_told_to_the_parent(
        self, host: Host, detacher: Detacher, what: Callable[..., DetachedLaunch]
    ) -> None:
        given = what("import os, sys, pathlib; s = pathlib.Path(sys.argv[1]); s.unlink(); s.mkdir(); sys.exit(6)")
        given = given._replace(words=(*given.words, str(Path(given.folder) / "status")))
        assert run(host, detacher, given)[:2] == (6, None)

    def test_a_note_fits_on_a_full_disk(
        self, detacher: Detacher, what: Callable[..., DetachedLaunch], small_disk: Path
    ) -> None:
        folder = small_disk / "attempt"
        folder.mkdir()
        given = what("import os\nwhile True: os.write(1, b'x' * 10_000)", folder=str(folder))
        with worker(given) as (_, record):
            assert eventually(lambda: "exit" in (folder / "status").read_text())
        assert eventually(lambda: detacher.find(record).process is None)
        found = detacher.find(record)
        assert found.exit is not None and found.exit.code == 1
        assert len(output(given)) > 900_000

    def test_limits_hold_for_the_program_and_not_for_its_shell(
        self, host: Host, detacher: Detacher, what: Callable[..., DetachedLaunch]
    ) -> None:
        limits = "import resource as r; print(r.getrlimit(r.RLIMIT_CPU), r.getrlimit(r.RLIMIT_AS)[0])"
        given = what(limits, cpu_seconds=7, memory_bytes=4 * 1024**3)
        assert run(host, detacher, given).code == 0
        assert output(given) == b"(7, 8) 4294967296\n"

    def test_variables_that_no_shell_can_have_arrive(
        self, host: Host, detacher: Detacher, what: Callable[..., DetachedLaunch], mark: str
    ) -> None:
        wanted = {"A B": "1", "BASH_FUNC_read%%": "() { :; }", "OPTIND": "x", "IFS": "t", "HEARTH_TEST_MARK": mark}
        given = what("import os; print(sorted(os.environ.items()))", environment=wanted)
        assert run(host, detacher, given).code == 0
        found = dict(eval(output(given)))
        found.pop("LC_CTYPE", None)
        assert found == wanted
        assert not (Path(given.folder) / "environment").exists()


HASTY_WORKER = """
import json, os, sys
from hearth.platforms.local import local_host
from hearth.platforms.detached import DetachedLaunch
detacher = local_host().make_detacher()
fields = json.loads(sys.argv[1])
for number in range(1_000):
    folder = os.path.join(sys.argv[2], str(number))
    os.mkdir(folder)
    words = (*fields["words"], str(number))
    process = detacher.launch(DetachedLaunch(**{**fields, "words": words, "folder": folder}))
    print(json.dumps(process.record), flush=True)
    process.release()
    while process.ended is None:
        local_host().wait_any([process.waitable], 10)
    process.close()
"""


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("pause_ms", range(0, 120, 2))
def test_whenever_a_worker_is_killed_what_is_found_agrees_with_what_ran(
    host: Host, detacher: Detacher, what: Callable[..., DetachedLaunch], tmp_path: Path, pause_ms: int
) -> None:
    ledger = tmp_path / "ledger"
    code = "import sys; open(sys.argv[1], 'a').write(sys.argv[2] + '\\n'); sys.exit(7)"
    given = what.program(sys.executable, "-I", "-S", "-c", code, str(ledger))  # type: ignore[attr-defined]
    folders = tmp_path / "folders"
    folders.mkdir()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    words = [sys.executable, "-c", HASTY_WORKER, json.dumps({**given._asdict(), "own": {}}), str(folders)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, env=environment) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline()]
        time.sleep(pause_ms / 1000)
        process.kill()
        lines += process.stdout.read().splitlines()
    record = Record(*json.loads(lines[-1]))
    found = detacher.find(record)
    ended = found.exit
    if found.process is not None:
        ended = end_of(host, found.process)
        found.process.close()
    ran = ledger.read_text().split() if ledger.exists() else []
    last = Path(record.folder).name
    assert (last in ran) == found.started
    assert len(ran) == len(set(ran)) and len(ran) >= len(lines) - 1
    if found.started and (ended is not None or sys.platform != "win32"):
        assert ended is not None and ended.code == 7


@posix
@pytest.mark.parametrize("shell", ["/bin/sh", "/bin/dash", "/bin/bash", "/bin/busybox", "/bin/zsh"])
class TestShells:
    """Whatever shell `sh` is."""

    @pytest.fixture
    def below(self, shell: str, host: Host) -> Iterator[Detacher]:
        if not os.path.exists(shell):
            pytest.skip(f"{shell} is not installed")
        made = host.make_detacher()
        made._shell = shell  # type: ignore[attr-defined]
        yield made
        made.close()

    def test_words_environment_and_code_pass_unread(
        self, host: Host, below: Detacher, what: Callable[..., DetachedLaunch], mark: str
    ) -> None:
        words = ["a b", "", "$HOME", "`id`", "-n", "--", "it's", "back\\", "*", "new\nline", "\xe9"]
        wanted = {"FOLDER": "x", "LINES": "a\nb", "PWD": os.getcwd(), "HEARTH_TEST_MARK": mark}
        code = "import json, os, sys; print(json.dumps([sys.argv[1:], dict(os.environ)])); sys.exit(41)"
        given = what(code, *words, environment=wanted, directory=os.getcwd())
        assert run(host, below, given)[:2] == (41, None)
        found_words, found = json.loads(output(given))
        assert found_words == words
        assert wanted.items() <= found.items()
        assert set(found) - set(wanted) <= {"LC_CTYPE", "_", "SHLVL", "OLDPWD", "PATH", "LOGNAME"}
        assert (Path(given.folder) / "status").read_text() == "held\nstarted\nexit 41\n"

    def test_a_signal_is_told_as_one_and_the_shell_says_nothing(
        self, host: Host, below: Detacher, what: Callable[..., DetachedLaunch]
    ) -> None:
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV):
            given = what.program("/bin/sh", "-c", f"kill -{int(number)} $$")  # type: ignore[attr-defined]
            assert run(host, below, given)[:2] == (None, int(number))
            assert output(given, "stderr") == b""

    def test_a_shell_lives_through_the_signals_of_its_group(
        self, host: Host, below: Detacher, what: Callable[..., DetachedLaunch]
    ) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            given = what.program("/bin/sh", "-c", f"trap 'exit 9' {int(number)}; kill -{int(number)} 0; exit 1")  # type: ignore[attr-defined]
            assert run(host, below, given)[:2] == (9, None)

    def test_a_program_starts_with_usual_signals_and_only_its_three_descriptors(
        self, host: Host, below: Detacher, what: Callable[..., DetachedLaunch]
    ) -> None:
        code = (
            "import os, signal\n"
            "print(sorted(map(int, os.listdir('/dev/fd')))[:-1])\n"
            "print([s for s in (1, 2, 3, 10, 12, 13, 14, 15) if signal.getsignal(s) is signal.SIG_IGN])"
        )
        for kind in ({}, {"stdin": b""}, {"open_stdin": True}):
            given = what(code, **kind)
            assert run(host, below, given).code == 0
            assert output(given) == b"[0, 1, 2]\n[13]\n"  # Python itself ignores SIGPIPE

    def test_an_open_input_takes_text_until_it_is_closed(
        self, host: Host, below: Detacher, what: Callable[..., DetachedLaunch]
    ) -> None:
        given = what("import sys; print(sys.stdin.read(), end='')", open_stdin=True)
        process = below.launch(given)
        process.release()
        assert below.send(given.folder, b"one\n", SECONDS) == 4
        below.close_stdin(given.folder)
        assert end_of(host, process).code == 0
        assert output(given) == b"one\n"
        assert eventually(process.is_gone)
        process.close()

    def test_limits_hold(self, host: Host, below: Detacher, what: Callable[..., DetachedLaunch]) -> None:
        limits = "import resource as r; print(r.getrlimit(r.RLIMIT_CPU), r.getrlimit(r.RLIMIT_AS)[0])"
        given = what(limits, cpu_seconds=7, memory_bytes=4 * 1024**3)
        assert run(host, below, given).code == 0
        assert output(given) == b"(7, 8) 4294967296\n"

    def test_what_is_let_go_of_before_its_release_never_runs(
        self, below: Detacher, what: Callable[..., DetachedLaunch]
    ) -> None:
        given = what("print('ran')")
        process = below.launch(given)
        record = process.record
        process.close()
        assert eventually(lambda: "never" in (Path(given.folder) / "status").read_text())
        assert below.find(record) == Found(None, None, started=False)
        assert output(given) == b""


@pytest.mark.skipif(sys.platform != "win32", reason="handles and jobs of Windows")
class TestWindows:
    def test_how_a_program_ended_is_known_as_long_as_somebody_has_a_handle_of_it(
        self, host: Host, detacher: Detacher, what: Callable[..., DetachedLaunch]
    ) -> None:
        process = detacher.launch(what("import sys; sys.exit(4)"))
        process.release()
        assert host.wait_any([process.waitable], SECONDS)
        found = detacher.find(process.record)
        assert (found.process, found.exit, found.started) == (None, Exit(4, None, None, None), True)
        process.close()

    def test_what_ended_while_nobody_looked_has_run_and_may_have_ended_in_any_way(
        self, detacher: Detacher, what: Callable[..., DetachedLaunch]
    ) -> None:
        given = what("print(1)")
        record = orphan(given)
        assert eventually(lambda: is_over(record.pid))
        assert output(given) == b"1\n"
        found = detacher.find(record)
        assert (found.process, found.started) == (None, True)
        assert found.exit in (None, Exit(0, None, None, None))  # the system itself may have a handle for a while

    def test_another_process_sends_while_the_worker_lives(
        self, host: Host, detacher: Detacher, what: Callable[..., DetachedLaunch]
    ) -> None:
        given = what("import sys; print(sys.stdin.read(), end='')", open_stdin=True)
        with worker(given) as (_, record):
            process = adopted(detacher.find(record))
            assert detacher.send(given.folder, b"one\n", SECONDS) == 4
            detacher.close_stdin(given.folder)
            assert end_of(host, process).code == 0
            process.close()
        assert output(given) == b"one\n"

    def test_an_input_stays_open_for_who_took_over_while_the_worker_lived(
        self, host: Host, detacher: Detacher, what: Callable[..., DetachedLaunch]
    ) -> None:
        given = what("import sys; print(sys.stdin.read(), end='')", open_stdin=True)
        with worker(given) as (starter, record):
            process = adopted(detacher.find(record))
            starter.kill()
            starter.wait()
            assert detacher.send(given.folder, b"one\n", SECONDS) == 4
            detacher.close_stdin(given.folder)
            assert end_of(host, process).code == 0
            process.close()
        assert output(given) == b"one\n"

    def test_an_input_ends_with_the_worker(
        self, host: Host, detacher: Detacher, what: Callable[..., DetachedLaunch]
    ) -> None:
        given = what("import sys; print(sys.stdin.read(), 'end')", open_stdin=True)
        process = adopted(detacher.find(orphan(given)))
        with pytest.raises(InputClosed):
            detacher.send(given.folder, b"one\n", SECONDS)
        assert end_of(host, process).code == 0
        assert output(given) == b" end\n"
        process.close()

    def test_a_program_that_cannot_be_noted_as_started_is_not_started(
        self, host: Host, detacher: Detacher, what: Callable[..., DetachedLaunch]
    ) -> None:
        given = what("print('ran')")
        process = detacher.launch(given)
        os.close(process._notes)  # type: ignore[attr-defined]
        process._notes = os.open(Path(given.folder) / "status", os.O_RDONLY)  # type: ignore[attr-defined]
        process.release()
        assert end_of(host, process).code == 125
        assert output(given) == b""
        process.close()

    def test_a_batch_file_gets_its_words_as_text(
        self, host: Host, detacher: Detacher, what: Callable[..., DetachedLaunch], tmp_path: Path
    ) -> None:
        script = tmp_path / "show.bat"
        script.write_text("@echo %1\r\n@exit /b 3\r\n", encoding="ascii")
        given = what.program(str(script), "a&b")  # type: ignore[attr-defined]
        assert run(host, detacher, given).code == 3
        assert output(given) == b'"a&b"\n'


@posix
def test_a_program_that_is_asked_to_end_as_it_starts_ends(
    host: Host, detacher: Detacher, what: Callable[..., DetachedLaunch]
) -> None:
    # Whether the shell above it, what is to become the program, or the program hears it.
    for quarter_ms in range(24):
        process = detacher.launch(what.program("/bin/sleep", "300"))  # type: ignore[attr-defined]
        process.release()
        time.sleep(quarter_ms / 4_000)
        process.ask_to_end()
        assert end_of(host, process, 2)
        process.close()
