"""A worker with nothing to do does nothing, however much waits."""

from __future__ import annotations

import queue
import sqlite3
from typing import Any, NamedTuple

import pytest

from hearth.engine.worker import Timing, Worker
from hearth.runtime import Runtime
from hearth.store import jobs
from hearth.store.jobs import Condition, Dependency, Job, JobState
from tests.engine.workers import PATIENCE_S, working
from tests.store.job_rows import row

pytestmark = pytest.mark.timeout(30)  # thousands of jobs are made first
FAR = "2999-01-01T00:00:00.000Z"


class Pass(NamedTuple):
    steps: int
    beat: bool


class Counting(Worker):
    """A worker whose passes tell what they cost, in instructions of SQLite's machine."""

    def __init__(self, runtime: Runtime, *given: Any, **named: Any) -> None:
        super().__init__(runtime, *given, **named)
        self._passes: queue.Queue[Pass] = queue.Queue()
        self._beats = 0
        self._steps = 0
        store = runtime.store
        connect = store._connect

        def counted(**how: Any) -> sqlite3.Connection:
            made = connect(**how)
            made.set_progress_handler(self._step, 1)
            return made

        store._connect = counted  # type: ignore[method-assign]
        store._writer.set_progress_handler(self._step, 1)

    def _step(self) -> int:
        self._steps += 1
        return 0

    def _beat(self, now: float) -> None:
        super()._beat(now)
        self._beats += 1

    def _pass(self) -> bool:
        steps, beats = self._steps, self._beats
        over = super()._pass()
        self._passes.put(Pass(self._steps - steps, self._beats > beats))
        return over

    def next_passes(self, number: int) -> list[Pass]:
        """Those that begin from now on, but for the next two, which a ring may have caused."""
        while not self._passes.empty():
            self._passes.get()
        return [self._passes.get(timeout=PATIENCE_S) for _ in range(2 + number)][2:]


def put_waiting(runtime: Runtime, number: int) -> None:
    """Jobs that wait for one of the far future, which is made first."""
    with runtime.store.write() as tx:
        environment = jobs.environment(tx, {})
        first = jobs.find(tx, "job_first") or _first(tx, environment)
        for _ in range(number):
            made = row(JobState.WAITING, environment=environment)
            jobs.insert(tx, made, dependencies=[Dependency(first.id, Condition.SUCCESS, False)])
    runtime.host.ring(runtime.bells)


def _first(tx: sqlite3.Connection, environment: int) -> Job:
    made = row(JobState.SCHEDULED, id="job_first", due_at=FAR, environment=environment)
    jobs.insert(tx, made)
    return made


@pytest.mark.parametrize("others", [0, 2_000])
def test_at_rest_a_pass_costs_the_same_with_2_000_waiting_jobs_and_comes_with_a_beat_only(
    runtime: Runtime, others: int
) -> None:
    put_waiting(runtime, 20)
    with runtime.store.write() as tx:
        environment = jobs.environment(tx, {})
        for _ in range(others):
            jobs.insert(tx, row(environment=environment))
    with working(runtime, timing=Timing(beat_s=0.02, lease_s=100), make=Counting) as worker:
        assert isinstance(worker, Counting)
        few = worker.next_passes(4)
        put_waiting(runtime, 2_000)
        many = worker.next_passes(4)
        assert all(each.beat for each in many)
        assert 0 < min(each.steps for each in many) <= 1.1 * min(each.steps for each in few)
        with runtime.store.write() as tx:  # nothing is left to be cancelled one by one
            tx.execute("DELETE FROM jobs")
