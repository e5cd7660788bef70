"""Opening the database, and the transactions in it.

WAL mode, one writer connection in a process (other processes are waited for by SQLite's own busy handler), at most
four readers. A service opens the transaction; the modules of table groups hold the SQL and never commit.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from collections.abc import Iterator
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from hearth.errors import (
    DatabaseBusy,
    DatabaseDamaged,
    DatabaseError,
    DatabaseForeign,
    DatabaseReadOnly,
    DatabaseTooNew,
    NoSpace,
    SqliteTooOld,
)

if TYPE_CHECKING:
    from hearth.clock import Clock
    from hearth.platforms.base import Host

FILE_NAME = "hearth.sqlite3"
APPLICATION_ID = 0x48525448  # "HRTH"
BUSY_TIMEOUT_MS = 10_000
MAX_READERS = 4
OLDEST_SQLITE = (3, 37, 0)
SCHEMA_VERSION = 1  # how many migrations there are; a test counts them


def open_store(host: Host, data_dir: str, clock: Clock) -> Store:
    """Open, and if need be make or migrate, the database of a data directory. Raises `DatabaseError`."""
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        raise SqliteTooOld(f"SQLite {sqlite3.sqlite_version} is too old: hearth needs 3.37 or newer")
    _prepare_directory(host, data_dir)
    store = Store(os.path.join(data_dir, FILE_NAME), clock)
    try:
        store.migrate()
    except BaseException:
        store.close()
        raise
    return store


def _prepare_directory(host: Host, data_dir: str) -> None:
    ignore = os.path.join(data_dir, ".gitignore")
    if os.path.exists(ignore):
        return
    try:
        host.make_private_directory(data_dir)
        with open(ignore, "w", encoding="ascii", newline="\n") as file:
            file.write("*\n")
    except FileExistsError:
        raise DatabaseReadOnly(f"{data_dir} is no directory") from None
    except OSError as error:
        # An existing directory that cannot be written may still hold a database that can be read.
        if not os.path.exists(os.path.join(data_dir, FILE_NAME)):
            raise DatabaseReadOnly(f"the data directory {data_dir} cannot be written: {error.strerror}") from error


@contextlib.contextmanager
def translated(path: str) -> Iterator[None]:
    """Turn SQLite's errors into the ones that a user meets."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise _meaning(error, path) from error


def _meaning(error: sqlite3.DatabaseError, path: str) -> DatabaseError | NoSpace:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return DatabaseBusy(f"{path} stayed locked by other processes for {BUSY_TIMEOUT_MS} ms")
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return DatabaseDamaged(f"{path} is damaged: {error}")
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return DatabaseReadOnly(f"{path} cannot be written: {error}")
    if code == sqlite3.SQLITE_FULL:
        return NoSpace(f"the disk of {path} is full")
    return DatabaseError(f"{path}: {error}")


class Store:
    """One process's connections to the database."""

    def __init__(self, path: str, clock: Clock) -> None:
        self.path = path
        self.clock = clock
        self._writing = threading.RLock()
        self._readers: SimpleQueue[sqlite3.Connection] = SimpleQueue()
        self._reader_slots = threading.BoundedSemaphore(MAX_READERS)
        with translated(path):
            self._writer = self._connect()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self.path, timeout=BUSY_TIMEOUT_MS / 1000, isolation_level=None, check_same_thread=False
        )
        connection.row_factory = sqlite3.Row
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_READONLY:
                raise
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = NORMAL")
        return connection

    @contextlib.contextmanager
    def write(self, *, durable: bool = False, wait: bool = True) -> Iterator[sqlite3.Connection]:
        """A write transaction. `durable` returns only once it survives a power cut; without `wait`, a database
        that another process is writing raises `DatabaseBusy` at once."""
        with self._writing, translated(self.path):
            connection = self._writer
            if not wait:
                connection.execute("PRAGMA busy_timeout = 0")
            if durable:
                connection.execute("PRAGMA synchronous = FULL")
            try:
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            finally:
                if durable:
                    connection.execute("PRAGMA synchronous = NORMAL")
                if not wait:
                    connection.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT_MS}")

    @contextlib.contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """A view of one moment, on one of at most four connections."""
        with self._reader_slots, translated(self.path):
            try:
                connection = self._readers.get_nowait()
            except Empty:
                connection = self._connect()
            try:
                connection.execute("BEGIN")
                yield connection
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                self._readers.put(connection)

    def migrate(self) -> None:
        """Bring the schema to this version. Raises `DatabaseTooNew`, `DatabaseForeign`, `DatabaseDamaged`."""
        with translated(self.path):
            version = self._version()
        if version < SCHEMA_VERSION:
            with self.write(durable=True) as tx:
                # Another process may have migrated while this one waited for the lock.
                for script in migrations()[self._version() :]:
                    for statement in statements(script):
                        tx.execute(statement)
                tx.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                tx.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")

    def _version(self) -> int:
        (application,) = self._writer.execute("PRAGMA application_id").fetchone()
        (version,) = self._writer.execute("PRAGMA user_version").fetchone()
        (tables,) = self._writer.execute("SELECT count(*) FROM sqlite_schema").fetchone()
        if application != APPLICATION_ID and (application or version or tables):
            raise DatabaseForeign(f"{self.path} was not made by this hearth", hint="use another --data-dir")
        if version > SCHEMA_VERSION:
            raise DatabaseTooNew(f"{self.path} has schema {version}, this hearth knows {SCHEMA_VERSION}")
        return int(version)

    def close(self) -> None:
        while True:
            try:
                self._readers.get_nowait().close()
            except Empty:
                break
        self._writer.close()


def migrations() -> tuple[str, ...]:
    """The migration scripts in order; the n-th brings the schema to version n."""
    folder = os.path.join(os.path.dirname(__file__), "migrations")
    scripts = []
    for name in sorted(name for name in os.listdir(folder) if name.endswith(".sql")):
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            scripts.append(file.read())
    return tuple(scripts)


def statements(script: str) -> Iterator[str]:
    """The statements of a script; `executescript` would commit the transaction that it runs in."""
    pending = ""
    for line in script.splitlines(keepends=True):
        pending += line
        if sqlite3.complete_statement(pending):
            yield pending
            pending = ""
