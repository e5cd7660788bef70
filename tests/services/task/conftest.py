"""What tests of jobs share: a worker that looks after them, in a thread of this process."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from hearth.cancellation import Cancellation
from hearth.engine.leases import Kind
from hearth.engine.waiting import wait_until
from hearth.engine.worker import Timing, Worker
from hearth.runtime import Runtime, StoreOpener
from hearth.store import jobs
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
        self._thread = threading.Thread(target=self.worker.run, args=(self.runtime.cancelled,))
        self._thread.start()

    def stop(self) -> None:
        """As a signal does: what runs then runs on."""
        self.runtime.cancelled.set()
        self._thread.join(10)
        assert not self._thread.is_alive()
        self.runtime.close()


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
            jobs.want_end(tx, seq, "cancel")
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
    """Wait until a job stands somewhere, by default anywhere final."""

    def wait(id_: str, *states: JobState, seconds: float = 4) -> jobs.Job:
        wanted = states or jobs.FINAL
        found = wait_until(
            runtime,
            lambda view: job if (job := jobs.find(view, id_)) and job.state in wanted else None,
            seconds,
            starts=False,
        )
        assert found is not None, f"{id_} is not {' or '.join(wanted)}"
        return found

    return wait
