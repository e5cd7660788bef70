"""The data directory, the database in it, and the disk below it."""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator

from hearth.errors import HearthError
from hearth.runtime import Runtime
from hearth.services.self.checks.outcome import Finding, fail, ok, size, warn
from hearth.store.creation import V0_NAME
from hearth.store.database import FILE_NAME, OLDEST_SQLITE, file_uri, translated, version_of

ENOUGH_BYTES = 1024**3
TOO_FEW_BYTES = 64 * 1024**2
OTHER_DIRECTORY = "choose another directory with --data-dir or HEARTH_DATA_DIR"


def data_directory(runtime: Runtime) -> Iterator[Finding]:
    """Is it there, a directory, writable, and private?"""
    path = runtime.data_dir
    if not os.path.lexists(path):
        above = _existing(path)
        if os.access(above, os.W_OK):
            yield ok(f"{path} will be made by the first call that stores something")
        else:
            yield fail(f"{path} cannot be made, since {above} cannot be written", OTHER_DIRECTORY)
    elif not os.path.isdir(path):
        yield fail(f"{path} is no directory", OTHER_DIRECTORY)
    elif problem := _write_problem(path):
        yield fail(f"{path} cannot be written: {problem}", OTHER_DIRECTORY)
    elif runtime.host.name != "windows" and (mode := os.stat(path).st_mode & 0o777) & 0o077:
        yield warn(f"{path} can be entered by others (mode {mode:04o})", f"chmod 700 '{path}'")
    else:
        yield ok(path)


def _write_problem(path: str) -> str | None:
    try:
        with tempfile.TemporaryFile(dir=path) as file:
            file.write(b"x")
    except OSError as error:
        return error.strerror or str(error)
    return None


def _existing(path: str) -> str:
    while not os.path.exists(path) and os.path.dirname(path) != path:
        path = os.path.dirname(path)
    return path


def database(runtime: Runtime) -> Iterator[Finding]:
    """Whose file is it, is it whole, of which schema, how large?"""
    if os.path.exists(os.path.join(runtime.data_dir, V0_NAME)):
        yield warn(
            f"{V0_NAME} of hearth v0 lies in {runtime.data_dir}; it is left alone",
            "`hearth config import FILE` takes over v0's settings",
        )
    path = os.path.join(runtime.data_dir, FILE_NAME)
    if not os.path.exists(path):
        yield ok("not made yet")
        return
    try:
        with _opened(path) as connection:
            yield from _looked_at(connection, path)
    except HearthError as error:
        hint = error.hint if error.code != "database_damaged" else None
        yield fail(error.message, hint or f"keep a copy of {path}, then move it away; a new one is made")


@contextlib.contextmanager
def _opened(path: str) -> Iterator[sqlite3.Connection]:
    with translated(path), contextlib.closing(sqlite3.connect(file_uri(path, "mode=ro"), uri=True)) as connection:
        yield connection


def _looked_at(connection: sqlite3.Connection, path: str) -> Iterator[Finding]:
    version = version_of(connection, path)
    problems = [row[0] for row in connection.execute("PRAGMA quick_check(3)") if row[0] != "ok"]
    (mode,) = connection.execute("PRAGMA journal_mode").fetchone()
    bytes_used = sum(os.path.getsize(path + end) for end in ("", "-wal") if os.path.exists(path + end))
    if problems:
        yield fail(f"{path} is damaged: {problems[0]}", f"keep a copy of {path}, then move it away; a new one is made")
    elif mode != "wal":
        yield warn(f"{path} is not in WAL mode but in {mode}", "writers wait longer for each other here")
    else:
        yield ok(f"{path}: whole, schema {version}, {size(bytes_used)}, WAL")


def write_ahead_log(runtime: Runtime) -> Iterator[Finding]:
    """Does WAL work on this file system? Network ones often have no shared memory."""
    if not os.path.isdir(runtime.data_dir):
        yield ok("not tried, since there is no data directory yet")
        return
    try:
        with tempfile.TemporaryDirectory(dir=runtime.data_dir, prefix="doctor-") as directory:
            mode = _tried(os.path.join(directory, "try.sqlite3"))
    except (OSError, sqlite3.Error) as error:
        yield fail(f"a database in {runtime.data_dir} cannot be written: {error}", OTHER_DIRECTORY)
        return
    if mode == "wal":
        yield ok("works in the data directory")
    else:
        yield fail(
            f"does not work in {runtime.data_dir} (SQLite fell back to {mode})", "use a directory on a local disk"
        )


def _tried(path: str) -> str:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        connection.execute("CREATE TABLE tried (x)")
        connection.execute("INSERT INTO tried VALUES (1)")
        connection.commit()
    return str(mode)


def sqlite(runtime: Runtime) -> Iterator[Finding]:  # noqa: ARG001
    """Is Python's SQLite new enough?"""
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        yield fail(f"SQLite {sqlite3.sqlite_version} is older than 3.37", "use a newer Python")
    else:
        yield ok(f"SQLite {sqlite3.sqlite_version}")


def free_space(runtime: Runtime) -> Iterator[Finding]:
    """Is there room where the data lies?"""
    free = shutil.disk_usage(_existing(runtime.data_dir)).free
    text = f"{size(free)} free where the data lies"
    if free < TOO_FEW_BYTES:
        yield fail(text, "free some space; `hearth gc --dry-run` shows what hearth itself could remove")
    elif free < ENOUGH_BYTES:
        yield warn(text, "`hearth gc --dry-run` shows what hearth itself could remove")
    else:
        yield ok(text)
