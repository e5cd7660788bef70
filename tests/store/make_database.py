"""Makes `tests/data/hearth-<version>.sqlite3`, a database as this version leaves it.

Run `python -m tests.store.make_database` once for each release, and again only while that release is not out yet. What
is checked in must open for ever.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

from hearth import __version__, dispatch
from hearth.containment import Root
from hearth.platforms.local import local_host
from hearth.runtime import Caller, Runtime
from hearth.settings import Settings

DATA = Path(__file__).parents[1] / "data"
WORK = "/srv/work"  # where the files seem to have been
CALLS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("fs.write", {"path": "notes.md", "data": "first\n"}),
    ("fs.write", {"path": "notes.md", "data": "second\n", "group": "tidy"}),
    ("fs.write", {"path": "notes.md", "data": "third\n", "append": True}),
    ("fs.write", {"path": "sub/new.txt", "data": "x" * 100}),
    ("fs.stat", {"path": "notes.md"}),
    ("fs.stat", {"path": "missing"}),
)


def make(to: Path) -> None:
    """Work a little in a temporary folder, and keep the database of it as one file."""
    with tempfile.TemporaryDirectory() as folder:
        work, data = os.path.realpath(folder) + "/work", os.path.realpath(folder) + "/data"
        os.mkdir(work)
        runtime = Runtime(
            host=local_host(),
            settings=Settings(),
            data_dir=data,
            roots=(Root(work),),
            base=work,
            conversation="example",
        )
        for name, given in CALLS:
            dispatch.call_json(runtime, name, given)
        dispatch.call_json(runtime.for_call(caller=Caller.BATCH), *CALLS[-2])
        path = runtime.store.path
        runtime.close()
        with closing(sqlite3.connect(path, isolation_level=None)) as database:
            _move(database, work)
            to.unlink(missing_ok=True)
            database.execute("VACUUM INTO ?", (str(to),))


def _move(database: sqlite3.Connection, work: str) -> None:
    for table, column in (("changes", "path"), ("changes", "other"), ("events", "entity"), ("events", "data")):
        database.execute(f"UPDATE {table} SET {column} = replace({column}, ?, ?)", (work, WORK))


if __name__ == "__main__":
    make(DATA / f"hearth-{__version__.rpartition('.')[0]}.sqlite3")
