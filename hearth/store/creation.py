"""Making a new database, and bringing an old one to this version's schema."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from hearth.errors import DatabaseBusy, DatabaseError, Locked, from_data_dir
from hearth.store.database import (
    APPLICATION_ID,
    BUSY_TIMEOUT_MS,
    FILE_NAME,
    SCHEMA_VERSION,
    switch_to_wal,
    transaction,
    translated,
    version_of,
)

if TYPE_CHECKING:
    from hearth.platforms.base import Host

LOCK_NAME = "hearth.lock"
V0_NAME = "hearth.db"


def create(
    host: Host, data_dir: str, notice: Callable[[str], None] | None = None, *, wait_ms: int = BUSY_TIMEOUT_MS
) -> None:
    """Make the data directory and an empty database in it, whole or not at all, whoever else does the same."""
    with _translated(data_dir):
        host.make_private_directory(data_dir)
        with host.lock(os.path.join(data_dir, LOCK_NAME), wait_ms):
            path = os.path.join(data_dir, FILE_NAME)
            if os.path.exists(path):
                return
            with open(os.path.join(data_dir, ".gitignore"), "w", encoding="ascii", newline="\n") as file:
                file.write("*\n")
            has_log = _build(path)
            with contextlib.closing(host.open_root(data_dir)) as directory:
                directory.sync()
    if notice is not None:
        for text in _remarks(data_dir, has_log):
            notice(f"hearth: {text}")


def _remarks(data_dir: str, has_log: bool) -> Iterator[str]:
    old = os.path.join(data_dir, V0_NAME)
    if os.path.exists(old):
        yield f"{old} belongs to hearth v0 and stays as it is; a new database was made beside it"
    if not has_log:
        yield (
            f"the file system of {data_dir} allows no write-ahead log, so that processes wait for each other;"
            " choose a local --data-dir"
        )


def _build(path: str) -> bool:
    """Whether it has a write-ahead log."""
    # Under a name of its own until it is whole: nobody ever opens a database without its tables, and the switch to
    # WAL, for which SQLite does not wait, disturbs nobody.
    new = path + ".new"
    _remove(new)
    try:
        has_log = _fill(new)
        os.rename(new, path)
    except BaseException:
        _remove(new)
        raise
    return has_log


def _fill(new: str) -> bool:
    with translated(new), contextlib.closing(sqlite3.connect(new, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = FULL")
        with transaction(connection):
            migrate(connection, new)
        has_log = switch_to_wal(connection)
    os.chmod(new, 0o600)
    return has_log


def _remove(new: str) -> None:
    for name in (new, new + "-journal", new + "-wal", new + "-shm"):
        with contextlib.suppress(FileNotFoundError):
            os.remove(name)


@contextlib.contextmanager
def _translated(data_dir: str) -> Iterator[None]:
    try:
        yield
    except Locked as error:
        raise DatabaseBusy(f"another process has been making {data_dir} for a while") from error
    except OSError as error:
        raise from_data_dir(error, data_dir) from error


def migrate(tx: sqlite3.Connection, path: str) -> None:
    """Run the scripts that a database has not seen yet. Another process may have run them meanwhile."""
    scripts = migrations()
    for script in scripts[version_of(tx, path) :]:
        for statement in statements(script):
            tx.execute(statement)
    tx.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    tx.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")


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
    if pending.strip():
        raise DatabaseError("a migration script ends in the middle of a statement")
