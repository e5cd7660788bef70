"""hearth worker, and who looks after the jobs when it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from threading import Thread
from typing import Any

import pytest

from hearth import dispatch
from hearth.cancellation import Cancellation
from hearth.engine import presence
from hearth.engine.waiting import wait_until
from hearth.errors import DatabaseGone
from hearth.runtime import Runtime, StoreOpener
from hearth.services.self.worker import Work, work
from hearth.settings import WorkerSettings
from hearth.store import workers
from hearth.store.jobs import JobState
from tests.engine.door import Visitor, door
from tests.engine.workers import PATIENCE_S, put_copy_in_place, submit, until
from tests.marks import posix_only

Hearth = Callable[..., Any]


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


@contextmanager
def stopped(runtime: Runtime, knocks: Callable[[], Visitor], code: str, **fields: Any) -> Iterator[tuple[str, Visitor]]:
    """A job whose program runs, and waits, and whose worker was just stopped."""
    runtime.settings = replace(runtime.settings, worker=WorkerSettings(idle_exit_s=0))
    stop = Cancellation()
    told: list[bool] = []
    with closing(runtime.for_call(opener=StoreOpener(), cancelled=stop)) as own:
        thread = Thread(target=lambda: told.append(work(own, Work()).handed_over))
        thread.start()
        id_ = submit(runtime, code, **fields)
        runtime.host.ring(runtime.bells)
        visitor = knocks()
        stop.set()
        thread.join(PATIENCE_S)
        assert told == [True]
        yield id_, visitor
    assert wait_until(runtime, lambda view: None if workers.all_of(view) else True, 10, starts=False)


def test_how_a_program_ends_is_seen_also_just_after_its_worker_was_stopped(runtime: Runtime) -> None:
    with door() as entrance, stopped(runtime, entrance.open, entrance.knock + "raise SystemExit(7)") as (id_, visitor):
        visitor.let_in()
        ended = until(runtime, id_)
        assert (ended.state, ended.exit_code) == (JobState.FAILED, 7)


def test_an_open_input_outlives_the_worker_that_was_stopped(runtime: Runtime) -> None:
    with door() as entrance:
        code = f"import sys\n{entrance.knock}sys.exit(len(sys.stdin.read()))"
        with stopped(runtime, entrance.open, code, open_stdin=True) as (id_, visitor):
            visitor.let_in()
            sent = dispatch.call_json(runtime, "task.send", {"id": id_, "text": "abc", "newline": True, "eof": True})
            assert sent.error is None, sent.error
            assert until(runtime, id_).exit_code == 4


def test_a_worker_in_the_foreground_says_what_it_is_there_for(runtime: Runtime, hearth: Hearth) -> None:
    assert f"of {runtime.data_dir}, until Ctrl-C" in hearth("worker", "--idle-exit", "0s").err
    assert hearth("worker", "--idle-exit", "0s", "--background").err == ""


@posix_only("Windows lets nobody move or delete a file that SQLite has open")
def test_a_worker_whose_database_was_replaced_sees_to_one_for_the_other(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    def noted(given: Runtime) -> None:
        with given.store.read() as view:
            started.append(len(workers.all_of(view)))

    def run() -> None:
        with closing(runtime.for_call(opener=StoreOpener(), cancelled=Cancellation())) as own:
            try:
                work(own, Work())
            except DatabaseGone as error:
                ended.append(error)

    started: list[int] = []
    ended: list[DatabaseGone] = []
    monkeypatch.setattr(presence, "_start", noted)
    submit(runtime, "", delay_ms=3_600_000)
    thread = Thread(target=run, daemon=True)
    thread.start()
    assert wait_until(runtime, lambda _: presence.workers(runtime) or None, PATIENCE_S, starts=False)
    runtime.close()
    put_copy_in_place(runtime.data_dir)
    runtime.host.ring(runtime.bells)
    thread.join(PATIENCE_S)
    assert len(ended) == 1
    assert started == [0]
