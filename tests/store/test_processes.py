"""Several processes on one data directory."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from hearth.clock import Clock
from hearth.platforms.local import local_host
from hearth.store import events
from hearth.store.database import Store, open_store
from tests.store.rows import count, event

# Starting a process takes seconds on the emulated Windows.
pytestmark = pytest.mark.timeout(60)
CHECKOUT = Path(__file__).parents[2]

OPENER = """
import sys
from hearth.clock import Clock
from hearth.platforms.local import local_host
from hearth.store import events
from hearth.store.database import open_store
from tests.store.rows import event

data, repeats = sys.argv[1], int(sys.argv[2])
sys.stdin.read(1)  # everybody starts at once
for number in range(repeats):
    store = open_store(local_host(), data, Clock())
    with store.write() as tx:
        events.insert(tx, [event(number)])
    store.close()
"""

HOLDER = """
import sys
from hearth.clock import Clock
from hearth.platforms.local import local_host
from hearth.store import events
from hearth.store.database import open_store
from tests.store.rows import event

store = open_store(local_host(), sys.argv[1], Clock())
with store.write(durable=True) as tx:
    events.insert(tx, [event(number) for number in range(1000)])
    print("inside", flush=True)
    sys.stdin.read()
"""


def start(code: str, *words: str) -> subprocess.Popen[bytes]:
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen([sys.executable, "-c", code, *words], cwd=CHECKOUT, **pipes)  # type: ignore[call-overload, no-any-return]


def all_at_once(data: Path, processes: int, repeats: int, timeout: float) -> list[bytes]:
    """What the processes that failed said."""
    started = [start(OPENER, str(data), str(repeats)) for _ in range(processes)]
    for process in started:
        assert process.stdin is not None
        process.stdin.write(b"x")
        process.stdin.flush()
    ended = [(process.communicate(timeout=timeout)[1], process.returncode) for process in started]
    return [said for said, status in ended if status != 0]


def total(data: Path) -> int:
    store = open_store(local_host(), str(data), Clock())
    try:
        return count(store)
    finally:
        store.close()


def test_processes_that_start_at_once_make_one_database(data: Path) -> None:
    assert all_at_once(data, processes=4, repeats=3, timeout=30) == []
    assert total(data) == 12


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.parametrize("attempt", range(3))
def test_32_processes_that_start_at_once_all_succeed(data: Path, attempt: int) -> None:  # noqa: ARG001
    assert all_at_once(data, processes=32, repeats=10, timeout=100) == []
    assert total(data) == 320


def test_a_process_killed_inside_a_transaction_leaves_nothing_of_it(store: Store, data: Path) -> None:
    process = start(HOLDER, str(data))
    assert process.stdout is not None
    assert process.stdout.readline().strip() == b"inside"
    process.kill()
    process.communicate(timeout=10)
    assert count(store) == 0
    with store.write() as tx:
        assert tx.execute("PRAGMA integrity_check").fetchone()[0] == "ok"


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_32_commands_at_once_on_an_empty_data_directory_all_answer(work: Path, data: Path) -> None:
    words = [sys.executable, "-m", "hearth", "--data-dir", str(data), "fs", "stat", str(work), "--root", str(work)]
    started = [
        subprocess.Popen(words, cwd=CHECKOUT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) for _ in range(32)
    ]
    said = [process.communicate(timeout=100)[1] for process in started]
    assert ([process.returncode for process in started], said) == ([0] * 32, [b""] * 32)


def test_workers_wait_out_another_process_that_writes_for_long(store: Store, data: Path) -> None:
    process = start(HOLDER, str(data))
    assert process.stdout is not None
    assert process.stdout.readline().strip() == b"inside"
    failed: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for _ in range(5):
                count(store)
                with store.write() as tx:
                    events.insert(tx, [event(number)])
        except BaseException as error:
            failed.append(error)

    workers = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for worker in workers:
        worker.start()
    workers[0].join(timeout=0.5)
    assert (workers[0].is_alive(), count(store)) == (True, 0)  # reads are answered meanwhile
    process.communicate(timeout=10)
    for worker in workers:
        worker.join(timeout=20)
    assert (failed, count(store)) == ([], 1_000 + 40)
