"""Many processes on one data directory, and programs that ask too much of the machine."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from typing import Any

import psutil
import pytest

from hearth.engine import leases
from hearth.engine.waiting import wait_until
from hearth.runtime import Runtime, StoreOpener
from hearth.store import workers
from hearth.store.jobs import JobState
from tests.acceptance.ledger import check_nothing_is_left, noting
from tests.engine.door import door
from tests.engine.test_worker import Told, want_end
from tests.engine.workers import job, submit, until, working
from tests.marks import posix_only
from tests.memory import run

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]
ROOT = Path(__file__).parents[2]
HELD_S = 5.0
TERM, KILL = 15, 9


class Processes:
    """Processes of hearth on the data directory of a runtime."""

    def __init__(self, runtime: Runtime) -> None:
        self._place = ["--data-dir", runtime.data_dir, "--root", runtime.base]
        self._started: list[subprocess.Popen[bytes]] = []

    def start(self, *words: str) -> subprocess.Popen[bytes]:
        # Global options stand before the words of a job.
        command = [sys.executable, "-m", "hearth", *self._place, *words]
        made = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        self._started.append(made)
        return made

    def end(self) -> None:
        for each in self._started:
            each.terminate()
            each.communicate(timeout=60)


@pytest.fixture
def processes(runtime: Runtime) -> Iterator[Processes]:
    made = Processes(runtime)
    yield made
    made.end()


def ended(process: subprocess.Popen[bytes], status: int = 0) -> Any:
    out, err = process.communicate(timeout=120)
    assert process.returncode == status, (process.args, err.decode("utf-8", "replace"))
    return json.loads(out)


@contextlib.contextmanager
def held(runtime: Runtime, seconds: float) -> Iterator[None]:
    """Somebody else writes for so long."""
    other = sqlite3.connect(runtime.store.path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    over = Event()

    def let_go() -> None:
        over.wait(seconds)
        other.close()

    thread = Thread(target=let_go)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def test_32_processes_two_servers_and_two_workers_share_one_data_directory_while_it_is_held_for_seconds(
    runtime: Runtime, work: Path, processes: Processes
) -> None:
    ledger = work / "ledger"
    with runtime.store.read():
        """The database is made."""
    note = noting(ledger)
    sleep = (sys.executable, "-S", "-E", "-c", "import time; time.sleep(300)")
    for words in (("worker",), ("serve", "--port", "0"), ("serve", "--port", "0")):
        processes.start(*words)
    with working(runtime), held(runtime, HELD_S):
        waiting = [processes.start("task", "submit", "--json", "--wait", "--", *note) for _ in range(16)]
        lists = [processes.start("task", "list", "--json") for _ in range(8)]
        sleeping = [processes.start("task", "submit", "--json", "--", *sleep) for _ in range(8)]
        sleepers = [ended(each)["jobs"][0]["id"] for each in sleeping]
        cancels = [processes.start("task", "cancel", "--json", id_) for id_ in sleepers]
        done = [ended(each)["jobs"][0] for each in waiting]
        assert [each["state"] for each in done] == ["completed"] * 16
        assert all("jobs" in ended(each) for each in lists)
        for each in cancels:
            each.communicate(timeout=120)
        assert {until(runtime, id_).state for id_ in sleepers} == {JobState.CANCELLED}
    lines = ledger.read_text(encoding="ascii").splitlines()
    assert sorted(lines) == sorted(each["id"] for each in done)
    processes.end()
    check_nothing_is_left(runtime, ledger)


@pytest.fixture
def quick_to_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers in the background that are started leave as soon as nothing is left."""
    monkeypatch.setenv("HEARTH_WORKER_IDLE_EXIT_S", "0")


