"""Jobs that fall due while nothing can be stored."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event

from hearth.clock import Clock
from hearth.engine.worker import Worker
from hearth.runtime import Runtime, StoreOpener
from hearth.store.jobs import JobState
from tests.engine.workers import PATIENCE_S, job, submit, until, working
from tests.store.test_full_disk import fill

HOUR_MS = 3_600_000


class Notices:
    """What goes to standard error."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.heard = Event()

    def __call__(self, text: str) -> None:
        self.texts.append(text)
        self.heard.set()


def troubles(runtime: Runtime) -> list[tuple[str, str, str]]:
    with runtime.store.read() as view:
        rows = view.execute("SELECT entity, state, error FROM events WHERE operation = 'task.work'")
        return [tuple(row) for row in rows]


class Ahead(Clock):
    """A clock that somebody sets."""

    ahead_ms = 0

    def now_ms(self) -> int:
        return super().now_ms() + self.ahead_ms


def noting(ledger: Path) -> str:
    return f"open({str(ledger)!r}, 'a').write('ran ')"


def test_a_job_that_falls_due_on_a_full_disk_runs_once_there_is_room(
    runtime: Runtime, small_disk: Path, work: Path
) -> None:
    notices, clock = Notices(), Ahead()
    runtime = replace(runtime, data_dir=str(small_disk / "hearth"), opener=StoreOpener())
    try:
        with working(runtime.for_call(notice=notices, clock=clock)) as worker:
            until(runtime, submit(runtime))
            id_ = submit(runtime, noting(work / "ledger"), delay_ms=HOUR_MS)
            ballast = fill(small_disk)
            clock.ahead_ms = 2 * HOUR_MS
            runtime.host.ring(runtime.bells)
            assert notices.heard.wait(PATIENCE_S)
            assert job(runtime, id_).state in (JobState.SCHEDULED, JobState.QUEUED)
            assert not (work / "ledger").exists()
            ballast.unlink()
            assert until(runtime, id_).state is JobState.COMPLETED
            name = worker.id
        assert (work / "ledger").read_text("utf-8") == "ran "
        assert len(notices.texts) == 1
        assert "is full" in notices.texts[0]
        assert troubles(runtime) == [(name, "failed", "no_space")]
    finally:
        runtime.close()


@contextmanager
def read_only(store_of: Worker) -> Iterator[None]:
    """The database refuses every change, as in a data directory that may only be read."""
    writer = store_of._runtime.store._writer
    writer.execute("PRAGMA query_only = ON")
    try:
        yield
    finally:
        writer.execute("PRAGMA query_only = OFF")


def test_a_job_that_falls_due_while_nothing_may_be_written_runs_once_that_is_allowed(
    runtime: Runtime, work: Path
) -> None:
    notices = Notices()
    with working(runtime.for_call(notice=notices)) as worker:
        until(runtime, submit(runtime))
        with read_only(worker):
            id_ = submit(runtime, noting(work / "ledger"))
            runtime.host.ring(runtime.bells)
            assert notices.heard.wait(PATIENCE_S)
            assert job(runtime, id_).state is JobState.QUEUED
        runtime.host.ring(runtime.bells)
        assert until(runtime, id_).state is JobState.COMPLETED
        name = worker.id
    assert (work / "ledger").read_text("utf-8") == "ran "
    assert "cannot be written" in notices.texts[0]
    assert troubles(runtime) == [(name, "failed", "data_dir_read_only")]


def test_a_worker_without_troubles_stores_no_event_of_them(runtime: Runtime) -> None:
    with working(runtime):
        until(runtime, submit(runtime))
    assert troubles(runtime) == []
