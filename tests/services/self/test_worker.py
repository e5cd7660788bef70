"""hearth worker, and who looks after the jobs when it ends."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from hearth import dispatch
from hearth.engine import presence
from hearth.engine.waiting import wait_until
from hearth.runtime import Runtime
from hearth.services.self.worker import Work, work
from hearth.settings import WorkerSettings
from hearth.store import workers


@pytest.fixture
def impatient(runtime: Runtime) -> Iterator[Runtime]:
    """Where workers end as soon as they have nothing to do; with a job that is due in an hour."""
    worker = WorkerSettings(idle_exit_s=0)
    made = runtime.for_call(settings=replace(runtime.settings, worker=worker))
    queued = dispatch.call_json(made, "task.submit", {"command": "true", "delay_ms": 3_600_000, "start": False})
    yield made
    dispatch.call_json(made, "task.cancel", {"ids": [queued.result.jobs[0].id]})
    assert wait_until(made, lambda view: None if workers.all_of(view) else True, 4, starts=False)


def test_what_a_worker_in_the_foreground_leaves_goes_to_one_in_the_background(impatient: Runtime) -> None:
    impatient.cancelled.set()
    assert work(impatient, Work()).handed_over
    impatient.cancelled.clear()
    assert wait_until(impatient, lambda _: presence.workers(impatient) or None, 4, starts=False)


def test_one_in_the_background_that_is_ended_is_followed_by_none(impatient: Runtime) -> None:
    impatient.cancelled.set()
    assert not work(impatient, Work(background=True)).handed_over
    impatient.cancelled.clear()
    assert presence.workers(impatient) == []
