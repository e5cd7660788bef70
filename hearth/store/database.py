"""Opening the database, and the transactions in it.

WAL mode, one writer connection in a process (other processes are waited for by SQLite's own busy handler), at most
four readers. A service opens the transaction; the modules of table groups hold the SQL and never commit.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import sys
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from hearth.errors import (
    DatabaseBusy,
    DatabaseDamaged,
    DatabaseError,
    DatabaseForeign,
    DatabaseGone,
    DatabaseReadOnly,
    DatabaseTooNew,
    NoSpace,
    SqliteTooOld,
)

if TYPE_CHECKING:
    from hearth.clock import Clock
    from hearth.platforms.base import Host
    from hearth.settings import RetentionSettings
    from hearth.store.event_queue import EventQueue

FILE_NAME = "hearth.sqlite3"
APPLICATION_ID = 0x48525448  # "HRTH"
BUSY_TIMEOUT_MS = 10_000
SWITCH_WAIT_MS = 100
REFUSALS = (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY)
FIRST_PAUSES_S = (0.01, 0.03, 0.1)  # between looks at a database that cannot be opened where it could be written
CANNOT_SWITCH = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN)
NO_SHARED_MEMORY = (
    sqlite3.SQLITE_IOERR_SHMOPEN,
    sqlite3.SQLITE_IOERR_SHMSIZE,
    sqlite3.SQLITE_IOERR_SHMLOCK,
    sqlite3.SQLITE_IOERR_SHMMAP,
)
MAX_READERS = 4
OLDEST_SQLITE = (3, 37, 0)
SCHEMA_VERSION = 5  # how many migrations there are; a test counts them
DROPPED_NAME = "events-dropped"  # beside the database: one byte for each event that a busy database lost
KEPT_WAL_BYTES = 256 * 1024  # a longer log is worth the two syncs that folding it into the database takes


def open_store(
    host: Host,
    data_dir: str,
    clock: Clock,
    notice: Callable[[str], None] | None = None,
    *,
    wait_ms: int = BUSY_TIMEOUT_MS,
) -> Store:
    """Open, and if need be make or migrate, the database of a data directory. Raises `DatabaseBusy` when that has to
    wait longer than `wait_ms`, another `DatabaseError`, `NoSpace`."""
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        raise SqliteTooOld(f"SQLite {sqlite3.sqlite_version} is too old: hearth needs 3.37 or newer")
    path = os.path.join(data_dir, FILE_NAME)
    if not os.path.exists(path):
        from hearth.store import creation

        creation.create(host, data_dir, notice, wait_ms=wait_ms)
    store = Store(path, clock, wait_ms=wait_ms)
    try:
        store.prepare(wait_ms)
    except BaseException:
        store.close()
        raise
    return store


@contextlib.contextmanager
def translated(path: str) -> Iterator[None]:
    """Turn SQLite's errors into the ones that a user meets."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise _meaning(error, path) from error


def _meaning(error: sqlite3.DatabaseError, path: str) -> DatabaseError | NoSpace:
    code = code_of(error)
    if os.path.isdir(path):
        return DatabaseForeign(f"{path} is a directory", hint="move it away, or use another --data-dir")
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL):
        return DatabaseBusy(f"{path} is locked by other processes")
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return DatabaseDamaged(f"{path} is damaged: {error}")
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return DatabaseReadOnly(f"{path} cannot be written: {error}")
    if code == sqlite3.SQLITE_FULL:
        return NoSpace(f"the disk of {path} is full")
    return DatabaseError(f"{path}: {error}")


def code_of(error: sqlite3.DatabaseError) -> int:
    """SQLite's primary result code; Python's own complaints have none."""
    return getattr(error, "sqlite_errorcode", 0) & 0xFF


