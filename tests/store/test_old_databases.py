"""Every database that a release left behind opens for ever, with all that is in it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from hearth import __version__, dispatch
from hearth.containment import Root
from hearth.model import State
from hearth.platforms.local import local_host
from hearth.runtime import Runtime
from hearth.settings import Settings
from hearth.store import receipts
from hearth.store.database import FILE_NAME, SCHEMA_VERSION, Store
from tests.store.make_database import CALLS, DATA, WORK

OLD = tuple(sorted(DATA.glob("hearth-*.sqlite3")))
TABLES = "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE sql NOT NULL ORDER BY type, name"


@pytest.fixture(params=OLD, ids=[path.stem for path in OLD])
def old(request: pytest.FixtureRequest, data: Path, tmp_path: Path) -> Iterator[Runtime]:
    """A runtime whose data directory holds the database of an old release."""
    data.mkdir(parents=True)
    shutil.copy(request.param, data / FILE_NAME)
    work = tmp_path / "work"
    work.mkdir()
    made = Runtime(host=local_host(), settings=Settings(), data_dir=str(data), roots=(Root(str(work)),), base=str(work))
    yield made
    made.close()


def test_this_release_has_left_one() -> None:
    assert DATA / f"hearth-{__version__.rpartition('.')[0]}.sqlite3" in OLD


def test_it_gets_the_schema_of_today(old: Runtime, tmp_path: Path) -> None:
    new = Runtime(host=local_host(), settings=Settings(), data_dir=str(tmp_path / "new"), roots=(), base=str(tmp_path))
    assert schema(old.store) == schema(new.store), (
        "before the release: `python -m tests.store.make_database`; after it: the change needs a migration of its own"
    )
    new.close()


def schema(store: Store) -> list[tuple[str, ...]]:
    with store.read() as view:
        assert view.execute("PRAGMA user_version").fetchone()[0] == SCHEMA_VERSION
        return [tuple(row) for row in view.execute(TABLES)]


def test_its_events_are_there(old: Runtime) -> None:
    with old.store.read() as view:
        found = [tuple(row) for row in view.execute("SELECT operation, state, error FROM events ORDER BY id")]
    assert [operation for operation, _, _ in found[: len(CALLS)]] == [name for name, _ in CALLS]
    assert found[5] == ("fs.stat", "blocked", "not_found")


def test_its_receipts_and_their_old_content_are_there(old: Runtime) -> None:
    with old.store.read() as view:
        found = receipts.page(view, before=1 << 62, limit=10)
        (first,) = receipts.page(view, path=f"{WORK}/sub/new.txt", before=1 << 62, limit=10)
        contents = [change.backup for each in found for change in receipts.changes_of(view, each.seq)]
    assert len(found) == 4
    assert (first.operation, first.state, first.conversation) == ("fs.write", "applied", "example")
    assert b"first\n" in contents


def test_it_is_whole_and_can_be_worked_with(old: Runtime, tmp_path: Path) -> None:
    (tmp_path / "work" / "a").write_bytes(b"before")
    done = dispatch.call_json(old, "fs.write", {"path": "a", "data": "after"})
    assert (done.state, done.error) == (State.COMPLETED, None)
    checked = dispatch.call_json(old, "self.db_check", {"full": True})
    assert (checked.state, checked.result.problems) == (State.COMPLETED, ())
