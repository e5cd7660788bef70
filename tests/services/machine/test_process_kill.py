"""Ending processes."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psutil
import pytest

from hearth.clock import timestamp
from hearth.platforms.local import local_host
from hearth.platforms.process_table import Listed
from tests.marks import posix_only
from tests.services.machine.started import DEAF, DEAF_PARENT, PARENT, SLEEPER, Start, starting

Hearth = Callable[..., Any]
signals = posix_only("signals are POSIX's")


@pytest.fixture
def start() -> Iterator[Start]:
    with starting() as made:
        yield made


def kill(hearth: Hearth, *words: str | int) -> Any:
    return hearth("machine", "process-kill", *map(str, words), "--json")


def outcomes(done: Any) -> dict[int, str]:
    return {each["pid"]: each["outcome"] for each in done.json["processes"]}


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@signals
def test_a_process_is_asked_and_ends(hearth: Hearth, start: Start) -> None:
    process = start()
    done = kill(hearth, process.pid)
    assert (done.status, outcomes(done)) == (0, {process.pid: "ended"})
    assert process.wait() == -15


@signals
def test_one_that_does_not_listen_is_killed_after_the_grace(hearth: Hearth, start: Start) -> None:
    process = start(DEAF)
    done = kill(hearth, process.pid, "--grace", "50ms")
    assert (done.status, outcomes(done)) == (0, {process.pid: "killed"})
    assert process.wait() == -9


def test_a_process_is_gone_when_the_answer_says_so(hearth: Hearth, start: Start) -> None:
    process = start()
    done = kill(hearth, process.pid, "--grace", "2s")
    assert outcomes(done)[process.pid] in ("ended", "killed")
    assert not alive(process.pid)


@signals
def test_a_program_has_its_grace_to_clean_up(hearth: Hearth, start: Start, tmp_path: Path) -> None:
    note = tmp_path / "note"
    tidy = (
        f"import signal, sys, pathlib; signal.signal(15, lambda *_: (pathlib.Path({str(note)!r}).touch(), sys.exit(0)))"
    )
    process = start(f"{tidy}; {SLEEPER}")
    assert outcomes(kill(hearth, process.pid)) == {process.pid: "ended"}
    assert (process.wait(), note.exists()) == (0, True)


@signals
def test_a_signal_that_was_asked_for_is_the_only_thing_sent(hearth: Hearth, start: Start) -> None:
    process = start("import signal; signal.signal(signal.SIGHUP, signal.SIG_IGN); " + SLEEPER)
    done = kill(hearth, process.pid, "--signal", "hup")
    assert (done.status, outcomes(done)) == (0, {process.pid: "signalled"})
    assert alive(process.pid)
    assert outcomes(kill(hearth, process.pid, "--signal", "kill")) == {process.pid: "killed"}


@posix_only("Windows does not stop processes by signals")
def test_a_stopped_process_runs_on_when_it_is_told(hearth: Hearth, start: Start) -> None:
    pid = start().pid
    assert outcomes(kill(hearth, pid, "--signal", "stop")) == {pid: "signalled"}
    assert psutil.Process(pid).status() == psutil.STATUS_STOPPED
    assert outcomes(kill(hearth, pid, "--signal", "cont")) == {pid: "signalled"}
    assert psutil.Process(pid).status() != psutil.STATUS_STOPPED


@pytest.mark.skipif(os.name != "nt", reason="POSIX has them all")
def test_a_signal_that_windows_lacks_is_an_error_and_harms_nobody(hearth: Hearth, start: Start) -> None:
    pid = start().pid
    done = kill(hearth, pid, "--signal", "hup")
    assert (done.status, done.json["state"], outcomes(done)) == (1, "partial", {pid: "unsupported"})
    assert alive(pid)


def test_without_tree_the_children_live_on(hearth: Hearth, start: Start) -> None:
    parent = start(PARENT)
    children = [child.pid for child in psutil.Process(parent.pid).children(recursive=True)]
    try:
        assert list(outcomes(kill(hearth, parent.pid, "--signal", "kill"))) == [parent.pid]
        assert all(map(alive, children))
    finally:
        for pid in children:
            psutil.Process(pid).kill()


@pytest.mark.parametrize("code", [PARENT, pytest.param(DEAF_PARENT, marks=signals)], ids=["tame", "deaf"])
def test_a_tree_is_ended_whole(hearth: Hearth, start: Start, code: str) -> None:
    parent = start(code)
    tree = [parent.pid, *(child.pid for child in psutil.Process(parent.pid).children(recursive=True))]
    done = kill(hearth, parent.pid, "--tree", "--grace", "100ms")
    assert done.status == 0, done.out
    assert list(outcomes(done)) == tree
    assert not any(map(alive, tree))


@signals
def test_what_a_tree_starts_while_it_is_ended_is_ended_too(hearth: Hearth, start: Start) -> None:
    fork = f"lambda *_: subprocess.Popen([sys.executable, '-c', {SLEEPER!r}])"
    parent = start(f"import signal, subprocess, sys; signal.signal(15, {fork}); {SLEEPER}; time.sleep(300)")
    done = kill(hearth, parent.pid, "--tree", "--grace", "400ms")
    assert done.status == 0
    assert len(outcomes(done)) == 2, "the one that was started on being asked"
    assert not any(map(alive, outcomes(done)))


def test_a_dry_run_says_what_would_end_and_ends_nothing(hearth: Hearth, start: Start) -> None:
    parent = start(PARENT)
    done = kill(hearth, parent.pid, "--tree", "--dry-run")
    assert (done.status, done.json["dry_run"]) == (0, True)
    assert set(outcomes(done).values()) == {"would_end"}
    assert len(outcomes(done)) >= 2
    assert all(map(alive, outcomes(done)))


def test_a_number_that_was_used_again_is_a_conflict(hearth: Hearth, start: Start) -> None:
    pid = start().pid
    earlier = timestamp(round(psutil.Process(pid).create_time() * 1000) - 60_000)
    done = kill(hearth, pid, "--started-at", earlier)
    assert (done.status, done.json["error"]["code"]) == (3, "conflict")
    assert alive(pid)


def test_the_start_that_the_list_told_is_the_right_one(hearth: Hearth, start: Start) -> None:
    pid = start().pid
    (found,) = hearth("machine", "process-list", "--pid", str(pid), "--json").json["processes"]
    assert kill(hearth, pid, "--started-at", found["started_at"], "--signal", "kill").status == 0
    assert not alive(pid)


def test_a_start_without_a_zone_is_refused(hearth: Hearth, start: Start) -> None:
    done = kill(hearth, start().pid, "--started-at", "2026-01-01T00:00:00")
    assert (done.status, done.json["error"]["details"]["problems"][0]["field"]) == (2, "started_at")


def test_nobody_there_is_not_found(hearth: Hearth, start: Start) -> None:
    ended = start()
    ended.kill()
    ended.wait()
    assert kill(hearth, ended.pid).status == 4
    assert kill(hearth, "--name", "no-such-program-anywhere").status == 4


def test_a_number_or_a_name_and_not_both(hearth: Hearth) -> None:
    assert kill(hearth).status == 2
    assert kill(hearth, 4711, "--name", "x").status == 2


@pytest.fixture
def copies(start: Start, tmp_path: Path) -> list[int]:
    """Two processes of a program whose name no other has."""
    if sys.platform != "linux":
        pytest.skip("only Linux lets a process choose its name")
    name = f"h-{tmp_path.parent.name[-5:]}-{os.getpid() % 10_000}"[:15]
    code = f"import ctypes; ctypes.CDLL(None).prctl(15, {name!r}.encode()); {SLEEPER}"
    return [start(code).pid, start(code).pid]


def test_a_name_that_several_have_needs_all(hearth: Hearth, copies: list[int]) -> None:
    name = psutil.Process(copies[0]).name()
    done = kill(hearth, "--name", name)
    assert (done.status, done.json["error"]["details"]["pids"]) == (3, copies)
    assert all(map(alive, copies))
    assert set(outcomes(kill(hearth, "--name", name, "--all"))) == set(copies)
    assert not any(map(alive, copies))


def test_a_part_of_a_name_is_no_name(hearth: Hearth, copies: list[int]) -> None:
    assert kill(hearth, "--name", psutil.Process(copies[0]).name()[:-1], "--all").status == 4
    assert all(map(alive, copies))


@pytest.mark.parametrize("words", [(), ("--tree",), ("--dry-run",), ("--signal", "kill")], ids=" ".join)
def test_hearth_does_not_end_itself(hearth: Hearth, words: tuple[str, ...]) -> None:
    done = kill(hearth, os.getpid(), *words)
    assert (done.status, done.json["state"]) == (1, "blocked")
    assert done.json["error"]["code"] == "protected_process"


def test_hearth_does_not_end_what_it_runs_below(work: Path) -> None:
    words = [sys.executable, "-m", "hearth", "machine", "process-kill", str(os.getpid()), "--tree", "--json"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    done = subprocess.run(words, cwd=work, env=environment, capture_output=True, check=False)
    assert done.returncode == 1
    assert json.loads(done.stdout)["error"]["code"] == "protected_process"


@posix_only("number 1 is nobody's on Windows")
def test_the_first_process_is_never_ended(hearth: Hearth) -> None:
    assert kill(hearth, 1, "--tree").json["error"]["code"] == "protected_process"
    assert kill(hearth, 0).status == 2


def test_a_process_of_the_system_is_never_ended(hearth: Hearth, monkeypatch: pytest.MonkeyPatch, start: Start) -> None:
    from hearth.platforms import psutil_table

    process = start()

    def is_system(_: psutil_table.PsutilTable, found: Listed) -> bool:
        return found.pid == process.pid

    monkeypatch.setattr(psutil_table.PsutilTable, "is_system", is_system)
    assert kill(hearth, process.pid).json["error"]["code"] == "protected_process"
    assert alive(process.pid)


@pytest.mark.skipif(sys.platform != "linux", reason="threads of the kernel are Linux's")
def test_a_thread_of_the_kernel_is_of_the_system(hearth: Hearth) -> None:
    found = next((each.pid for each in psutil.process_iter() if each.ppid() == 2), None)
    if found is None:
        pytest.skip("a container does not show them")
    assert kill(hearth, found).json["error"]["code"] == "protected_process"


@pytest.mark.parametrize("name", ["System", "csrss.exe", "wininit.exe", "lsass.exe", "services.exe"])
def test_what_windows_depends_on_is_of_the_system(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from hearth.platforms.psutil_table import PsutilTable

    def hold(_: int) -> Any:
        raise AssertionError

    monkeypatch.setattr("hearth.platforms.psutil_table.sys.platform", "win32")
    table = PsutilTable(hold)
    assert table.is_system(Listed(600, 500, name, None, None, None, None, None, None))
    assert not table.is_system(Listed(600, 500, "notepad.exe", None, None, None, None, None, None))


@posix_only("groups are POSIX's")
def test_where_nobody_may_list_processes_the_group_of_a_tree_is_ended(
    hearth: Hearth, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    leader = start(DEAF_PARENT, start_new_session=True)
    child = psutil.Process(leader.pid).children()[0].pid
    _deny_listing(monkeypatch)
    done = kill(hearth, leader.pid, "--tree", "--grace", "100ms")
    assert (done.status, outcomes(done)) == (0, {leader.pid: "killed"})
    assert ends(child)


@posix_only("groups are POSIX's")
def test_where_nobody_may_list_processes_a_tree_without_a_group_is_an_error(
    hearth: Hearth, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    pid = start().pid
    _deny_listing(monkeypatch)
    done = kill(hearth, pid, "--tree")
    assert (done.status, done.json["error"]["code"]) == (1, "permission_denied")
    assert alive(pid)
    assert outcomes(kill(hearth, pid)) == {pid: "ended"}, "one process needs no list"


def _deny_listing(monkeypatch: pytest.MonkeyPatch) -> None:
    listdir = os.listdir

    def denied(path: Any = ".") -> list[Any]:
        if path in ("/proc", b"/proc"):
            raise PermissionError(13, "Permission denied", "/proc")
        return listdir(path)

    monkeypatch.setattr(os, "listdir", denied)
    with pytest.raises(PermissionError):
        psutil.pids()


def ends(pid: int) -> bool:
    try:
        with closing(local_host().process_table().hold(pid)) as held:
            return held.wait(3)
    except ProcessLookupError:
        return True


@posix_only("another user is made by setuid")
def test_what_the_system_refuses_is_told(hearth: Hearth, start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    from hearth.platforms import posix_held

    process = start()

    def denied(_: posix_held.PosixHeld, __: Any) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(posix_held.PosixHeld, "send", denied)
    done = kill(hearth, process.pid)
    assert (done.status, done.json["state"], outcomes(done)) == (1, "partial", {process.pid: "denied"})
    assert done.json["errors"] == [{"pid": process.pid, "code": "denied", "message": "Operation not permitted"}]


@signals
def test_a_process_that_was_replaced_since_it_was_looked_at_is_left_alone(
    hearth: Hearth, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hearth.platforms.psutil_table import PsutilTable

    pid = start().pid
    real = PsutilTable.processes

    def older(table: PsutilTable, *given: Any, **options: Any) -> Iterator[Listed]:
        for each in real(table, *given, **options):
            assert each.started_ms is not None
            yield each._replace(started_ms=each.started_ms - 60_000)

    monkeypatch.setattr(PsutilTable, "processes", older)
    assert outcomes(kill(hearth, pid)) == {pid: "gone"}
    assert alive(pid)


@pytest.mark.skipif(sys.platform != "linux", reason="pidfd_open is Linux's")
@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EPERM])
def test_where_the_system_gives_no_descriptors_of_processes_they_end_all_the_same(
    hearth: Hearth, start: Start, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def unknown(_: int) -> int:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "pidfd_open", unknown)
    tame, deaf = start(), start(DEAF)
    assert outcomes(kill(hearth, tame.pid)) == {tame.pid: "ended"}
    assert outcomes(kill(hearth, deaf.pid, "--grace", "50ms")) == {deaf.pid: "killed"}
    assert hearth("machine", "process-wait", str(deaf.pid), "--json").json["at_once"] is True
    assert kill(hearth, 2**31 - 1).status == 4


@pytest.mark.skipif(sys.platform != "linux", reason="pidfd_open is Linux's")
def test_a_process_that_cannot_be_held_is_not_called_gone(
    hearth: Hearth, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> int:
        raise OSError(errno.EMFILE, "Too many open files")

    monkeypatch.setattr(os, "pidfd_open", full)
    pid = start().pid
    done = kill(hearth, pid)
    assert (done.status, outcomes(done)) == (1, {pid: "denied"})
    assert done.json["errors"][0]["message"] == "Too many open files"
    assert hearth("machine", "process-wait", str(pid), "--json").status == 1


@pytest.mark.slow
@pytest.mark.timeout(60)
@signals
def test_fifty_processes_that_ignore_the_request_are_gone_half_a_second_after_the_grace(
    hearth: Hearth, start: Start
) -> None:
    many = f"[subprocess.Popen([sys.executable, '-c', {DEAF!r}], stdout=subprocess.PIPE) for _ in range(50)]"
    parent = start(
        "import signal, subprocess, sys, time; signal.signal(15, signal.SIG_IGN); "
        f"all_of = {many}; [each.stdout.readline() for each in all_of]; print('up', flush=True); time.sleep(300)"
    )
    done = hearth("call", "machine.process_kill", f'{{"pid": {parent.pid}, "tree": true, "grace_ms": 200}}')
    assert len(outcomes(done)) == 51
    assert set(outcomes(done).values()) == {"killed"}
    assert not any(map(alive, outcomes(done)))


def test_nothing_is_left_of_the_processes_of_these_tests() -> None:
    with starting() as start:
        process: subprocess.Popen[bytes] = start(PARENT)
        tree = [process.pid, *(child.pid for child in psutil.Process(process.pid).children(recursive=True))]
    assert all(map(ends, tree))