class Store:
    """One process's connections to the database."""

    def __init__(self, path: str, clock: Clock, *, wait_ms: int = BUSY_TIMEOUT_MS) -> None:
        self.path = path
        self.clock = clock
        self._writing = threading.RLock()
        self._readers: list[sqlite3.Connection] = []  # the idle ones
        self._reader_slots = threading.BoundedSemaphore(MAX_READERS)
        self._making_queue = threading.Lock()
        self._events: EventQueue | None = None
        self._late: list[Callable[[sqlite3.Connection], None]] = []
        self._busy_ms = wait_ms  # that the writer waits
        self._closed = False
        self._address = path
        with translated(path):
            self._writer = self._connect_somehow(wait_ms)
        try:
            self._file = _file_under(path)
        except DatabaseError:
            self._writer.close()
            raise

    def _connect_somehow(self, wait_ms: int) -> sqlite3.Connection:
        try:
            return self._connect_patiently(wait_ms)
        except sqlite3.OperationalError as error:
            # WAL needs two files beside the database. Where they can't be made and no log is left over, nobody
            # can be writing, so the file may be read as if it never changed.
            log = self.path + "-wal"
            if code_of(error) not in REFUSALS or (os.path.exists(log) and os.path.getsize(log)):
                raise
        self._address = file_uri(self.path, "mode=ro&immutable=1")
        return self._connect()

    def _connect_patiently(self, wait_ms: int) -> sqlite3.Connection:
        """Where this process may write, a refusal may be of the moment in which another one makes the log's files."""
        for pause in FIRST_PAUSES_S:
            try:
                return self._connect(wait_ms=wait_ms)
            except sqlite3.OperationalError as error:
                if code_of(error) not in REFUSALS or not os.access(os.path.dirname(self.path), os.W_OK):
                    raise
                self.clock.sleep(pause)
        return self._connect(wait_ms=wait_ms)

    def _connect(self, *, query_only: bool = False, wait_ms: int = BUSY_TIMEOUT_MS) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._address,
            timeout=wait_ms / 1000,
            isolation_level=None,
            check_same_thread=False,
            uri=self._address is not self.path,
        )
        connection.row_factory = sqlite3.Row
        try:
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA foreign_keys = ON")
            if query_only:
                connection.execute("PRAGMA query_only = ON")
        except BaseException:
            connection.close()
            raise
        return connection

    def prepare(self, wait_ms: int = BUSY_TIMEOUT_MS) -> None:
        """Check whose file it is, and bring it to this version's schema. Raises `DatabaseTooNew`,
        `DatabaseForeign`, `DatabaseDamaged`, `DatabaseReadOnly`."""
        with translated(self.path):
            version = version_of(self._writer, self.path)
            if self._writer.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                switch_to_wal(self._writer)
            self._busy_ms = -1  # the switch has a time of its own
            self._wait(BUSY_TIMEOUT_MS)
        if version < SCHEMA_VERSION:
            from hearth.store import creation

            with self.write(durable=True, wait_ms=wait_ms) as tx:
                creation.migrate(tx, self.path)

    @contextlib.contextmanager
    def write(self, *, durable: bool = False, wait_ms: int = BUSY_TIMEOUT_MS) -> Iterator[sqlite3.Connection]:
        """A write transaction. `durable` returns only once it survives a power cut. Raises `DatabaseBusy` when
        other threads and processes still write after `wait_ms`, `DatabaseGone` when it is not that of the path any
        more."""
        if not self._writing.acquire(timeout=wait_ms / 1000):
            raise DatabaseBusy(f"{self.path} is being written by another thread")
        try:
            self._refuse_closed()
            self._refuse_another_file()
            with translated(self.path):
                self._wait(wait_ms)
                if durable:
                    self._writer.execute("PRAGMA synchronous = FULL")
                late, self._late = self._late, []
                try:
                    with transaction(self._writer):
                        for act in late:
                            act(self._writer)
                        yield self._writer
                except BaseException:
                    self._late = late + self._late
                    raise
                finally:
                    if durable:
                        self._writer.execute("PRAGMA synchronous = NORMAL")
        finally:
            self._writing.release()

    def _wait(self, wait_ms: int) -> None:
        """Have the writer wait so long from now on for others who write."""
        if self._busy_ms != wait_ms:
            self._writer.execute(f"PRAGMA busy_timeout = {wait_ms}")
            self._busy_ms = wait_ms

    def defer(self, act: Callable[[sqlite3.Connection], None]) -> None:
        """Do `act` at the beginning of this process's next write transaction, and no later than its next read or the
        end: for what may get lost with the process, but is worth no transaction of its own."""
        self._late.append(act)

    def _refuse_another_file(self) -> None:
        """Raise `DatabaseGone` where the path leads to another file than the one that is open. What is stored in that
        is seen by nobody any more, and a connection that is opened now would be one to the other."""
        if _file_under(self.path) != self._file:
            raise DatabaseGone(f"{self.path} was moved, deleted or replaced while it was in use")

    def _catch_up(self) -> None:
        if self._late:
            with self.write():
                """What was deferred is done by any transaction."""

    @contextlib.contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A view of one moment, on one of at most four connections. Raises `DatabaseBusy` when none gets free, and
        like `write` `DatabaseGone`."""
        self._refuse_closed()
        self._refuse_another_file()
        self._catch_up()
        if not self._reader_slots.acquire(timeout=BUSY_TIMEOUT_MS / 1000):
            raise DatabaseBusy(f"{MAX_READERS} threads already read {self.path}")
        try:
            with translated(self.path):
                connection = self._idle_reader() or self._connect(query_only=True)
                try:
                    connection.execute("BEGIN")
                    yield connection
                finally:
                    if connection.in_transaction:
                        connection.execute("ROLLBACK")
                    self._readers.append(connection)
        finally:
            self._reader_slots.release()

    def _idle_reader(self) -> sqlite3.Connection | None:
        try:
            return self._readers.pop()
        except IndexError:
            return None

    def vacuum(self) -> None:
        """Write the database anew without its free pages, and fold the log into it."""
        with self._writing, translated(self.path):
            self._wait(BUSY_TIMEOUT_MS)
            self._writer.execute("VACUUM")
            self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def event_queue(self, keep: RetentionSettings) -> EventQueue:
        """Where a long-lived process puts the events of its reads."""
        with self._making_queue:
            if self._events is None:
                from hearth.store.event_queue import EventQueue

                self._events = EventQueue(self, keep)
            return self._events

    def count_dropped(self, number: int) -> None:
        count_dropped(os.path.dirname(self.path), number)

    def close(self) -> None:
        """Store the events that wait, and close. A short log stays beside the database for the next process.
        Closing twice is closing once. What other threads then still begin is refused."""
        if self._closed:
            return
        if self._events is not None:
            self._events.close()
        with contextlib.suppress(DatabaseError, NoSpace):
            self._catch_up()
        # SQLite crashes the process where a connection is closed in the midst of a statement of another thread.
        held = self._writing.acquire(timeout=BUSY_TIMEOUT_MS / 1000)
        self._closed = True
        while reader := self._idle_reader():
            reader.close()
        in_place = False
        with contextlib.suppress(DatabaseError):
            in_place = _file_under(self.path) == self._file
        if held:
            with _log_kept(self._writer, self.path) if in_place else contextlib.nullcontext():
                self._writer.close()
            self._writing.release()

    def _refuse_closed(self) -> None:
        if self._closed:
            raise DatabaseError(f"{self.path} was closed")


def _file_under(path: str) -> tuple[int, int] | None:
    """Which file a path leads to; None where there is none. Raises `DatabaseError` when the system does not tell."""
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise DatabaseError(f"{path} cannot be looked at: {error.strerror}") from error
    return found.st_dev, found.st_ino


def count_dropped(data_dir: str, number: int) -> None:
    """Remember that events were lost, across processes and without a lock; `hearth gc` tells and clears it."""
    with contextlib.suppress(OSError), open(os.path.join(data_dir, DROPPED_NAME), "ab", buffering=0) as file:
        file.write(b"." * number)


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing, and the lock from the start, so that it is waited for where nothing was read yet."""
    try:
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def switch_to_wal(connection: sqlite3.Connection) -> bool:
    """Whether the database now has a write-ahead log. Without one everything works, but readers and writers wait for
    each other. The switch needs the database for itself: while others read it, the next process may do it; where the
    file system has no shared memory (some network shares), nobody can."""
    connection.execute(f"PRAGMA busy_timeout = {SWITCH_WAIT_MS}")
    try:
        return bool(connection.execute("PRAGMA journal_mode = WAL").fetchone()[0] == "wal")
    except sqlite3.OperationalError as error:
        if code_of(error) not in CANNOT_SWITCH and error.sqlite_errorcode not in NO_SHARED_MEMORY:
            raise
        return False


