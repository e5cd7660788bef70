"""A person's own question to the database: it can't write, open other files, or run without end."""

from __future__ import annotations

import base64
import sqlite3
from collections.abc import Callable, Iterator
from typing import Annotated, Any

from hearth.errors import Cancelled, HearthError, OutOfTime, invalid
from hearth.model import Cli, Ge, Help, Items, Le, Len, State, model
from hearth.runtime import Runtime
from hearth.services.self.db import opened

MAX_BYTES = 16 * 1024 * 1024
# How often SQLite asks whether to go on, in steps of its virtual machine: about every half millisecond.
STEPS_BETWEEN = 10_000
ALLOWED = (
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
    sqlite3.SQLITE_SAVEPOINT,  # sqlite-utils wraps a query into one
)
# What these answer about is their argument; the others would be set by one.
ASKING = ("foreign_key_list", "index_info", "index_list", "index_xinfo", "table_info", "table_list", "table_xinfo")
PLAIN = ("application_id", "compile_options", "freelist_count", "page_count", "page_size", "user_version")


@model
class QueryDatabase:
    sql: Annotated[str, Len(1, 100_000), Cli(argument=True), Help("One SELECT; :NAME stands for a parameter.")]
    param: Annotated[dict[str, str] | None, Len(0, 100), Help("A parameter's value, as text.")] = None
    limit: Annotated[int, Ge(1), Le(100_000), Help("Most rows.")] = 1_000
    timeout_ms: Annotated[int, Ge(1), Le(600_000), Help("How long the query may run.")] = 10_000


@model
class QueryRows:
    """Rows by column name. `partial` when there would be more."""

    state: State = State.COMPLETED
    rows: Annotated[tuple[dict[str, Any], ...], Items(), Help("The rows; bytes as base64.")]
    ended_by: Annotated[str | None, Help("What cut the rows off: limit or bytes.")] = None


def query(runtime: Runtime, given: QueryDatabase) -> QueryRows:
    """Raises `InvalidInput` for a wrong or a writing statement, `OutOfTime`."""
    deadline = runtime.clock.monotonic() + given.timeout_ms / 1000

    def stopped() -> HearthError | None:
        if runtime.cancelled.is_set():
            return Cancelled("the call was cancelled")
        if runtime.clock.monotonic() > deadline:
            return OutOfTime(f"the query ran for more than {given.timeout_ms} ms", timeout_ms=given.timeout_ms)
        return None

    with opened(runtime) as database, _guarded(database.conn, lambda: stopped() is not None):
        try:
            rows, ended_by = _bounded(database.query(given.sql, given.param or {}), given.limit)
        except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
            raise _refusal(error, stopped) from error
    return QueryRows(state=State.PARTIAL if ended_by else State.COMPLETED, rows=rows, ended_by=ended_by)


class _guarded:  # noqa: N801
    """While it lasts, a connection runs only what reads, and only until `must_stop`."""

    def __init__(self, connection: sqlite3.Connection, must_stop: Callable[[], bool]) -> None:
        self._connection = connection
        self._must_stop = must_stop

    def __enter__(self) -> None:
        self._connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_BYTES)
        self._connection.set_authorizer(_authorize)
        self._connection.set_progress_handler(self._must_stop, STEPS_BETWEEN)

    def __exit__(self, *_: object) -> None:
        self._connection.set_authorizer(None)
        self._connection.set_progress_handler(None, 0)  # the connection ends with the query, its limit too


def _authorize(action: int, first: str | None, second: str | None, *_: str | None) -> int:
    if action == sqlite3.SQLITE_PRAGMA:
        allowed = first in ASKING or (first in PLAIN and second is None)
    elif action == sqlite3.SQLITE_UPDATE:
        # A function such as json_each declares its columns like this; the table itself can't be changed anyway.
        allowed = first == "sqlite_master"
    else:
        allowed = action in ALLOWED
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


def _bounded(found: Iterator[dict[str, Any]], limit: int) -> tuple[tuple[dict[str, Any], ...], str | None]:
    rows: list[dict[str, Any]] = []
    size = 0
    for row in found:
        if len(rows) == limit:
            return tuple(rows), "limit"
        size += sum(len(value) if isinstance(value, (str, bytes)) else 8 for value in row.values())
        if size > MAX_BYTES:
            return tuple(rows), "bytes"
        rows.append({name: _shown(value) for name, value in row.items()})
    return tuple(rows), None


def _shown(value: Any) -> Any:
    return base64.b64encode(value).decode("ascii") if isinstance(value, bytes) else value


def _refusal(error: Exception, stopped: Callable[[], HearthError | None]) -> BaseException:
    if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_INTERRUPT:
        # SQLite keeps to itself what a signal raised while it asked whether to go on.
        return stopped() or KeyboardInterrupt()
    if "authorized" in str(error) or "prohibited" in str(error) or isinstance(error, ValueError):
        return invalid("sql", "not_reading", "must be one statement that only reads")
    return invalid("sql", "wrong_sql", str(error), hint="`hearth db schema` shows the tables")
