from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from hearth.clock import Clock, timestamp
from hearth.errors import BackupMissing
from hearth.paging import NEWEST
from hearth.platforms.local import local_host
from hearth.settings import RetentionSettings
from hearth.store import artifacts, events, receipts
from hearth.store.artifacts import Artifact
from hearth.store.database import Store
from hearth.store.receipts import Change, Receipt
from hearth.store.retention import DAY_MS, GRACE_MS, STEP, Removed, Retention, dropped, tend
from tests.marks import needs_links
from tests.store.rows import count, event

NOW = Clock().now_ms() + 2 * GRACE_MS  # what a test makes is old enough to be nobody's

Retain = Callable[..., Retention]


@pytest.fixture
def retain(store: Store, data: Path) -> Retain:
    """The rules, with the settings that differ from what everybody has."""

    def make(*, dry_run: bool = False, now_ms: int = NOW, **changed: int) -> Retention:
        keep = RetentionSettings(**changed)
        return Retention(local_host(), store, str(data), keep, now_ms, dry_run=dry_run)

    return make


def days_ago(days: float) -> str:
    return timestamp(NOW - int(days * DAY_MS))


def receipt(store: Store, name: str, *changes: Change, days: float = 0, state: str = "applied") -> int:
    """Store a receipt that is so many days old."""
    made = Receipt(
        id=f"rcp_{name}",
        at=days_ago(days),
        operation="fs.write",
        caller="shell",
        conversation=None,
        group=None,
        state=state,
        owner_pid=1,
        owner_start="1",
        steps=len(changes),
    )
    with store.write() as tx:
        seq = receipts.insert(tx, made)
        for position, change in enumerate(changes):
            change.position = position
            receipts.add_change(tx, seq, change)
    return seq


def inline(content: bytes) -> Change:
    return Change("write", "/a", backup=content, before_size=len(content))


def body(retention: Retention, content: bytes) -> Change:
    stored = retention.blobs.store([content], sync=False)
    return Change("write", "/a", body=stored.sha256, before_size=stored.size)


def names(store: Store) -> list[str]:
    with store.read() as view:
        return [row["id"] for row in view.execute("SELECT id FROM receipts ORDER BY seq")]


def files(data: Path) -> int:
    return sum(path.is_file() for path in (data / "blobs").rglob("*"))


def test_events_go_by_age(store: Store, retain: Retain) -> None:
    with store.write() as tx:
        events.insert(tx, [event(at=days_ago(days)) for days in (31, 30.5, 29, 0)])
    assert retain(events_days=30).expire_events() == Removed("events", 2, 4)
    assert count(store) == 2


def test_events_go_by_number_in_small_steps(store: Store, retain: Retain) -> None:
    with store.write() as tx:
        events.insert(tx, [event(number) for number in range(1_000 + 3 * STEP)])
    assert retain(events_max=1_000).expire_events().count == 3 * STEP
    with store.read() as view:
        assert tuple(view.execute("SELECT min(duration_ms), count(*) FROM events").fetchone()) == (3 * STEP, 1_000)


def test_events_never_outgrow_their_number_though_nobody_collects(store: Store) -> None:
    keep = RetentionSettings(events_max=1_000)
    for number in range(1_300):
        with store.write() as tx:
            events.tend(tx, events.insert(tx, [event(number)]), 1, keep, NOW)
    assert 1_000 <= count(store) < 1_000 + events.TEND_EVERY


def test_groups_of_events_never_outgrow_their_number(store: Store) -> None:
    keep = RetentionSettings(events_max=1_000)
    for _ in range(8):
        with store.write() as tx:
            events.tend(tx, events.insert(tx, [event()] * 700), 700, keep, NOW)
    assert count(store) == 1_000


def test_receipts_go_by_age_with_their_changes_and_bodies(store: Store, data: Path, retain: Retain) -> None:
    retention = retain(receipts_days=90)
    receipt(store, "old", inline(b"12345"), body(retention, b"large"), days=91)
    receipt(store, "young", body(retention, b"young"), days=89)
    assert retention.expire_receipts() == Removed("receipts", 1, 10)
    assert (names(store), files(data)) == (["rcp_young"], 1)
    with store.read() as view:
        assert view.execute("SELECT count(*) FROM changes").fetchone()[0] == 1


def test_a_body_that_another_receipt_shares_stays(store: Store, retain: Retain) -> None:
    retention = retain()
    old, young = body(retention, b"shared"), body(retention, b"shared")
    receipt(store, "old", old, days=91)
    receipt(store, "young", young)
    retention.expire_receipts()
    assert young.body is not None
    assert retention.blobs.verify(young.body) == 6


def test_a_receipt_that_is_still_open_never_goes(store: Store, retain: Retain) -> None:
    receipt(store, "open", inline(b"12345"), days=1_000, state="intended")
    list(retain(backups_max_bytes=0).all())
    assert names(store) == ["rcp_open"]
    with store.read() as view:
        assert view.execute("SELECT backup FROM changes").fetchone()[0] == b"12345"


