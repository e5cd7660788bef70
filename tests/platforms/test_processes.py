"""What every launcher promises, with real programs."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from hearth import identifiers
from hearth.execution import Ending, Run
from hearth.platforms.local import local_host
from hearth.platforms.processes import Launch, Launcher, Stream

pytestmark = pytest.mark.timeout(30)  # each starts programs, which takes a busy machine seconds
SLEEPER = "import time; time.sleep(300)"


@pytest.fixture
def mark() -> Iterator[str]:
    """A text that only what the test started has in its environment; nothing of that may be left."""
    made = identifiers.new("tst", 0)
    yield made
    pause = threading.Event()
    for _ in range(100):  # what was killed is not gone at once
        if not _marked(made):
            break
        pause.wait(0.01)
    assert _marked(made) == []


def _marked(mark: str) -> list[psutil.Process]:
    return [process for process in psutil.process_iter() if _is_marked(process, mark)]


def _is_marked(process: psutil.Process, mark: str) -> bool:
    try:
        return process.status() != psutil.STATUS_ZOMBIE and process.environ().get("HEARTH_TEST_MARK") == mark
    except (psutil.Error, OSError):
        return False


def _is_over(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def python(code: str, mark: str = "") -> Launch:
    environment = {**os.environ, "HEARTH_TEST_MARK": mark}
    return Launch(sys.executable, (sys.executable, "-c", code), os.getcwd(), environment, mark=mark)


def run(
    launcher: Launcher, what: Launch, timeout_ms: int | None = 20_000, grace_ms: int = 200
) -> tuple[Ending, dict[Stream, bytes]]:
    heard = {Stream.STDOUT: b"", Stream.STDERR: b""}

    def deliver(stream: Stream, data: bytes) -> None:
        heard[stream] += data

    return Run(launcher, what).to_end(deliver, timeout_ms=timeout_ms, grace_ms=grace_ms), heard


def test_both_outputs_and_the_exit_code_come_back(launcher: Launcher, mark: str) -> None:
    code = "import sys; sys.stdout.write('out'); sys.stderr.write('err'); sys.exit(3)"
    ending, heard = run(launcher, python(code, mark))
    assert (ending.exit.code, ending.timed_out, ending.pipes_held) == (3, False, False)
    assert heard == {Stream.STDOUT: b"out", Stream.STDERR: b"err"}


def test_a_program_without_input_reads_its_end_at_once(launcher: Launcher, mark: str) -> None:
    ending, heard = run(launcher, python("import sys; print(len(sys.stdin.read()))", mark))
    assert (ending.exit.code, heard[Stream.STDOUT].strip()) == (0, b"0")


def test_the_outputs_of_what_a_program_runs_are_heard(launcher: Launcher, mark: str) -> None:
    inner = "import sys; print('inner', flush=True); print('error', file=sys.stderr); sys.exit(4)"
    outer = f"import subprocess, sys; sys.exit(subprocess.run([sys.executable, '-c', {inner!r}]).returncode)"
    ending, heard = run(launcher, python(outer, mark))
    assert ending.exit.code == 4
    assert (heard[Stream.STDOUT].strip(), heard[Stream.STDERR].strip()) == (b"inner", b"error")


def test_what_a_program_leaves_behind_with_its_outputs_is_ended(launcher: Launcher, mark: str) -> None:
    leave = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {SLEEPER!r}]); print('hi')"
    ending, heard = run(launcher, python(leave, mark))
    assert (ending.exit.code, heard[Stream.STDOUT].strip()) == (0, b"hi")
    assert ending.duration_ms < 10_000


def test_a_time_out_ends_the_whole_tree(launcher: Launcher, mark: str) -> None:
    tree = (
        f"import subprocess, sys; [subprocess.Popen([sys.executable, '-c', {SLEEPER!r}]) for _ in range(3)]; {SLEEPER}"
    )
    ending, _ = run(launcher, python(tree, mark), timeout_ms=500)
    assert ending.timed_out


def test_cancelling_from_another_thread_ends_the_tree(launcher: Launcher, mark: str) -> None:
    begun = Run(launcher, python(SLEEPER, mark))
    threading.Timer(0.05, begun.cancel).start()
    ending = begun.to_end(lambda *_: None, timeout_ms=None, grace_ms=100)
    assert (ending.cancelled, ending.timed_out) == (True, False)


def test_programs_end_with_hearth_when_it_is_killed(mark: str) -> None:
    code = (
        "import os, sys\n"
        "from hearth.platforms.local import local_host\n"
        "from hearth.platforms.processes import Launch\n"
        "sleeper = 'import time; print(1, flush=True); time.sleep(300)'\n"
        "launch = Launch(sys.executable, (sys.executable, '-c', sleeper), os.getcwd(), dict(os.environ))\n"
        "process = local_host().make_launcher().launch(launch)\n"
        "process.pump(lambda *_: (print('up', flush=True), process.wake()), None)\n"
        "sys.stdin.read()\n"
    )
    root = str(Path(__file__).parents[2])
    environment = {**os.environ, "HEARTH_TEST_MARK": mark, "PYTHONPATH": root}
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    ) as hearth:
        assert hearth.stdout is not None
        assert hearth.stdout.readline().strip() == b"up"
        children = [p for p in psutil.Process(hearth.pid).children(recursive=True) if p.name() != "sh"]
        assert children
        hearth.kill()
    _, alive = psutil.wait_procs(children, timeout=3)
    assert alive == []


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals and sessions")
class TestPosix:
    def test_a_signal_is_told_as_one(self, launcher: Launcher, mark: str) -> None:
        ending, _ = run(launcher, python("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", mark))
        assert (ending.exit.code, ending.exit.signal) == (None, 9)

    def test_what_ignores_the_request_to_end_is_killed_after_the_grace(self, launcher: Launcher, mark: str) -> None:
        deaf = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {SLEEPER}"
        ending, _ = run(launcher, python(deaf, mark), timeout_ms=500, grace_ms=100)
        assert (ending.timed_out, ending.exit.signal) == (True, 9)

    def test_a_program_has_time_to_clean_up(self, launcher: Launcher, mark: str, tmp_path: Path) -> None:
        note = tmp_path / "cleaned"
        tidy = (
            "import signal, sys, time, pathlib\n"
            f"def tidy(*_):\n    time.sleep(0.2); pathlib.Path({str(note)!r}).touch(); sys.exit(0)\n"
            "signal.signal(signal.SIGTERM, tidy); print('ready', flush=True); time.sleep(300)"
        )
        ending, _ = run(launcher, python(tidy, mark), timeout_ms=700, grace_ms=5_000)
        assert (ending.timed_out, ending.exit.code, note.exists()) == (True, 0, True)

    def test_a_part_of_a_program_has_time_to_clean_up_after_its_wrapper_is_gone(
        self, launcher: Launcher, mark: str, tmp_path: Path
    ) -> None:
        note = tmp_path / "cleaned"
        inner = (
            "import signal, sys, time, pathlib\n"
            f"def tidy(*_):\n    time.sleep(0.2); pathlib.Path({str(note)!r}).touch(); sys.exit(0)\n"
            "signal.signal(signal.SIGTERM, tidy); print('ready', flush=True); time.sleep(300)"
        )
        wrapper = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {inner!r}])"
        ending, _ = run(launcher, python(wrapper, mark), timeout_ms=700, grace_ms=5_000)
        assert (ending.timed_out, note.exists()) == (True, True)

    def test_a_time_out_also_ends_what_went_away_and_holds_nothing(self, launcher: Launcher, mark: str) -> None:
        away = (
            "import subprocess, sys, time\n"
            f"subprocess.Popen([sys.executable, '-c', {SLEEPER!r}], start_new_session=True, stdin=subprocess.DEVNULL,"
            " stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)\n"
            "time.sleep(300)"
        )
        ending, _ = run(launcher, python(away, mark), timeout_ms=700, grace_ms=5_000)
        assert (ending.timed_out, ending.exit.signal) == (True, 15)

    def test_a_stray_in_a_session_of_its_own_that_holds_the_outputs_is_found(
        self, launcher: Launcher, mark: str
    ) -> None:
        stray = (
            "import subprocess, sys\n"
            f"subprocess.Popen([sys.executable, '-c', {SLEEPER!r}], start_new_session=True); print('hi')"
        )
        ending, heard = run(launcher, python(stray, mark))
        assert (ending.exit.code, ending.pipes_held, heard[Stream.STDOUT]) == (0, True, b"hi\n")

    @pytest.mark.skipif(sys.platform != "linux", reason="where the system tells who holds a pipe")
    def test_a_stray_that_shed_the_environment_too_is_found_by_the_outputs_that_it_holds(
        self, launcher: Launcher, mark: str
    ) -> None:
        shed = (
            "import os, subprocess, sys\nbelow = subprocess.Popen(['sleep', '300'], env={}, start_new_session=True)\n"
        )
        for rest, timeout_ms in (("print(below.pid)", 20_000), ("print(below.pid, flush=True); below.wait()", 500)):
            ending, heard = run(launcher, python(shed + rest, mark), timeout_ms=timeout_ms)
            assert ending.timed_out == (timeout_ms == 500)
            assert ending.duration_ms < 2_000
            assert _is_over(int(heard[Stream.STDOUT]))

    @pytest.mark.skipif(sys.platform != "linux", reason="where the system tells who holds a pipe")
    def test_an_older_process_that_was_lent_the_outputs_lives_on(self, launcher: Launcher, mark: str) -> None:
        ours, theirs = socket.socketpair()
        keep = (
            "import socket, time; s = socket.socket(fileno=0); s.send(b'r');"
            " kept = socket.recv_fds(s, 1, 4); time.sleep(300)"
        )
        lend = "import os, socket; socket.send_fds(socket.socket(fileno=0), [b'x'], [1]); print('lent')"
        with ours, theirs, subprocess.Popen([sys.executable, "-c", keep], stdin=ours.fileno()) as older:
            assert theirs.recv(1) == b"r"
            ending, heard = run(launcher, python(lend, mark)._replace(stdin=theirs.fileno()))
            lives = older.poll() is None
            older.kill()
        assert (ending.exit.code, heard[Stream.STDOUT], lives) == (0, b"lent\n", True)

    def test_a_tree_is_ended_where_the_system_does_not_list_processes(self, mark: str) -> None:
        from hearth.platforms.posix_processes import PosixLauncher

        def refused(*_: object) -> list[int]:
            raise PermissionError("no list of processes in this sandbox")

        usual = local_host().make_launcher()
        assert isinstance(usual, PosixLauncher)
        launcher = PosixLauncher(usual.exit_descriptor, refused)
        tree = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {SLEEPER!r}]); {SLEEPER}"
        ending, _ = run(launcher, python(tree, mark), timeout_ms=300, grace_ms=0)
        launcher.close()
        assert ending.timed_out

    def test_an_end_is_told_the_same_where_a_program_can_only_be_reaped(
        self, launcher: Launcher, mark: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delattr(os, "waitid")
        assert run(launcher, python("raise SystemExit(3)", mark))[0].exit.code == 3
        killed, _ = run(launcher, python("import os; os.kill(os.getpid(), 9)", mark))
        assert (killed.exit.code, killed.exit.signal) == (None, 9)

    def test_a_peak_of_memory_is_told_only_where_it_is_the_programs_own(self, launcher: Launcher, mark: str) -> None:
        from hearth.platforms.posix_processes import own_peak_bytes

        more = own_peak_bytes() + 100_000_000  # whatever the tests before this one needed
        small, _ = run(launcher, python("pass", mark))
        large, _ = run(launcher, python(f"x = b'x' * {more}", mark))
        assert small.exit.peak_memory_bytes is None or small.exit.peak_memory_bytes < more
        assert large.exit.peak_memory_bytes is not None and large.exit.peak_memory_bytes > more

    def test_another_watchdog_takes_the_place_of_one_that_was_killed(self, mark: str) -> None:
        launcher, before = local_host().make_launcher(), set(psutil.Process().children())
        first = run(launcher, python("pass", mark))[0]
        (watchdog,) = set(psutil.Process().children()) - before
        watchdog.kill()
        watchdog.wait(timeout=3)
        assert (first.exit.code, run(launcher, python("pass", mark))[0].exit.code) == (0, 0)
        launcher.close()
