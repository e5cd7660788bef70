"""What tests of jobs share: a worker that looks after them, in a thread of this process."""

from __future__ import annotations

import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hearth.cancellation import Cancellation
from hearth.engine import presence
from hearth.engine.leases import Kind
from hearth.engine.waiting import wait_until
from hearth.engine.worker import Timing, Worker
from hearth.runtime import Runtime, StoreOpener
from hearth.store import job_queue, jobs
from hearth.store.jobs import JobState
from tests.conftest import Done

Run = Callable[..., Done]
Submit = Callable[..., str]
WaitFor = Callable[..., jobs.Job]

SLEEPER = "import time; time.sleep(300)"


def python(code: str) -> tuple[str, ...]:
    """The words of a program that starts quickly."""
    return sys.executable, "-I", "-S", "-c", code


class Working:
    """A worker in a thread. Its store and its programs are its own, as those of another process would be."""

    def __init__(self, runtime: Runtime, timing: Timing | None = None) -> None:
        self.runtime = runtime.for_call(opener=StoreOpener(), cancelled=Cancellation())
        self.worker = Worker(self.runtime, Kind.FOREGROUND, timing=timing)
        assert self.runtime.store  # opened before the commands that meet it
        self._thread = threading.Thread(target=self.worker.run, args=(self.runtime.cancelled,))
        self._thread.start()

    def stop(self) -> None:
        """As a signal does: what runs then runs on."""
        self.runtime.cancelled.set()
        self._thread.join(10)
        assert not self._thread.is_alive()
        self.runtime.close()


@pytest.fixture(autouse=True)
def _no_worker_is_left(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A worker that a command starts in the background ends when it has nothing to do, which it has at the end."""
    monkeypatch.setenv("HEARTH_WORKER_IDLE_EXIT_S", "0")
    runtime.settings = replace(runtime.settings, worker=replace(runtime.settings.worker, idle_exit_s=0))
    yield
    data = Path(runtime.data_dir)
    if (data / presence.LOG).exists():
        end_all(runtime)
        gone = "SELECT NOT EXISTS (SELECT 1 FROM workers WHERE kind = 'background')"
        assert wait_until(
            runtime,
            lambda view: (not (data / presence.MARKER).exists() and view.execute(gone).fetchone()[0]) or None,
            4,
            starts=False,
        )


@pytest.fixture
def worker(runtime: Runtime) -> Iterator[Working]:
    """Looks after jobs; at the end none of them runs any more."""
    made = Working(runtime)
    yield made
    end_all(runtime)
    made.stop()


def end_all(runtime: Runtime) -> None:
    """End whatever runs, with a worker that is there."""
    with runtime.store.write() as tx:
        left = tx.execute("SELECT seq FROM jobs WHERE state = 'running'").fetchall()
        for (seq,) in left:
            job_queue.want_end(tx, seq, "cancel")
        tx.execute("UPDATE jobs SET state = 'cancelled', unmet = 0, ended_at = :now"
                   " WHERE state IN ('scheduled', 'queued', 'waiting')", {"now": runtime.now()})  # fmt: skip
    runtime.host.ring(runtime.bells)
    none = "SELECT NOT EXISTS (SELECT 1 FROM jobs WHERE state = 'running')"
    assert wait_until(runtime, lambda view: view.execute(none).fetchone()[0] or None, 4, starts=False)


@pytest.fixture
def submit(hearth: Run) -> Submit:
    """Queue a program and leave it to whichever worker there is; its id."""

    def queue(*words: str, **options: Any) -> str:
        named = [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", str(value))]
        done = hearth("task", "submit", "--json", "--no-start", *named, "--", *words)
        assert done.status == 0, done
        return str(done.json["jobs"][0]["id"])

    return queue


@pytest.fixture
def wait_for(runtime: Runtime) -> WaitFor:
    """Wait until a job stands somewhere, by default anywhere final; where it runs, until its program does."""

    def wait(id_: str, *states: JobState, seconds: float = 4) -> jobs.Job:
        wanted = states or jobs.FINAL

        def look(view: sqlite3.Connection) -> jobs.Job | None:
            job = jobs.find(view, id_)
            if job is None or job.state not in wanted or (job.state is JobState.RUNNING and job.pid is None):
                return None
            return job

        found = wait_until(runtime, look, seconds, starts=False)
        assert found is not None, f"{id_} is not {' or '.join(wanted)}"
        return found

    return wait
