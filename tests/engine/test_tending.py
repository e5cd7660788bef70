from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from hearth.clock import timestamp
from hearth.engine import tending
from hearth.engine.tending import FIRST_SWEEP_S, PAUSE_S, STEP, Tending
from hearth.engine.waiting import wait_until
from hearth.runtime import Runtime
from hearth.settings import DAY_MS, RetentionSettings
from tests.engine.workers import Ringing, submit, until, working
from tests.store.job_rows import insert, row


def old(runtime: Runtime, number: int) -> None:
    at = timestamp(runtime.clock.now_ms() - 40 * DAY_MS)
    with runtime.store.write() as tx:
        insert(tx, *(row(at=at) for _ in range(number)))


def count(runtime: Runtime) -> int:
    with runtime.store.read() as view:
        return int(view.execute("SELECT count(*) FROM jobs").fetchone()[0])


def test_more_old_jobs_go_than_came(runtime: Runtime) -> None:
    old(runtime, 5 * STEP)
    made = Tending(runtime, 0)
    made.tend(1)
    assert count(runtime) == 5 * STEP
    made.note_ended(1)
    made.tend(1)
    assert count(runtime) == 4 * STEP
    made.note_ended(2 * STEP)
    made.tend(2)
    assert count(runtime) == STEP
    made.tend(3)
    assert count(runtime) == STEP


def test_while_no_job_ends_old_ones_go_now_and_then(runtime: Runtime) -> None:
    old(runtime, 2)
    made = Tending(runtime, 0)
    made.tend(PAUSE_S - 1)
    assert count(runtime) == 2
    made.tend(PAUSE_S)
    assert count(runtime) == 0


def test_one_look_is_bounded(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tending, "MOST_STEPS", 2)
    old(runtime, 3 * STEP)
    made = Tending(runtime, 0)
    made.note_ended(1_000_000)
    made.tend(1)
    assert count(runtime) == STEP


def test_a_worker_lets_old_jobs_go(runtime: Runtime) -> None:
    runtime.settings = replace(runtime.settings, retention=RetentionSettings(jobs_days=30))
    old(runtime, 3)
    with working(runtime, make=Ringing):
        until(runtime, submit(runtime))
        only = "SELECT count(*) = 1 FROM jobs"
        assert wait_until(runtime, lambda view: view.execute(only).fetchone()[0] or None, 10, starts=False)


def test_files_that_could_not_go_with_their_run_go_later(runtime: Runtime) -> None:
    left = Path(runtime.data_dir) / "jobs" / "job_gone.1.0123abcd"
    left.mkdir(parents=True)
    (left / "stdout").write_bytes(b"x")
    made = Tending(runtime, 0)
    made.tend(FIRST_SWEEP_S)
    assert left.exists(), "it may be about to go"
    long_ago = runtime.clock.now_ms() / 1000 - 2 * 3_600
    os.utime(left, (long_ago, long_ago))
    made.tend(FIRST_SWEEP_S + 1)
    assert left.exists()
    made.tend(FIRST_SWEEP_S + PAUSE_S)
    assert not left.exists()
