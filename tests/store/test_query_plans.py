"""Every statement of the store finds its rows by an index or a key."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator

import pytest

import hearth.store
from hearth.store.database import Store

# `CREATE`, `PRAGMA` and the like live in creation.py and database.py and name no rows.
STATEMENT = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b")


def statements() -> Iterator[tuple[str, str]]:
    """The SQL constants of every module of the store."""
    for found in pkgutil.iter_modules(hearth.store.__path__):
        module = importlib.import_module(f"hearth.store.{found.name}")
        for name, value in vars(module).items():
            if isinstance(value, str) and STATEMENT.match(value):
                yield f"{found.name}.{name}", value


@pytest.mark.parametrize(("name", "sql"), tuple(statements()), ids=[name for name, _ in statements()])
def test_a_statement_reads_no_more_rows_than_it_names(store: Store, name: str, sql: str) -> None:
    parameters = dict.fromkeys(re.findall(r":(\w+)", sql), 1)
    with store.read() as view:
        plan = [row["detail"] for row in view.execute("EXPLAIN QUERY PLAN " + sql, parameters)]
    scans = [step for step in plan if step.startswith("SCAN") and not step.endswith(("CONSTANT ROW", "SUBQUERY"))]
    # In the order of a key, a scan ends at the limit; sorted afterwards, it would read all.
    bounded = "LIMIT" in sql and not any(step.startswith("USE TEMP B-TREE") for step in plan)
    assert bounded or not scans, (name, plan)


def test_the_store_keeps_its_statements_where_this_test_finds_them() -> None:
    assert "events._INSERT" in dict(statements())
