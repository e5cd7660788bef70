from __future__ import annotations

import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hearth.clock import Clock
from hearth.errors import (
    DatabaseBusy,
    DatabaseDamaged,
    DatabaseError,
    DatabaseForeign,
    DatabaseGone,
    DatabaseReadOnly,
    DatabaseTooNew,
)
from hearth.platforms.local import local_host
from hearth.store import creation, events
from hearth.store.database import (
    FILE_NAME,
    KEPT_WAL_BYTES,
    MAX_READERS,
    SCHEMA_VERSION,
    Store,
    file_uri,
    open_store,
    switch_to_wal,
    transaction,
)
from tests.marks import posix_only
from tests.store.rows import count, event


def reopened(data: Path, notices: list[str] | None = None) -> Store:
    return open_store(local_host(), str(data), Clock(), None if notices is None else notices.append)


def test_a_new_database_says_whose_it_is_and_waits_in_wal_mode(store: Store) -> None:
    with store.read() as view:
        facts = [view.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "user_version")]
        mode = view.execute("PRAGMA journal_mode").fetchone()[0]
    assert (facts, mode) == ([0x48525448, SCHEMA_VERSION], "wal")


def test_making_a_database_leaves_no_file_behind_but_its_own(store: Store, data: Path) -> None:
    store.close()
    assert set(os.listdir(data)) <= {FILE_NAME, FILE_NAME + "-wal", FILE_NAME + "-shm", ".gitignore", "hearth.lock"}
    assert (data / ".gitignore").read_text(encoding="ascii") == "*\n"


@pytest.mark.skipif(os.name == "nt", reason="Windows keeps strangers out by inherited ACL, not by mode")
def test_nobody_else_may_read_the_data_directory(store: Store, data: Path) -> None:  # noqa: ARG001
    assert (data.stat().st_mode & 0o777, (data / FILE_NAME).stat().st_mode & 0o777) == (0o700, 0o600)


def test_a_half_made_database_of_a_killed_process_is_made_anew(data: Path) -> None:
    data.mkdir(parents=True)
    for name in (FILE_NAME + ".new", FILE_NAME + ".new-journal"):
        (data / name).write_bytes(b"half")
    store = reopened(data)
    assert count(store) == 0
    store.close()
    assert not list(data.glob("*.new*"))


def test_an_empty_file_becomes_a_database(data: Path) -> None:
    data.mkdir(parents=True)
    (data / FILE_NAME).touch()
    store = reopened(data)
    assert count(store) == 0
    store.close()


def test_an_event_survives_closing_and_the_next_process_sees_it(store: Store, data: Path) -> None:
    with store.write() as tx:
        events.insert(tx, [event()])
    store.close()
    again = reopened(data)
    assert count(again) == 1
    again.close()


def test_closing_twice_is_closing_once(store: Store) -> None:
    with store.write() as tx:
        events.insert(tx, [event()])
    store.close()
    store.close()


def test_a_short_log_stays_when_the_last_connection_closes(store: Store, data: Path) -> None:
    with store.write() as tx:
        events.insert(tx, [event()])
    store.close()
    assert (data / (FILE_NAME + "-wal")).stat().st_size > 0


def test_a_long_log_is_folded_into_the_database_at_closing(store: Store, data: Path) -> None:
    with store.write() as tx:
        events.insert(tx, [event(number) for number in range(5_000)])
    assert (data / (FILE_NAME + "-wal")).stat().st_size > KEPT_WAL_BYTES
    store.close()
    assert not (data / (FILE_NAME + "-wal")).exists()
    again = reopened(data)
    assert count(again) == 5_000
    again.close()


def test_a_failed_transaction_leaves_nothing(store: Store) -> None:
    with pytest.raises(RuntimeError), store.write() as tx:
        events.insert(tx, [event()])
        raise RuntimeError
    assert count(store) == 0


