"""A file system without shared memory, as network shares are: SQLite cannot use WAL there."""

from __future__ import annotations

import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SQLite's Windows systems all have shared memory")


@pytest.fixture(autouse=True)
def no_shared_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every database is opened by the part of SQLite that locks with files beside it and has no shared memory."""
    connect = sqlite3.connect

    def without(path: str, *given: Any, uri: bool = False, **more: Any) -> sqlite3.Connection:
        address = f"{path}&vfs=unix-dotfile" if uri else f"{Path(path).absolute().as_uri()}?vfs=unix-dotfile"
        made: sqlite3.Connection = connect(address, *given, uri=True, **more)
        return made

    monkeypatch.setattr(sqlite3, "connect", without)


def test_everything_works_without_wal_and_can_be_undone(work: Path, hearth: Callable[..., Any]) -> None:
    assert hearth("fs", "write", "a.txt", "--data", "one").status == 0
    assert hearth("fs", "write", "a.txt", "--data", "two").status == 0
    assert hearth("fs", "undo", "--last").status == 0
    assert (work / "a.txt").read_bytes() == b"one"
    done = hearth("db", "check", "--json")
    assert (done.status, done.json["state"]) == (0, "completed")


def test_doctor_says_that_wal_does_not_work_and_what_to_do(hearth: Callable[..., Any]) -> None:
    hearth("fs", "write", "a.txt", "--data", "one")
    done = hearth("doctor", "--json")
    (found,) = [check for check in done.json["checks"] if check["check"] == "wal"]
    assert (done.status, found["state"]) == (1, "fail")
    assert "fell back to delete" in found["message"]
    assert "local disk" in found["hint"]
