"""A worker whose process is there and does nothing: stopped, swapped out, or held by a debugger."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from hearth.engine import leases
from hearth.engine.leases import Standing
from hearth.engine.waiting import wait_until
from hearth.engine.worker import Worker
from hearth.runtime import Runtime
from hearth.store import artifacts, job_groups, job_queue, jobs, workers
from hearth.store.jobs import JobState
from tests.conftest import ROOT
from tests.engine.workers import PATIENCE_S, QUICK, Ringing, job, submit, until, working
from tests.marks import posix_only

pytestmark = posix_only("a process is stopped by a signal")

WORKER = """
import sys
from hearth.cancellation import Cancellation
from hearth.containment import Root
from hearth.engine.leases import Kind
from hearth.platforms.local import local_host
from hearth.runtime import Runtime
from hearth.settings import Settings
from tests.engine.workers import QUICK, Ringing
data_dir, work = sys.argv[1:]
runtime = Runtime(local_host(), Settings(), data_dir, (Root(work),), work)
Ringing(runtime, Kind.FOREGROUND, timing=QUICK).run(Cancellation())
"""


@contextmanager
def other_process(runtime: Runtime) -> Iterator[subprocess.Popen[bytes]]:
    words = [sys.executable, "-c", WORKER, runtime.data_dir, runtime.base]
    with subprocess.Popen(words, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}) as process:
        try:
            yield process
        finally:
            process.kill()


def released(runtime: Runtime, id_: str) -> jobs.Job:
    """The job once its program may run."""
    found = wait_until(
        runtime, lambda view: each if (each := jobs.find(view, id_)) and each.pid else None, PATIENCE_S, starts=False
    )
    assert found is not None
    return found


def held_by(runtime: Runtime, id_: str, worker: Worker) -> None:
    found = wait_until(
        runtime, lambda _: True if job(runtime, id_).worker == worker.id else None, PATIENCE_S, starts=False
    )
    assert found


def lines(path: Path) -> list[str]:
    return path.read_text("utf-8").split() if path.exists() else []


def appends(ledger: Path, word: str, go: Path) -> str:
    return (
        f"import os, time\nprint('{word}', flush=True)\nopen({str(ledger)!r}, 'a').write('{word} ')\n"
        f"while not os.path.exists({str(go)!r}): time.sleep(0.01)"
    )


@pytest.mark.timeout(30)
@pytest.mark.parametrize("way", ["ends", "is cancelled"])
def test_the_job_of_a_stuck_worker_is_another_ones_and_holds_its_group_up_no_longer_than_it_runs(
    runtime: Runtime, work: Path, way: str
) -> None:
    ledger, go = work / "ledger", work / "go"
    with runtime.store.write() as tx:
        job_groups.set_group(tx, "line", parallel=1, keep_parallel=False)
    with other_process(runtime) as stuck:
        first = submit(runtime, appends(ledger, "first", go), group="line")
        former = released(runtime, first).worker
        second = submit(runtime, appends(ledger, "second", work), group="line")
        stuck.send_signal(signal.SIGSTOP)
        with working(runtime, make=Ringing) as worker:
            held_by(runtime, first, worker)
            assert standing(runtime) == {former: Standing.STUCK, worker.id: Standing.LIVING}
            assert job(runtime, second).state is JobState.QUEUED
            if way == "ends":
                go.touch()
            else:
                with runtime.store.write() as tx:
                    job_queue.want_end(tx, job(runtime, first).seq, "cancel")
                runtime.host.ring(runtime.bells)
            ended = until(runtime, first)
            assert ended.state is (JobState.COMPLETED if way == "ends" else JobState.CANCELLED)
            assert until(runtime, second).state is JobState.COMPLETED
            before = beats(runtime)[former]
            stuck.send_signal(signal.SIGCONT)
            assert wait_until(runtime, lambda _: beats(runtime)[former] > before or None, PATIENCE_S, starts=False)
            assert standing(runtime) == {former: Standing.LIVING, worker.id: Standing.LIVING}
            assert job(runtime, first) == ended
    assert lines(ledger) == ["first", "second"]
    with runtime.store.read() as view:
        kept = {each.label for each in artifacts.page(view, before=1 << 62, limit=9)}
        assert kept == {f"{first} stdout", f"{second} stdout"}
        assert artifacts.total_bytes(view) == len("first\nsecond\n")


def standing(runtime: Runtime) -> dict[str | None, Standing]:
    with runtime.store.read() as view:
        rows = workers.all_of(view)
    return {row.id: leases.standing(runtime.host, row, lease_s=QUICK.lease_s) for row in rows}


def beats(runtime: Runtime) -> dict[str | None, int]:
    with runtime.store.read() as view:
        return {row.id: row.beat_ms for row in workers.all_of(view)}
