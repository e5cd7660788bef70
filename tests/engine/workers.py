"""Workers in threads of this process, and jobs for them."""

from __future__ import annotations

import os
import sqlite3
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from threading import Thread
from typing import Any

from hearth import dispatch
from hearth.cancellation import Cancellation
from hearth.engine.leases import Kind
from hearth.engine.moves import move
from hearth.engine.outputs import SLACK_BYTES
from hearth.engine.waiting import wait_until
from hearth.engine.worker import Timing, Worker
from hearth.runtime import Runtime, StoreOpener
from hearth.store import job_queue, jobs
from hearth.store.database import FILE_NAME
from hearth.store.jobs import FINAL, UNFINISHED, Job, JobState

QUICK = Timing(beat_s=0.2, lease_s=1.0)
PATIENCE_S = 20.0


class Ringing(Worker):
    """A worker that rings at each beat, so that what only a beat does can be waited for."""

    def _beat(self, now: float) -> None:
        super()._beat(now)
        self._runtime.host.ring(self._runtime.bells)


@contextmanager
def working(
    runtime: Runtime,
    *,
    timing: Timing = QUICK,
    make: Callable[..., Worker] = Worker,
    kind: Kind = Kind.FOREGROUND,
    ends_all: bool = True,
) -> Iterator[Worker]:
    """A worker on the same data directory, with a database connection of its own, until the block is left. Without
    `ends_all` what runs then runs on."""
    stop = Cancellation()
    own = runtime.for_call(cancelled=stop, opener=StoreOpener())
    worker = make(own, kind, timing=timing)
    thread = Thread(target=worker.run, args=(stop,), daemon=True)
    thread.start()
    try:
        yield worker
    finally:
        if thread.is_alive() and ends_all:
            end_all(runtime)
        stop.set()
        thread.join(PATIENCE_S)
        own.close()
        assert not thread.is_alive()


def end_all(runtime: Runtime) -> None:
    """Cancel what is left, so that no program of a test runs on."""
    with runtime.store.write() as tx:
        for row in tx.execute("SELECT seq FROM jobs WHERE ended_at IS NULL").fetchall():
            left = jobs.find_by_seq(tx, row[0])
            assert left is not None
            if left.state is JobState.RUNNING:
                job_queue.want_end(tx, left.seq, "cancel")
            elif left.state in UNFINISHED:  # not blocked meanwhile by one before it
                move(tx, left, JobState.CANCELLED, ended_at=runtime.now())
    runtime.host.ring(runtime.bells)
    nothing_runs = "SELECT NOT EXISTS (SELECT 1 FROM jobs WHERE state = 'running')"
    wait_until(runtime, lambda view: view.execute(nothing_runs).fetchone()[0] or None, PATIENCE_S, starts=False)


def submit(runtime: Runtime, code: str = "", **fields: Any) -> str:
    """Queue a Python program without starting a worker; the job's id."""
    words = {"command": sys.executable, "args": ["-S", "-E", "-c", code], "start": False, "grace_ms": 100}
    answer = dispatch.call_json(runtime, "task.submit", {**words, **fields})
    assert answer.error is None, answer.error
    (queued,) = answer.result.jobs
    return str(queued.id)


def job(runtime: Runtime, id_: str) -> Job:
    with runtime.store.read() as view:
        found = jobs.find(view, id_)
    assert found is not None
    return found


def until(runtime: Runtime, id_: str, *states: JobState) -> Job:
    """The job once it is in one of these states, or has ended."""

    def look(view: Any) -> Job | None:
        found = jobs.find(view, id_)
        assert found is not None
        return found if found.state in (states or FINAL) else None

    found = wait_until(runtime, look, PATIENCE_S, starts=False)
    assert found is not None, f"{id_} is {job(runtime, id_).state}"
    return found


def put_copy_in_place(data_dir: str) -> None:
    """Replace the database by a copy of itself, as who restores one does."""
    path = os.path.join(data_dir, FILE_NAME)
    with closing(sqlite3.connect(path)) as old, closing(sqlite3.connect(path + "-copy")) as copy:
        old.backup(copy)
    for name in ("-wal", "-shm"):
        with suppress(FileNotFoundError):
            os.unlink(path + name)
    os.replace(path + "-copy", path)


def makes_holes(runtime: Runtime) -> bool:
    """Whether the middle of a file can be given back where the outputs of jobs are."""
    runtime.host.make_private_directory(runtime.data_dir)
    path = os.path.join(runtime.data_dir, "try")
    with open(path, "wb") as file:
        file.truncate(2 * SLACK_BYTES)
    try:
        return runtime.host.punch_hole(path, 0, SLACK_BYTES)
    finally:
        os.unlink(path)