def test_a_writer_that_may_not_wait_gives_up_at_once_while_another_process_writes(store: Store) -> None:
    other = sqlite3.connect(store.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(DatabaseBusy), store.write(wait_ms=0):
        pytest.fail("the lock was taken twice")
    other.execute("ROLLBACK")
    other.close()
    with store.write(wait_ms=0) as tx:
        events.insert(tx, [event()])


def test_a_writer_that_may_not_wait_gives_up_at_once_while_another_thread_writes(store: Store) -> None:
    refused = threading.Event()

    def second() -> None:
        try:
            with store.write(wait_ms=0):
                pass
        except DatabaseBusy:
            refused.set()

    with store.write():
        thread = threading.Thread(target=second)
        thread.start()
        thread.join(timeout=5)
    assert refused.is_set()


def test_only_a_durable_transaction_waits_for_the_disk(store: Store) -> None:
    def synchronous(tx: sqlite3.Connection) -> int:
        return int(tx.execute("PRAGMA synchronous").fetchone()[0])

    with store.write(durable=True) as tx:
        during = synchronous(tx)
    with store.write() as tx:
        after = synchronous(tx)
    assert (during, after) == (2, 1)


def test_a_view_stays_the_same_while_others_write(store: Store) -> None:
    with store.read() as view:
        before = view.execute("SELECT count(*) FROM events").fetchone()[0]
        with store.write() as tx:
            events.insert(tx, [event()])
        assert view.execute("SELECT count(*) FROM events").fetchone()[0] == before
    assert count(store) == before + 1


def test_a_reader_cannot_write(store: Store) -> None:
    with pytest.raises(DatabaseReadOnly), store.read() as view:
        events.insert(view, [event()])


def test_a_fifth_reader_waits_for_one_of_the_four(store: Store) -> None:
    inside, leave, started = threading.Barrier(MAX_READERS + 1), threading.Event(), threading.Event()
    done = threading.Event()

    def hold() -> None:
        with store.read():
            inside.wait(5)
            leave.wait(5)

    def fifth() -> None:
        started.set()
        count(store)
        done.set()

    threads = [threading.Thread(target=hold) for _ in range(MAX_READERS)]
    for thread in threads:
        thread.start()
    inside.wait(5)
    last = threading.Thread(target=fifth)
    last.start()
    assert started.wait(5)
    assert not done.wait(0.05)
    leave.set()
    for thread in (*threads, last):
        thread.join(timeout=5)
    assert done.is_set()


def test_a_newer_database_is_named_and_left_alone(store: Store, data: Path) -> None:
    with store.write() as tx:
        tx.execute(f"PRAGMA user_version = {SCHEMA_VERSION + 1}")
    store.close()
    with pytest.raises(DatabaseTooNew, match=f"schema {SCHEMA_VERSION + 1}"):
        reopened(data)


def test_a_foreign_database_is_named_and_left_alone(data: Path) -> None:
    data.mkdir(parents=True)
    with closing(sqlite3.connect(data / FILE_NAME, isolation_level=None)) as other:
        other.execute("CREATE TABLE theirs (x)")
    other.close()
    before = (data / FILE_NAME).read_bytes()
    with pytest.raises(DatabaseForeign):
        reopened(data)
    assert (data / FILE_NAME).read_bytes() == before


@pytest.mark.parametrize("content", [b"no database at all" * 100, b"SQLite format 3\0" + b"\xff" * 4080])
def test_a_damaged_database_is_named_and_left_alone(data: Path, content: bytes) -> None:
    data.mkdir(parents=True)
    (data / FILE_NAME).write_bytes(content)
    with pytest.raises((DatabaseDamaged, DatabaseForeign)):
        reopened(data)
    assert (data / FILE_NAME).read_bytes() == content


def test_pages_that_were_overwritten_are_told_as_damage(store: Store, data: Path) -> None:
    with store.write() as tx:
        events.insert(tx, [event(number) for number in range(5_000)])
    store.close()
    with open(data / FILE_NAME, "r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 4096 * 20)
    with pytest.raises(DatabaseDamaged):
        again = reopened(data)
        try:
            with again.read() as view:
                view.execute("SELECT * FROM events").fetchall()
        finally:
            again.close()


def test_a_database_of_v0_is_told_once_and_never_touched(data: Path) -> None:
    data.mkdir(parents=True)
    (data / "hearth.db").write_bytes(b"v0")
    notices: list[str] = []
    for _ in range(2):
        reopened(data, notices).close()
    assert len(notices) == 1
    assert "hearth v0" in notices[0]
    assert (data / "hearth.db").read_bytes() == b"v0"


def test_a_file_where_the_data_directory_should_be_is_an_error(data: Path) -> None:
    data.parent.mkdir(parents=True)
    data.write_bytes(b"")
    with pytest.raises(DatabaseReadOnly):
        reopened(data)


def test_a_database_that_left_wal_mode_is_brought_back(store: Store, data: Path) -> None:
    store.close()
    with closing(sqlite3.connect(data / FILE_NAME, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = DELETE")
    other.close()
    again = reopened(data)
    with again.read() as view:
        assert view.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    again.close()


@posix_only("SQLite has a way without shared memory there, as some network shares have none")
def test_where_there_is_no_shared_memory_the_database_keeps_its_old_mode_and_works(tmp_path: Path) -> None:
    uri = file_uri(str(tmp_path / "a"), "vfs=unix-dotfile")
    with closing(sqlite3.connect(uri, uri=True, isolation_level=None)) as connection:
        assert not switch_to_wal(connection)
        with transaction(connection):
            creation.migrate(connection, "a")
            events.insert(connection, [event()])
        assert connection.execute("SELECT count(*) FROM events").fetchone()[0] == 1


def test_a_database_without_a_log_is_told_when_it_is_made(data: Path) -> None:
    assert list(creation._remarks(str(data), True)) == []
    assert ["no write-ahead log" in text for text in creation._remarks(str(data), False)] == [True]


def test_a_database_that_cannot_leave_its_old_mode_now_works_in_it(store: Store, data: Path) -> None:
    store.close()
    with closing(sqlite3.connect(data / FILE_NAME, isolation_level=None)) as other:
        other.execute("PRAGMA journal_mode = DELETE")
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM events").fetchone()
        started = time.monotonic()
        again = reopened(data)
        assert time.monotonic() - started < 3  # the usual wait is ten seconds
        assert count(again) == 0
        other.execute("ROLLBACK")
        with again.write() as tx:
            events.insert(tx, [event()])
        assert count(again) == 1
        again.close()


@pytest.mark.parametrize("name", ["100% sure?", "a#b", "naïve ü"])
def test_a_data_directory_may_have_any_name(tmp_path: Path, name: str) -> None:
    if os.name == "nt":
        name = name.replace("?", "")
    store = reopened(tmp_path / name)
    with store.write() as tx:
        events.insert(tx, [event()])
    store.close()
    again = reopened(tmp_path / name)
    assert count(again) == 1
    again.close()
    assert set(os.listdir(tmp_path)) == {name, "home"}


def replace_by_another(data: Path) -> None:
    for name in (FILE_NAME, FILE_NAME + "-wal", FILE_NAME + "-shm"):
        (data / name).unlink(missing_ok=True)
    with closing(reopened(data)) as other:
        assert other.path == str(data / FILE_NAME)


@posix_only("Windows lets nobody move or delete a file that SQLite has open")
@pytest.mark.parametrize(
    "meddle",
    [
        lambda data: data.rename(data.with_name("elsewhere")),
        lambda data: shutil.rmtree(data),
        lambda data: (data / FILE_NAME).unlink(),
        replace_by_another,
    ],
    ids=["moved", "deleted", "only the file", "replaced"],
)
def test_a_database_that_was_taken_away_is_neither_read_nor_written(
    store: Store, data: Path, meddle: Callable[[Path], object]
) -> None:
    with store.write() as tx:
        events.insert(tx, [event()])
    meddle(data)
    with pytest.raises(DatabaseGone), store.read():
        pytest.fail("it was read")
    with pytest.raises(DatabaseGone), store.write():
        pytest.fail("it was written")


def test_closing_waits_for_the_transaction_of_another_thread_and_refuses_later_ones(store: Store) -> None:
    began, go = threading.Event(), threading.Event()

    def write() -> None:
        with store.write() as tx:
            began.set()
            go.wait(5)
            events.insert(tx, [event()])

    writing = threading.Thread(target=write)
    writing.start()
    assert began.wait(5)
    closing_ = threading.Thread(target=store.close)
    closing_.start()
    closing_.join(0.05)
    assert closing_.is_alive()
    go.set()
    for thread in (writing, closing_):
        thread.join(5)
    with pytest.raises(DatabaseError, match="was closed"), store.write():
        raise AssertionError
    with pytest.raises(DatabaseError, match="was closed"), store.read():
        raise AssertionError
    again = reopened(Path(store.path).parent)
    with closing(again):
        assert count(again) == 1


def test_a_database_that_is_refused_for_a_moment_is_opened_for_writing(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect, refusals = Store._connect, [sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY]

    def refused(self: Store, **options: Any) -> sqlite3.Connection:
        if refusals:
            error = sqlite3.OperationalError("unable to open database file")
            error.sqlite_errorcode = refusals.pop()
            raise error
        return connect(self, **options)

    monkeypatch.setattr(Store, "_connect", refused)
    with closing(Store(store.path, store.clock)) as again, again.write() as tx:
        events.insert(tx, [event()])
    assert refusals == []