@posix_only("an end that nobody sees is told to nobody there, and adoption is not seen from outside")
@pytest.mark.parametrize("how", [TERM, KILL])
@pytest.mark.usefixtures("quick_to_leave")
def test_what_a_worker_leaves_is_brought_to_its_end_by_one_in_the_background_which_then_leaves(
    runtime: Runtime, processes: Processes, how: int
) -> None:
    with door() as entrance:
        first = processes.start("worker")
        words = [sys.executable, "-S", "-c", f"{entrance.knock}raise SystemExit(7)"]
        id_ = ended(processes.start("task", "submit", "--json", "--no-start", "--", *words))["jobs"][0]["id"]
        visitor = entrance.open()
        first.send_signal(how)
        first.communicate(timeout=60)
        waits = processes.start("task", "wait", "--json", "--exit-code", id_)
        pid = job(runtime, id_).pid
        second = background_worker(runtime, first.pid)
        visitor.let_in()
        ended(waits, status=7)
    found = job(runtime, id_)
    assert (found.state, found.exit_code, found.attempt, found.pid) == (JobState.FAILED, 7, 1, None)
    assert pid is not None
    second.wait(60)


def background_worker(runtime: Runtime, but: int) -> psutil.Process:
    """The process of the other worker, once it is one."""

    def look(view: sqlite3.Connection) -> int | None:
        pids = [row.pid for row in workers.all_of(view) if row.pid != but and leases.lives(runtime.host, row)]
        return pids[0] if pids else None

    pid = wait_until(runtime, look, 60, starts=False)
    assert pid is not None
    return psutil.Process(pid)


@posix_only("there is no fork")
def test_of_a_tree_of_fifty_that_scatters_and_ignores_everything_nothing_is_left(runtime: Runtime) -> None:
    scatter = (
        "import os, signal\nfor number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT): signal.signal(number, "
        "signal.SIG_IGN)\nfor number in range(49):\n if os.fork() == 0:\n  if number % 2: os.setsid()\n  break\n"
    )
    with door() as entrance, working(runtime):
        id_ = submit(runtime, f"{scatter}{entrance.knock}import time\nwhile True: time.sleep(300)")
        tree = [entrance.open() for _ in range(50)]
        want_end(runtime, id_)
        assert until(runtime, id_).state is JobState.CANCELLED
        assert all(each.is_gone() for each in tree)


def test_a_job_that_fills_the_disk_ends_and_others_go_on_once_there_is_room(
    runtime: Runtime, small_disk: Path, work: Path
) -> None:
    told = Told()
    runtime = replace(runtime, data_dir=str(small_disk / "hearth"), opener=StoreOpener(), notice=told)
    ledger = work / "ledger"
    with door() as entrance, contextlib.closing(runtime):
        ballast = small_disk / "ballast"
        fills = submit(runtime, f"{entrance.knock}import os\nwhile True: os.write(1, bytes(4096))")
        after = submit(
            runtime, f"open({str(ledger)!r}, 'a').write('ran')", dependencies=[{"job": fills, "on": "finished"}]
        )
        with working(runtime):
            visitor = entrance.open()
            ballast.write_bytes(bytes(200_000))
            visitor.let_in()
            assert visitor.is_gone()
            assert told.came.wait(60)
            assert job(runtime, fills).state is JobState.RUNNING
            ballast.unlink()
            assert until(runtime, fills).state is JobState.FAILED
            assert until(runtime, after).state is JobState.COMPLETED
        assert ledger.read_text(encoding="ascii") == "ran"


@posix_only("only there the peak of a process that has ended is told")
def test_much_output_needs_no_more_memory_of_the_worker_than_little(runtime: Runtime) -> None:
    peaks = []
    for blocks in (1, 320):
        id_ = submit(runtime, f"import os\nfor _ in range({blocks}): os.write(1, os.urandom(1 << 20))")
        command = [sys.executable, "-m", "hearth", "--data-dir", runtime.data_dir, "worker", "--idle-exit-ms", "0"]
        peaks.append(run(command, folder=ROOT, timeout=120)[1])
        found = job(runtime, id_)
        assert (found.state, found.stdout_bytes) == (JobState.COMPLETED, blocks << 20)
    assert peaks[1] - peaks[0] < 16 << 20