def version_of(connection: sqlite3.Connection, path: str) -> int:
    """The schema version of hearth's own database, 0 when it is empty. Raises `DatabaseForeign`, `DatabaseTooNew`."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION_ID:
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        if application or version or tables:
            raise DatabaseForeign(f"{path} was not made by this hearth", hint="use another --data-dir")
    if version > SCHEMA_VERSION:
        raise DatabaseTooNew(f"{path} has schema {version}, this hearth knows {SCHEMA_VERSION}")
    return int(version)


def file_uri(path: str, parameters: str) -> str:
    """SQLite's URI of an absolute path: https://sqlite.org/uri.html"""
    escaped = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    if os.name == "nt":
        escaped = escaped.replace("\\", "/")
        escaped = escaped if escaped.startswith("//") else f"/{escaped}"  # a share, a drive
    return f"file://{escaped}?{parameters}"


@contextlib.contextmanager
def _log_kept(connection: sqlite3.Connection, path: str) -> Iterator[None]:
    """Closing the last connection folds the log into the database, which costs two syncs. For the one row of a
    one-shot command that is most of its time, so a short log is left for later."""
    try:
        keep = 0 < os.path.getsize(path + "-wal") <= KEPT_WAL_BYTES
    except OSError:
        keep = False
    if not keep:
        yield
    elif sys.version_info >= (3, 12):
        connection.setconfig(sqlite3.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, True)
        yield
    else:
        # Before Python 3.12: the last one to close may only read, so it can't fold.
        with contextlib.closing(sqlite3.connect(file_uri(path, "mode=ro"), uri=True)) as last:
            with contextlib.suppress(sqlite3.DatabaseError):
                last.execute("PRAGMA user_version").fetchone()
            yield
