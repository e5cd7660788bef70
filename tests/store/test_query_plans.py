"""Every statement of the store finds its rows by an index or a key."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Iterator
from types import FunctionType

import pytest

import hearth.store
from hearth.store import job_groups, job_queue
from hearth.store.database import Store

# `CREATE`, `PRAGMA` and the like live in creation.py and database.py and name no rows.
STATEMENT = re.compile(r"\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b[^:?]*\b(FROM|INTO|SET|EXISTS)\b")


# What reads a whole index on purpose.
WHOLE = {
    "database.version_of-0": "the list of tables, when a file that is not known to be hearth's is looked at",
    "receipts.open_ones-0": "an index that holds only what is open, which is next to nothing",
    "job_queue._IS_IDLE": "a step an index look-up through the names of groups that have queued jobs",
    "futures._UNFINISHED": "an index that holds only what has not ended, which is bounded",
    "job_queue._ROOM": "a step an index look-up through the names of groups that have queued jobs",
    "job_groups._GROUPS": "a step an index look-up through the names of groups",
    "job_queue._HOLDERS": "a step an index look-up through the few workers of running jobs",
    "job_groups.paused-0": "an index that holds only what is paused",
    "receipts._BACKUP_BYTES": "a sum over an index of two numbers, for gc and for every thousandth write",
}


def statements() -> Iterator[tuple[str, str]]:
    """The SQL of every module of the store, and where it stands."""
    for found in pkgutil.iter_modules(hearth.store.__path__):
        module = importlib.import_module(f"hearth.store.{found.name}")
        for name, value in vars(module).items():
            if isinstance(value, str) and STATEMENT.match(value):
                yield f"{found.name}.{name}", value
            elif isinstance(value, FunctionType) and value.__module__ == module.__name__:
                texts = [text for text in value.__code__.co_consts if isinstance(text, str) and STATEMENT.match(text)]
                yield from ((f"{found.name}.{name}-{number}", text) for number, text in enumerate(texts))


def values_for(sql: str) -> dict[str, int] | tuple[int, ...]:
    return dict.fromkeys(named, 1) if (named := re.findall(r":(\w+)", sql)) else (1,) * sql.count("?")


@pytest.mark.parametrize(("name", "sql"), tuple(statements()), ids=[name for name, _ in statements()])
def test_a_statement_reads_no_more_rows_than_it_names(store: Store, name: str, sql: str) -> None:
    with store.read() as view:
        plan = [row["detail"] for row in view.execute("EXPLAIN QUERY PLAN " + sql, values_for(sql))]
    scans = [step for step in plan if step.startswith("SCAN") and not step.endswith(("CONSTANT ROW", "SUBQUERY"))]
    # In the order of a key, a scan ends at the limit; sorted afterwards, it would read all.
    bounded = "LIMIT" in sql and not any(step.startswith("USE TEMP B-TREE") for step in plan)
    assert bounded or not scans or name in WHOLE, (name, plan)


# Indices of what has not ended. The others hold every job that there is, and each pass of a worker would read them.
SMALL = {"jobs_queue", "jobs_due", "jobs_expiring", "jobs_running", "jobs_running_in_group"}
OF_A_PASS = ("_ROOM", "_HEADS", "_TO_END", "_TAKE_OVER", "_HELD_BY", "_HOLDERS", "_FALL_DUE", "_EXPIRED", "_NEXT_DUE",
             "_GROUP", "_GROUPS")  # fmt: skip


@pytest.mark.parametrize("name", OF_A_PASS)
def test_a_pass_of_a_worker_reads_only_indices_of_jobs_that_have_not_ended(store: Store, name: str) -> None:
    sql = getattr(job_queue, name, None) or getattr(job_groups, name)
    with store.read() as view:
        plan = [row["detail"] for row in view.execute("EXPLAIN QUERY PLAN " + sql, values_for(sql))]
    used = {found[1] for step in plan if (found := re.search(r"jobs USING (?:COVERING )?INDEX (\w+)", step))}
    assert used
    assert used <= SMALL | ({"jobs_by_group"} if name == "_GROUPS" else set()), plan  # which steps from name to name


def test_the_store_keeps_its_statements_where_this_test_finds_them() -> None:
    assert {"events._INSERT", "receipts.insert-0"} <= set(dict(statements()))
