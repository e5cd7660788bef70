from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from hearth.errors import DatabaseError
from hearth.store import creation
from hearth.store.database import SCHEMA_VERSION, Store, transaction

TABLES = "SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name"


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(tmp_path / "empty.sqlite3", isolation_level=None)
    yield connection
    connection.close()


def test_the_schema_version_counts_the_scripts() -> None:
    assert len(creation.migrations()) == SCHEMA_VERSION


def test_a_database_brought_up_script_by_script_equals_a_new_one(empty: sqlite3.Connection, store: Store) -> None:
    for version, script in enumerate(creation.migrations(), 1):
        with transaction(empty):
            for statement in creation.statements(script):
                empty.execute(statement)
            empty.execute("PRAGMA application_id = 0x48525448")
            empty.execute(f"PRAGMA user_version = {version}")
    with transaction(empty):
        creation.migrate(empty, "empty.sqlite3")
    with store.read() as view:
        fresh = [tuple(row) for row in view.execute(TABLES)]
    assert empty.execute(TABLES).fetchall() == fresh


def test_every_table_is_strict(store: Store) -> None:
    with store.read() as view:
        loose = view.execute("SELECT name FROM pragma_table_list WHERE type = 'table' AND NOT strict").fetchall()
    assert [row["name"] for row in loose if not row["name"].startswith("sqlite_")] == []


def test_migrating_twice_changes_nothing(store: Store) -> None:
    with store.write() as tx:
        before = tx.execute("PRAGMA schema_version").fetchone()[0]
        creation.migrate(tx, store.path)
        assert tx.execute("SELECT count(*) FROM sqlite_schema WHERE type = 'table'").fetchone()[0] > 0
        assert tx.execute("PRAGMA schema_version").fetchone()[0] == before


def test_semicolons_inside_triggers_and_texts_end_no_statement() -> None:
    script = "CREATE TRIGGER t AFTER INSERT ON a BEGIN\n DELETE FROM b;\n SELECT ';';\nEND;\nSELECT 'a;\nb';\n"
    assert len(list(creation.statements(script))) == 2


def test_a_script_that_breaks_off_is_an_error() -> None:
    with pytest.raises(DatabaseError):
        list(creation.statements("CREATE TABLE a (x);\nCREATE TABLE"))
