"""Looking at the database: where it is, what is in it, whether it is whole."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from hearth.errors import NotFound
from hearth.model import Cli, Help, Items, Len, PathName, Raw, State, model
from hearth.runtime import Runtime
from hearth.store.database import FILE_NAME, Store

if TYPE_CHECKING:
    from sqlite_utils import Database

MAX_PROBLEMS = 100


@model
class ShowDatabasePath:
    pass


@model
class DatabasePath:
    """Where the database is. Size in bytes, with its log; null before the first call made it."""

    state: State = State.COMPLETED
    path: Annotated[str, PathName(), Raw(), Help("The database file.")]
    data_dir: Annotated[str, PathName(), Help("The data directory.")]
    size: Annotated[int | None, Help("Bytes of the database and its log.")]


def show_path(runtime: Runtime, given: ShowDatabasePath) -> DatabasePath:  # noqa: ARG001
    """Say where the database is, whether or not it exists."""
    path = _path(runtime)
    return DatabasePath(path=path, data_dir=runtime.data_dir, size=size_of(path) if os.path.exists(path) else None)


@model
class ListTables:
    pass


@model
class Table:
    """A table."""

    name: Annotated[str, Help("The table's name.")]
    rows: Annotated[int, Help("How many rows it has.")]
    bytes: Annotated[int | None, Help("Bytes of its pages and its indexes'; null where SQLite cannot tell.")]
    indexes: Annotated[int, Help("How many indexes it has.")]


@model
class TableList:
    state: State = State.COMPLETED
    tables: Annotated[tuple[Table, ...], Items(), Help("The tables, by name.")]


def tables(runtime: Runtime, given: ListTables) -> TableList:  # noqa: ARG001
    """Raises `NotFound`, `DatabaseError`."""
    with opened(runtime) as database:
        pages = _pages(database)
        return TableList(
            tables=tuple(
                Table(
                    name=table.name,
                    rows=table.count,
                    bytes=sum(pages.get(name, 0) for name in (table.name, *(i.name for i in table.indexes)))
                    if pages
                    else None,
                    indexes=len(table.indexes),
                )
                for table in sorted(database.tables, key=lambda each: each.name)
            )
        )


def _pages(database: Database) -> dict[str, int]:
    """Bytes by table and index; empty where SQLite was built without dbstat."""
    import sqlite3

    try:
        rows = database.query("SELECT name, sum(pgsize) AS size FROM dbstat GROUP BY name")
        return {row["name"]: row["size"] for row in rows}
    except sqlite3.OperationalError:
        return {}


@model
class ShowSchema:
    table: Annotated[str | None, Len(1, 200), Cli(argument=True), Help("Only this table and its indexes.")] = None


@model
class Schema:
    state: State = State.COMPLETED
    sql: Annotated[str, Raw(), Help("The statements that make the tables.")]


def schema(runtime: Runtime, given: ShowSchema) -> Schema:
    """Raises `NotFound`, `DatabaseError`."""
    with opened(runtime) as database:
        rows = database.query(
            "SELECT sql FROM sqlite_schema"
            " WHERE sql IS NOT NULL AND (:table IS NULL OR tbl_name = :table) ORDER BY rowid",
            {"table": given.table},
        )
        found = [row["sql"] for row in rows]
    if not found:
        raise NotFound(f"there is no table {given.table!r}", hint="`hearth db tables` lists them")
    return Schema(sql="".join(f"{sql};\n" for sql in found))


@model
class CheckDatabase:
    full: Annotated[bool, Help("Compare every index with its table, too; slow on a large database.")] = False


@model
class DatabaseCheck:
    """Whether the database is whole; `failed` when it is not."""

    state: State = State.COMPLETED
    problems: Annotated[tuple[str, ...], Help(f"What is wrong; at most {MAX_PROBLEMS}.")]
    schema_version: Annotated[int, Help("How many migrations it has seen.")]


def check(runtime: Runtime, given: CheckDatabase) -> DatabaseCheck:
    """Raises `NotFound`, `DatabaseDamaged` when not even the first page can be read."""
    with opened(runtime) as database:
        pragma = "integrity_check" if given.full else "quick_check"
        found = [row[0] for row in database.execute(f"PRAGMA {pragma}({MAX_PROBLEMS})")]
        problems = [] if found == ["ok"] else found
        problems += [
            f"{row[0]} {row[1]} names a row of {row[2]} that is gone"
            for row in database.execute("PRAGMA foreign_key_check")
        ]
        (version,) = database.execute("PRAGMA user_version").fetchone()
    state = State.FAILED if problems else State.COMPLETED
    return DatabaseCheck(state=state, problems=tuple(problems[:MAX_PROBLEMS]), schema_version=version)


@contextlib.contextmanager
def opened(runtime: Runtime) -> Iterator[Database]:
    """The database as it is, for reading only: nothing is made, migrated or recovered. Raises `NotFound`."""
    from sqlite_utils import Database

    path = _path(runtime)
    if not os.path.exists(path):
        raise NotFound(f"there is no database {path} yet", hint="the first call that stores something makes it")
    store = Store(path, runtime.clock)
    try:
        with store.read() as view:
            yield Database(view, execute_plugins=False, recursive_triggers=False)
    finally:
        store.close()


def _path(runtime: Runtime) -> str:
    return os.path.join(runtime.data_dir, FILE_NAME)


def size_of(path: str) -> int:
    """Bytes of a database and its log."""
    total = 0
    for name in (path, path + "-wal"):
        with contextlib.suppress(FileNotFoundError):
            total += os.stat(name).st_size
    return total