def test_the_oldest_backups_go_first_and_their_receipts_stay(store: Store, data: Path, retain: Retain) -> None:
    retention = retain(backups_max_bytes=10)
    gone = body(retention, b"12345")
    receipt(store, "a", gone)
    receipt(store, "b", inline(b"12345"))
    receipt(store, "c", inline(b"12345"), inline(b"67890"))
    assert retention.drop_backups() == Removed("backups", 2, 10)
    assert (names(store), files(data)) == (["rcp_a", "rcp_b", "rcp_c"], 0)
    with store.read() as view:
        assert receipts.backup_bytes(view) == 10
        assert [len(row[0]) for row in view.execute("SELECT backup FROM changes WHERE backup NOT NULL")] == [5, 5]
    assert gone.body is not None
    with pytest.raises(BackupMissing):
        retention.blobs.size(gone.body)


def test_backups_within_their_bytes_stay(store: Store, retain: Retain) -> None:
    receipt(store, "a", inline(b"12345"))
    assert retain(backups_max_bytes=5).drop_backups() == Removed("backups", 0, 0)


def test_expired_receipts_do_not_cost_young_ones_their_backups(store: Store, retain: Retain) -> None:
    receipt(store, "old", inline(b"12345"), days=91)
    receipt(store, "young", inline(b"12345"))
    dry = retain(backups_max_bytes=5, dry_run=True)
    assert (dry.expire_receipts().count, dry.drop_backups().count) == (1, 0)


def test_thousands_of_backups_go_in_small_steps(store: Store, retain: Retain) -> None:
    for number in range(STEP + 20):
        receipt(store, str(number), inline(b"1"))
    assert retain(backups_max_bytes=10).drop_backups().count == STEP + 10


def test_a_body_that_no_row_names_goes_after_a_while(data: Path, retain: Retain) -> None:
    retention = retain()
    body(retention, b"orphan")
    assert retain(now_ms=NOW - 2 * GRACE_MS).remove_orphans().count == 0
    assert retention.remove_orphans() == Removed("bodies", 1, 6)
    assert files(data) == 0


def test_the_trash_of_a_receipt_goes_with_it(store: Store, data: Path, retain: Retain) -> None:
    tree = data / "trash" / "rcp_old" / "0" / "sub"
    tree.mkdir(parents=True)
    (tree / "file").write_bytes(b"12345")
    (tree / "file").chmod(0o400)
    tree.chmod(0o500)
    receipt(store, "old", Change("move", "/a", other="trash:rcp_old/0", after_size=5), days=91)
    assert retain().expire_receipts() == Removed("receipts", 1, 5)
    assert os.listdir(data / "trash") == []


def test_trash_whose_receipt_is_gone_goes_after_a_while(store: Store, data: Path, retain: Retain) -> None:
    for name in ("rcp_kept", "rcp_gone"):
        (data / "trash" / name).mkdir(parents=True)
        (data / "trash" / name / "0").write_bytes(b"12345")
    receipt(store, "kept")
    assert retain(now_ms=NOW - 2 * GRACE_MS).empty_trash().count == 0
    assert retain().empty_trash() == Removed("trash", 1, 5)
    assert os.listdir(data / "trash") == ["rcp_kept"]


@needs_links
def test_no_link_in_the_trash_is_followed(data: Path, tmp_path: Path, store: Store, retain: Retain) -> None:  # noqa: ARG001
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_bytes(b"mine")
    (data / "trash" / "rcp_gone").mkdir(parents=True)
    (data / "trash" / "rcp_gone" / "0").symlink_to(outside, target_is_directory=True)
    retain().empty_trash()
    assert os.listdir(data / "trash") == []
    assert (outside / "file").read_bytes() == b"mine"


def test_what_killed_writers_left_goes_after_a_while(data: Path, store: Store, retain: Retain) -> None:  # noqa: ARG001
    (data / "blobs" / "new").mkdir(parents=True)
    (data / "blobs" / "new" / "abc").write_bytes(b"half")
    (data / "backup-x1").mkdir()
    (data / "backup-x1" / "copy").write_bytes(b"half a copy")
    assert retain(now_ms=NOW - 2 * GRACE_MS).remove_left_over().count == 0
    assert retain().remove_left_over() == Removed("left over", 2, 15)
    assert not (data / "backup-x1").exists()


def test_tracebacks_go_with_the_events_of_their_time(data: Path, store: Store, retain: Retain) -> None:  # noqa: ARG001
    (data / "crashes").mkdir()
    (data / "crashes" / "a.txt").write_bytes(b"trace")
    assert retain().remove_crashes().count == 0
    assert retain(now_ms=NOW + 31 * DAY_MS).remove_crashes() == Removed("crashes", 1, 5)


