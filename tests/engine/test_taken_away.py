"""A worker whose database is taken away under it."""

from __future__ import annotations

import os
import shutil
from threading import Thread

import pytest

from hearth.cancellation import Cancellation
from hearth.engine import presence
from hearth.engine.leases import Kind
from hearth.engine.waiting import wait_until
from hearth.errors import DatabaseGone
from hearth.runtime import Runtime, StoreOpener
from hearth.store.jobs import JobState
from tests.engine.door import door
from tests.engine.workers import PATIENCE_S, QUICK, Ringing, put_copy_in_place, submit, until, working
from tests.marks import posix_only

pytestmark = posix_only("Windows lets nobody move or delete a file that SQLite has open")


class Alone:
    """A worker in a thread, and what it ended with."""

    def __init__(self, runtime: Runtime) -> None:
        self._own = runtime.for_call(cancelled=Cancellation(), opener=StoreOpener())
        self.error: Exception | None = None
        self._thread = Thread(target=self._work, daemon=True)
        self._thread.start()
        assert wait_until(runtime, lambda _: presence.workers(runtime) or None, PATIENCE_S, starts=False)

    def _work(self) -> None:
        try:
            Ringing(self._own, Kind.FOREGROUND, timing=QUICK).run(self._own.cancelled)
        except Exception as error:
            self.error = error
        finally:
            self._own.close()

    def has_ended(self) -> bool:
        self._thread.join(PATIENCE_S)
        ended = not self._thread.is_alive()
        self._own.cancelled.set()
        self._thread.join(PATIENCE_S)
        return ended


@pytest.mark.timeout(60)
def test_a_worker_whose_database_was_taken_away_ends_rather_than_run_its_jobs_beside_others(runtime: Runtime) -> None:
    submit(runtime, "", delay_ms=3_600_000)
    alone = Alone(runtime)
    away = runtime.data_dir + " away"
    os.rename(runtime.data_dir, away)
    try:
        assert alone.has_ended()
    finally:
        shutil.rmtree(runtime.data_dir, ignore_errors=True)
        os.rename(away, runtime.data_dir)
    assert isinstance(alone.error, DatabaseGone)


@pytest.mark.timeout(60)
def test_what_ran_when_a_database_was_put_in_the_place_of_another_ends_under_the_next_worker(runtime: Runtime) -> None:
    with door() as opened:
        id_ = submit(runtime, opened.knock + "raise SystemExit(7)")
        alone = Alone(runtime)
        visitor = opened.open()
        runtime.close()
        put_copy_in_place(runtime.data_dir)
        assert alone.has_ended()
        again = runtime.for_call(opener=StoreOpener())
        with working(again):
            visitor.let_in()
            ended = until(again, id_)
        again.close()
    assert (ended.state, ended.exit_code, ended.attempt) == (JobState.FAILED, 7, 1)
