from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hearth import dispatch, event_log
from hearth.clock import Clock
from hearth.runtime import Caller, Runtime
from hearth.services.fs.stat import StatPath
from hearth.settings import RetentionSettings, Settings
from hearth.store import events
from hearth.store.jobs import JobState
from hearth.store.retention import DAY_MS
from tests.marks import posix_only
from tests.store.job_rows import insert, row
from tests.store.rows import event

Hearth = Callable[..., Any]


class Later(Clock):
    """A clock that is some days ahead."""

    def __init__(self, days: int) -> None:
        self.days = days

    def now_ms(self) -> int:
        return super().now_ms() + self.days * DAY_MS


def collect(runtime: Runtime, *, dry_run: bool = False) -> dict[str, int]:
    answer = dispatch.call_json(runtime, "self.gc", {"dry_run": dry_run})
    assert answer.error is None
    return {each.kind: each.count for each in answer.result.removed if each.count}


def calls(runtime: Runtime) -> list[str]:
    with runtime.store.read() as view:
        return [row["operation"] for row in view.execute("SELECT operation FROM events ORDER BY id")]


def test_a_young_data_directory_has_nothing_to_remove(work: Path, hearth: Hearth) -> None:
    (work / "a").touch()
    hearth("fs", "stat", "a")
    done = hearth("gc", "--dry-run", "--json")
    assert (done.status, done.json["dry_run"], done.json["dropped_events"]) == (0, True, 0)
    assert {each["count"] for each in done.json["removed"]} == {0}


def test_a_table_of_kinds_is_shown(hearth: Hearth) -> None:
    assert [line.split("\t")[0] for line in hearth("gc").out.splitlines()][:3] == ["events", "receipts", "backups"]


def test_old_changes_can_be_undone_until_they_are_collected(runtime: Runtime, work: Path) -> None:
    (work / "a").write_bytes(b"x" * 100_000)
    dispatch.call_json(runtime, "fs.write", {"path": "a", "data": "new"})
    later = runtime.for_call(clock=Later(91))
    assert collect(later, dry_run=True) == {"events": 1, "receipts": 1}
    assert collect(later) == {"events": 1, "receipts": 1}
    assert not [path for path in Path(runtime.data_dir, "blobs").rglob("*") if path.is_file()]


def test_a_batch_of_reads_keeps_its_events_within_bounds(runtime: Runtime) -> None:
    keep = Settings(retention=RetentionSettings(events_max=1_000))
    batch = runtime.for_call(caller=Caller.BATCH, settings=keep)
    answer = dispatch.call_json(batch, "fs.stat", {"path": "."})
    for _ in range(1_300):
        event_log.record(batch, StatPath(path="."), answer, is_read=True)
    runtime.close()
    assert len(calls(runtime)) <= 1_000 + events.TEND_EVERY


def test_writes_remove_old_receipts_in_passing(runtime: Runtime, work: Path) -> None:
    dispatch.call_json(runtime, "fs.write", {"path": "old", "data": "x"})
    with runtime.store.write() as tx:
        events.insert(tx, [event()] * (event_log.TEND_EVERY - 2))
    later = runtime.for_call(clock=Later(91))
    dispatch.call_json(later, "fs.write", {"path": "new", "data": "x"})
    with runtime.store.read() as view:
        found = [row["at"] for row in view.execute("SELECT at FROM receipts")]
    assert [at[:10] for at in found] == [later.now()[:10]]
    assert sorted(each.name for each in work.iterdir()) == ["new", "old"]


@pytest.mark.parametrize("size", [10, 100_000])
def test_a_change_whose_backup_is_gone_is_not_undone_and_says_why(runtime: Runtime, work: Path, size: int) -> None:
    (work / "a").write_bytes(b"x" * size)
    tight = runtime.for_call(settings=Settings(retention=RetentionSettings(backups_max_bytes=0)))
    done = dispatch.call_json(tight, "fs.write", {"path": "a", "data": "new"})
    assert collect(tight) == {"backups": 1}
    undone = dispatch.call_json(tight, "fs.undo", {"receipt": done.result.receipt})
    assert undone.error is not None
    assert undone.error.code == "backup_missing"
    assert (work / "a").read_bytes() == b"new"


def test_a_tree_whose_trash_was_emptied_is_not_brought_back(runtime: Runtime, work: Path) -> None:
    (work / "tree").mkdir()
    (work / "tree" / "a").write_bytes(b"x" * 1_000)
    tight = runtime.for_call(settings=Settings(retention=RetentionSettings(backups_max_bytes=0)))
    done = dispatch.call_json(tight, "fs.delete", {"path": "tree", "recursive": True})
    assert done.error is None
    assert collect(tight) == {"backups": 1}
    assert not list(Path(runtime.data_dir, "trash").iterdir())
    undone = dispatch.call_json(tight, "fs.undo", {"receipt": done.result.receipt})
    assert undone.error is not None
    assert undone.error.code in ("backup_missing", "conflict")
    assert list(work.iterdir()) == []


def test_what_no_backup_is_needed_for_can_still_be_undone(runtime: Runtime, work: Path) -> None:
    tight = runtime.for_call(settings=Settings(retention=RetentionSettings(backups_max_bytes=0)))
    done = dispatch.call_json(tight, "fs.write", {"path": "new", "data": "new"})
    collect(tight)
    assert dispatch.call_json(tight, "fs.undo", {"receipt": done.result.receipt}).error is None
    assert list(work.iterdir()) == []


@posix_only("bells of Windows end with their processes")
def test_bells_of_processes_that_are_gone_are_removed(runtime: Runtime) -> None:
    bells = Path(runtime.bells)
    with closing(runtime.host.make_bell(runtime.bells)) as living:
        (kept,) = bells.iterdir()
        os.mkfifo(bells / f"bell-{'0' * 32}")
        collect(runtime, dry_run=True)
        assert len(list(bells.iterdir())) == 2
        collect(runtime)
        assert list(bells.iterdir()) == [kept]
        assert runtime.host.wait_any([living.waitable], 0) == [living.waitable]


def test_jobs_go_with_their_days(runtime: Runtime) -> None:
    with runtime.store.write() as tx:
        insert(tx, row(at=runtime.now()), row(JobState.QUEUED))
    assert "jobs" not in collect(runtime)
    assert collect(runtime.for_call(clock=Later(31)))["jobs"] == 1
    with runtime.store.read() as view:
        assert [each[0] for each in view.execute("SELECT state FROM jobs")] == ["queued"]
