"""Workers that are killed while schedules make jobs: each slot has one job, and each job runs once."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from hearth.engine.waiting import wait_until
from hearth.runtime import Runtime
from tests.engine.recurring import gaps, slots
from tests.engine.workers import end_all
from tests.services.task.scheduling import call

ROOT = Path(__file__).parents[2]
SECONDS = 12
PROGRAM = "import os; open(os.environ['LEDGER'], 'a').write(os.environ['HEARTH_JOB'] + chr(10))"
pytestmark = [pytest.mark.slow, pytest.mark.timeout(90)]


@contextmanager
def worker(runtime: Runtime) -> Iterator[subprocess.Popen[bytes]]:
    """A worker in a process of its own, which is killed at the end."""
    words = [sys.executable, "-m", "hearth", "worker", "--data-dir", runtime.data_dir]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(words, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait(10)


def until(runtime: Runtime, sql: str) -> None:
    """Wait until a statement's one value is true."""
    assert wait_until(runtime, lambda view: view.execute(sql).fetchone()[0] or None, 20, starts=False), sql


def nothing(_: object) -> None:
    """What is never found."""


def test_no_slot_is_lost_or_doubled_by_workers_that_are_killed(runtime: Runtime, work: Path) -> None:
    ledger = work / "ledger"
    given = {"command": sys.executable, "args": ["-S", "-E", "-c", PROGRAM], "env": {"LEDGER": str(ledger)}}
    for name in ("one", "two"):
        call(runtime, "schedule", name=name, every_ms=1_000, missed="all", start=False, **given)
    chance = random.Random(4)
    with ExitStack() as last:
        for wanted in range(2, 2 * SECONDS, 2):
            with worker(runtime):
                last.close()
                until(runtime, f"SELECT count(*) >= {wanted} FROM jobs WHERE ended_at IS NOT NULL")
                # Killed while the next transactions are on their way.
                wait_until(runtime, nothing, chance.random() / 4, starts=False)
                last.enter_context(worker(runtime))
        call(runtime, "disable", names=["one", "two"])
        until(runtime, "SELECT NOT EXISTS (SELECT 1 FROM jobs WHERE ended_at IS NULL)")
        end_all(runtime)
    with runtime.store.read() as view:
        made = [tuple(row) for row in view.execute("SELECT id, schedule, slot_at, state FROM jobs ORDER BY slot_at")]
    assert len(made) >= 2 * (SECONDS - 1)
    assert {state for *_, state in made} == {"completed"}
    assert sorted(ledger.read_text(encoding="ascii").split()) == sorted(id_ for id_, *_ in made)
    for schedule in {schedule for _, schedule, _, _ in made}:
        assert set(gaps([slot for _, name, slot, _ in made if name == schedule])) == {1_000}
    assert len(slots(runtime)) == len(made)