def test_a_dry_run_tells_what_would_go_and_removes_nothing(store: Store, data: Path, retain: Retain) -> None:
    retention = retain(backups_max_bytes=0)
    with store.write() as tx:
        events.insert(tx, [event(at=days_ago(31))])
    receipt(store, "old", body(retention, b"old"), days=91)
    receipt(store, "young", inline(b"young"))
    body(retention, b"orphan")
    told = list(retain(backups_max_bytes=0, dry_run=True).all())
    assert (count(store), names(store), files(data)) == (1, ["rcp_old", "rcp_young"], 2)
    assert list(retain(backups_max_bytes=0).all()) == told
    assert {each.kind: each.count for each in told if each.count} == {
        "events": 1,
        "receipts": 1,
        "backups": 1,
        "bodies": 1,
    }
    assert all(each.count == 0 for each in retain(backups_max_bytes=0).all())


def test_tending_removes_what_expired_meanwhile(store: Store, retain: Retain) -> None:
    receipt(store, "old", days=91)
    tend(retain(), number=1)
    assert names(store) == []


def test_lost_events_are_told_once(store: Store, data: Path) -> None:
    store.count_dropped(3)
    store.count_dropped(2)
    assert [dropped(str(data), clear=False), dropped(str(data), clear=True), dropped(str(data), clear=True)] == [
        5,
        5,
        0,
    ]


def artifact(
    store: Store, retention: Retention, name: str, content: bytes, days: float, *, pinned: bool = False
) -> str:
    """Keep an artifact that is so many days old; its body."""
    sha256 = retention.blobs.store([content], sync=False).sha256
    made = Artifact(
        id=f"art_{name}",
        at=days_ago(days),
        body=sha256,
        size=len(content),
        media_type="text/plain",
        operation="machine.exec",
        caller="shell",
        pinned=pinned,
    )
    path = os.path.join(retention.data_dir, "blobs", sha256[:2], sha256[2:])
    os.utime(path, (NOW / 1000 - days * 86_400,) * 2)
    with store.write() as tx:
        artifacts.insert(tx, made)
    return sha256


def artifact_names(store: Store) -> str:
    with store.read() as view:
        found = artifacts.page(view, before=NEWEST, limit=100)
    return " ".join(each.id.removeprefix("art_") for each in reversed(found))


def test_artifacts_go_by_age_with_their_bodies_unless_pinned(store: Store, data: Path, retain: Retain) -> None:
    retention = retain(artifacts_days=30)
    artifact(store, retention, "old", b"12345", 31)
    artifact(store, retention, "kept", b"1234567", 31, pinned=True)
    artifact(store, retention, "young", b"123456", 29)
    assert retain(artifacts_days=30, dry_run=True).expire_artifacts() == Removed("artifacts", 1, 5)
    assert retention.expire_artifacts() == Removed("artifacts", 1, 5)
    assert (artifact_names(store), files(data)) == ("kept young", 2)


def test_artifacts_go_by_quota_the_oldest_first_unless_pinned(store: Store, data: Path, retain: Retain) -> None:
    retention = retain(artifacts_max_bytes=10)
    for number, pinned in enumerate((False, True, False, False)):
        artifact(store, retention, f"n{number}", bytes([65 + number]) * 5, 20 - number, pinned=pinned)
    would = retain(artifacts_max_bytes=10, dry_run=True).drop_artifacts()
    assert would == retention.drop_artifacts() == Removed("artifacts above quota", 1, 5)
    assert (artifact_names(store), files(data)) == ("n1 n2 n3", 3)


def test_a_body_that_another_artifact_or_a_receipt_names_stays(store: Store, data: Path, retain: Retain) -> None:
    retention = retain()
    artifact(store, retention, "one", b"shared", 31)
    artifact(store, retention, "two", b"shared", 1)
    artifact(store, retention, "three", b"backup", 31)
    receipt(store, "r", body(retention, b"backup"))
    retention.expire_artifacts()
    assert (artifact_names(store), files(data)) == ("two", 2)
    assert retention.remove_orphans().count == 0


def test_a_receipt_leaves_the_body_of_an_artifact_alone(store: Store, data: Path, retain: Retain) -> None:
    retention = retain()
    artifact(store, retention, "one", b"shared", 1)
    receipt(store, "r", body(retention, b"shared"), days=91)
    assert retention.expire_receipts().count == 1
    assert files(data) == 1


def test_a_body_that_was_stored_again_meanwhile_outlives_its_artifact(store: Store, data: Path, retain: Retain) -> None:
    retention = retain()
    name = artifact(store, retention, "one", b"again", 31)
    retention.blobs.store([b"again"], sync=False)  # by somebody whose row is not there yet
    assert retention.expire_artifacts().count == 1
    assert retention.blobs.verify(name) == 5
    assert files(data) == 1
