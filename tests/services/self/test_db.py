from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from hearth.clock import Clock
from hearth.store.database import FILE_NAME, SCHEMA_VERSION

Hearth = Callable[..., Any]


@pytest.fixture
def data(home: Path) -> Path:
    return home / "data" / "hearth"


@pytest.fixture
def used(data: Path, work: Path, hearth: Hearth) -> Path:
    """A database with three events."""
    for name in ("a.txt", "b.txt", "missing"):
        if name != "missing":
            (work / name).touch()
        hearth("fs", "stat", name)
    return data / FILE_NAME


def test_the_path_is_told_before_there_is_a_database(hearth: Hearth, data: Path) -> None:
    done = hearth("db", "path", "--json")
    assert (done.status, done.json["path"], done.json["size"]) == (0, str(data / FILE_NAME), None)
    assert not data.exists()


def test_the_path_is_printed_as_it_is(hearth: Hearth, data: Path) -> None:
    assert hearth("db", "path").out == str(data / FILE_NAME)


@pytest.mark.parametrize("words", [("tables",), ("schema",), ("check",), ("query", "SELECT 1")])
def test_looking_makes_no_database(hearth: Hearth, data: Path, words: tuple[str, ...]) -> None:
    done = hearth("db", *words, "--json")
    assert (done.status, done.json["error"]["code"]) == (4, "not_found")
    assert not data.exists()


def test_tables_tell_rows_and_bytes(hearth: Hearth, used: Path) -> None:  # noqa: ARG001
    (events,) = [table for table in hearth("db", "tables", "--json").json["tables"] if table["name"] == "events"]
    assert (events["rows"], events["indexes"]) == (3, 2)
    assert events["bytes"] is None or events["bytes"] >= 4096 * 3


def test_the_schema_is_sql_that_makes_the_same_tables(hearth: Hearth, used: Path) -> None:
    sql = hearth("db", "schema").out
    with closing(sqlite3.connect(":memory:")) as copy, closing(sqlite3.connect(used)) as original:
        copy.executescript(sql)
        names = "SELECT type, name FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY 1, 2"
        assert copy.execute(names).fetchall() == original.execute(names).fetchall()


def test_the_schema_of_one_table_names_its_indexes(hearth: Hearth, used: Path) -> None:  # noqa: ARG001
    assert "CREATE INDEX events_by_time" in hearth("db", "schema", "events").out
    assert hearth("db", "schema", "nothing").status == 4


def test_a_query_gives_rows_by_column(hearth: Hearth, used: Path) -> None:  # noqa: ARG001
    done = hearth("db", "query", "SELECT id, entity, error FROM events ORDER BY id", "--json")
    assert done.json["rows"][2]["error"] == "not_found"
    assert [row["id"] for row in done.json["rows"]] == [1, 2, 3]
    assert done.json["state"] == "completed"


def test_a_query_is_a_line_a_row_for_scripts(hearth: Hearth, used: Path) -> None:  # noqa: ARG001
    sql = "SELECT id, operation FROM events ORDER BY id"
    assert hearth("db", "query", sql).out.splitlines()[0] == "1\tfs.stat"
    assert hearth("db", "query", sql, "--ndjson").lines[0] == {"id": 1, "operation": "fs.stat"}


def test_a_query_takes_parameters(hearth: Hearth, used: Path) -> None:  # noqa: ARG001
    done = hearth("db", "query", "SELECT id FROM events WHERE error = :e", "--param", "e=not_found", "--json")
    assert done.json["rows"] == [{"id": 3}]


def test_a_query_stops_at_its_limit_and_says_so(hearth: Hearth, used: Path) -> None:  # noqa: ARG001
    done = hearth("db", "query", "SELECT id FROM events", "--limit", "2", "--json")
    assert (done.status, done.json["state"], done.json["ended_by"], len(done.json["rows"])) == (
        0,
        "partial",
        "limit",
        2,
    )


def test_a_query_without_end_is_stopped(hearth: Hearth, used: Path) -> None:  # noqa: ARG001
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT count(*) FROM n"
    done = hearth("db", "query", endless, "--timeout-ms", "50", "--json")
    assert (done.status, done.json["error"]["code"]) == (124, "timed_out")


def test_huge_values_are_refused(hearth: Hearth, used: Path) -> None:  # noqa: ARG001
    assert hearth("db", "query", "SELECT zeroblob(500000000)", "--json").status == 2


def test_bytes_are_answered_as_base64(hearth: Hearth, used: Path) -> None:  # noqa: ARG001
    assert hearth("db", "query", "SELECT x'00ff' AS b", "--json").json["rows"] == [{"b": "AP8="}]


