"""A data directory that cannot be written: what was stored can be read, and nothing else fails but writing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hearth import dispatch
from hearth.clock import Clock
from hearth.containment import Root
from hearth.errors import DatabaseReadOnly
from hearth.model import State
from hearth.platforms.local import local_host
from hearth.runtime import Runtime
from hearth.settings import Settings
from hearth.store import events
from hearth.store.database import FILE_NAME, Store, open_store
from tests.store.rows import count, event

ROWS = 5_000  # enough that closing folds the log into the database


def filled(data: Path, rows: int) -> None:
    store = open_store(local_host(), str(data), Clock())
    with store.write() as tx:
        events.insert(tx, [event(number) for number in range(rows)])
    store.close()


def sealed(data: Path, *, files_too: bool) -> Store:
    if files_too:
        for name in os.listdir(data):
            (data / name).chmod(0o444)
    data.chmod(0o555)
    return open_store(local_host(), str(data), Clock())


@pytest.mark.parametrize("files_too", [True, False])
@pytest.mark.parametrize("rows", [1, ROWS])
def test_what_was_stored_can_be_read(bound_folder: Path, rows: int, files_too: bool) -> None:
    data = bound_folder / "data"
    filled(data, rows)
    assert (data / (FILE_NAME + "-wal")).exists() == (rows == 1)
    store = sealed(data, files_too=files_too)
    assert count(store) == rows
    store.close()


@pytest.mark.parametrize("rows", [1, ROWS])
def test_writing_says_that_the_data_directory_is_read_only(bound_folder: Path, rows: int) -> None:
    data = bound_folder / "data"
    filled(data, rows)
    store = sealed(data, files_too=True)
    with pytest.raises(DatabaseReadOnly, match="cannot be written"), store.write() as tx:
        events.insert(tx, [event()])
    store.close()


@pytest.mark.parametrize("rows", [0, ROWS])
def test_a_read_operation_answers_as_ever(bound_folder: Path, rows: int) -> None:
    data, work = bound_folder / "data", bound_folder / "work"
    work.mkdir()
    if rows:
        filled(data, rows)
    else:
        data.mkdir()
    data.chmod(0o555)
    notices: list[str] = []
    runtime = Runtime(
        host=local_host(),
        settings=Settings(),
        data_dir=str(data),
        roots=(Root(str(work)),),
        base=str(work),
        notice=notices.append,
    )
    answer = dispatch.call_json(runtime, "fs.stat", {"path": "."})
    runtime.close()
    assert (answer.state, notices) == (State.COMPLETED, [])


def test_a_database_that_cannot_be_made_is_named(bound_folder: Path) -> None:
    data = bound_folder / "data"
    data.mkdir()
    data.chmod(0o555)
    with pytest.raises(DatabaseReadOnly, match="cannot be written"):
        open_store(local_host(), str(data), Clock())


@pytest.mark.parametrize("rows", [0, 1])
def test_a_change_names_the_data_directory_once_and_not_the_path_that_was_to_change(
    bound_folder: Path, rows: int
) -> None:
    data, work = bound_folder / "data", bound_folder / "work"
    work.mkdir()
    if rows:
        filled(data, rows)
    else:
        data.mkdir()
    data.chmod(0o555)
    notices: list[str] = []
    runtime = Runtime(
        host=local_host(),
        settings=Settings(),
        data_dir=str(data),
        roots=(Root(str(work)),),
        base=str(work),
        notice=notices.append,
    )
    answer = dispatch.call_json(runtime, "fs.write", {"path": "new", "data": "x"})
    runtime.close()
    assert isinstance(answer.error, DatabaseReadOnly)
    assert f"{data} cannot be written" in answer.error.message
    assert list(work.iterdir()) == []
    assert len({answer.error.message, *notices}) == len(notices) + 1