@pytest.mark.parametrize(
    "sql", ["SELECT name FROM pragma_table_info('events') WHERE pk", "SELECT value AS name FROM json_each('[\"id\"]')"]
)
def test_tables_that_sqlite_makes_up_can_be_asked(hearth: Hearth, used: Path, sql: str) -> None:  # noqa: ARG001
    assert hearth("db", "query", sql, "--json").json["rows"] == [{"name": "id"}]


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM events",
        "INSERT INTO events DEFAULT VALUES",
        "UPDATE events SET at = '' RETURNING id",
        "WITH x AS (SELECT 1) DELETE FROM events RETURNING id",
        "DROP TABLE events",
        "ATTACH 'other.sqlite3' AS other",
        "VACUUM INTO 'copy.sqlite3'",
        "PRAGMA user_version = 7",
        "PRAGMA writable_schema = ON",
        "PRAGMA query_only = OFF",
        "UPDATE sqlite_master SET sql = ''",
        "SELECT name FROM pragma_user_version(7)",
        "BEGIN",
        "COMMIT",
        "SELECT load_extension('x')",
        "SELECT 1; DELETE FROM events",
        "SELECT * FROM",
        "-- nothing",
        "SELECT :missing",
    ],
)
def test_what_is_no_query_is_refused_and_changes_nothing(hearth: Hearth, used: Path, work: Path, sql: str) -> None:
    def facts() -> tuple[Any, ...]:
        with closing(sqlite3.connect(used)) as view:
            rows = view.execute("SELECT count(*), max(at) FROM events WHERE operation = 'fs.stat'").fetchone()
            return (*rows, view.execute("PRAGMA user_version").fetchone()[0], sorted(os.listdir(work)))

    before = facts()
    done = hearth("db", "query", sql, "--json")
    assert (done.status, done.json["error"]["code"]) == (2, "invalid_input")
    assert facts() == before


def test_a_whole_database_passes_the_check(hearth: Hearth, used: Path) -> None:  # noqa: ARG001
    done = hearth("db", "check", "--full", "--json")
    assert (done.status, done.json["problems"], done.json["schema_version"]) == (0, [], SCHEMA_VERSION)


def test_a_database_that_contradicts_itself_fails_the_check(hearth: Hearth, used: Path) -> None:
    with closing(sqlite3.connect(used)) as other:
        other.execute("PRAGMA writable_schema = ON")
        other.execute("UPDATE sqlite_schema SET rootpage = 2 WHERE name = 'events_by_time'")
        other.commit()
    done = hearth("db", "check", "--json")
    assert done.status == 1
    assert done.json["problems"] or done.json["error"]["code"] == "database_damaged"


def test_a_backup_is_a_whole_database_of_one_file(hearth: Hearth, used: Path, work: Path) -> None:  # noqa: ARG001
    done = hearth("db", "backup", "copy.sqlite3", "--json")
    assert (done.status, done.json["path"]) == (0, str(work / "copy.sqlite3"))
    assert done.json["size"] == (work / "copy.sqlite3").stat().st_size
    with closing(sqlite3.connect(work / "copy.sqlite3")) as copy:
        assert copy.execute("SELECT count(*) FROM events").fetchone()[0] == 3
        assert copy.execute("PRAGMA journal_mode").fetchone()[0] == "delete"
        assert copy.execute("PRAGMA integrity_check").fetchone()[0] == "ok"
    assert os.listdir(work).count("copy.sqlite3-wal") == 0


def test_hearth_works_from_a_restored_backup(hearth: Hearth, used: Path, work: Path) -> None:  # noqa: ARG001
    hearth("db", "backup", "copy.sqlite3")
    restored = work / "restored"
    restored.mkdir()
    (work / "copy.sqlite3").rename(restored / FILE_NAME)
    hearth("fs", "stat", "a.txt", "--data-dir", restored)
    done = hearth("db", "query", "SELECT count(*) AS n FROM events", "--data-dir", restored, "--json")
    assert done.json["rows"] == [{"n": 4}]


def test_a_backup_overwrites_nothing(hearth: Hearth, used: Path, work: Path) -> None:  # noqa: ARG001
    (work / "copy.sqlite3").write_bytes(b"mine")
    done = hearth("db", "backup", "copy.sqlite3", "--json")
    assert (done.status, done.json["error"]["code"]) == (3, "already_exists")
    assert (work / "copy.sqlite3").read_bytes() == b"mine"


def test_a_backup_stays_inside_the_roots(hearth: Hearth, used: Path, home: Path) -> None:  # noqa: ARG001
    done = hearth("db", "backup", home / "copy.sqlite3", "--json")
    assert done.json["error"]["code"] == "outside_root"


def test_a_backup_leaves_nothing_in_the_data_directory(hearth: Hearth, used: Path) -> None:
    before = {name for name in os.listdir(used.parent) if not name.startswith(FILE_NAME)}
    hearth("db", "backup", "copy.sqlite3")
    assert {name for name in os.listdir(used.parent) if not name.startswith(FILE_NAME)} == before


def test_vacuum_gives_free_pages_back(hearth: Hearth, used: Path) -> None:
    with closing(sqlite3.connect(used)) as other:
        other.execute("CREATE TABLE ballast (x)")
        other.execute("INSERT INTO ballast VALUES (zeroblob(2000000))")
        other.execute("DROP TABLE ballast")
        other.commit()
    done = hearth("db", "vacuum", "--json")
    assert done.json["size_after"] < done.json["size_before"] - 1_000_000
    assert used.stat().st_size < 400_000


def test_ctrl_c_ends_a_query_and_is_no_time_limit(
    hearth: Hearth,
    used: Path,  # noqa: ARG001
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked = 0

    def monotonic(self: Clock) -> float:  # noqa: ARG001
        nonlocal asked
        asked += 1
        if asked == 5:  # SQLite asks in the middle of the query
            raise KeyboardInterrupt
        return 0.0

    monkeypatch.setattr(Clock, "monotonic", monotonic)
    endless = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    done = hearth("db", "query", endless)
    assert (done.status, done.err) == (130, "")
    assert asked >= 5
