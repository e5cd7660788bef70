from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import pytest

from hearth import catalog, dispatch, event_log
from hearth.fields import fields_of
from hearth.model import Content, PathName, State, model
from hearth.operation import Effect, Family, Operation, types_of
from hearth.runtime import Caller, Runtime
from hearth.store.database import DROPPED_NAME


class Colour(StrEnum):
    RED = "red"


@model
class Change:
    path: Annotated[str, PathName()] = "a"
    data: Annotated[str | None, Content()] = None
    count: int = 1
    colour: Colour | None = None
    env: dict[str, str] | None = None
    words: tuple[str, ...] = ()


@model
class Changed:
    state: State = State.COMPLETED
    receipt: str = "rcp_1"


def change(runtime: Runtime, given: Change) -> Changed:  # noqa: ARG001
    with runtime.store.read():
        return Changed()


def rows_of_the_catalog() -> list[tuple[str, Operation]]:
    return [(f"{family.name}.{row.name}", row) for family, row in catalog.walk()]


def rows(runtime: Runtime) -> list[dict[str, Any]]:
    with runtime.store.read() as view:
        return [dict(row) for row in view.execute("SELECT * FROM events ORDER BY id")]


def run(runtime: Runtime, given: Change, effect: Effect = Effect.WRITE) -> None:
    family = Family("fs", "", ())
    answer = dispatch.run(runtime, family, Operation("change", "", effect, ""), given, change)
    assert answer.error is None


def test_an_event_tells_who_did_what_to_what_with_which_outcome(runtime: Runtime) -> None:
    run(runtime.for_call(group="g1", conversation="c1"), Change(path="b.txt", count=3, colour=Colour.RED))
    (row,) = rows(runtime)
    assert json.loads(row.pop("data")) == {"path": "b.txt", "count": 3, "colour": "red"}
    assert row.pop("at").endswith("Z")
    assert row.pop("duration_ms") >= 0
    assert row == {
        "id": 1,
        "operation": "fs.change",
        "entity": "rcp_1",
        "caller": "shell",
        "run": "g1",
        "conversation": "c1",
        "state": "completed",
        "error": None,
    }


def test_of_a_long_list_the_length_and_a_digest_are_kept(runtime: Runtime) -> None:
    for words in (("x" * 100,) * 30, ("x",) * 65):
        run(runtime, Change(words=words))
        kept = json.loads(rows(runtime)[-1]["data"])["words"]
        assert (kept["length"], len(kept["sha256"])) == (len(words), 64)


def test_the_words_of_a_command_are_kept_without_its_secrets() -> None:
    family, row = catalog.find("machine.exec")
    given = types_of(family.load(row.target))[0]
    words = ("--password", "hunter2x", "--token=abcdef0123", "ghp_" + "a1B2" * 9, "plain")
    assert event_log.describe(given(command="tool", args=words))["args"] == [
        "--password",
        "[redacted]",
        "--token=[redacted]",
        "ghp_[redacted]",
        "plain",
    ]
    assert event_log.describe(given(command="mysql", args=("-phunter2x",)))["args"] == ["-p[redacted]"]


def test_content_and_environment_values_are_kept_as_length_and_hash_only(runtime: Runtime) -> None:
    run(runtime, Change(data="grün", env={"TOKEN": "hush"}, words=("a", "b")))
    (row,) = rows(runtime)
    assert json.loads(row["data"]) == {
        "data": {"length": 5, "sha256": hashlib.sha256("grün".encode()).hexdigest()},
        "env": {"TOKEN": {"length": 4, "sha256": hashlib.sha256(b"hush").hexdigest()}},
        "words": ["a", "b"],
    }


def test_a_long_text_is_cut_at_200_characters() -> None:
    assert event_log.describe(Change(path="x" * 5_000)) == {"path": "x" * 200}


def test_a_name_that_is_no_unicode_can_be_stored(runtime: Runtime) -> None:
    run(runtime, Change(path="a\udcff", data="\udcff"))
    assert len(rows(runtime)) == 1


def test_a_failure_leaves_its_code(runtime: Runtime) -> None:
    dispatch.call_json(runtime, "fs.stat", {"path": "missing"})
    (row,) = rows(runtime)
    assert (row["state"], row["error"], row["entity"]) == ("blocked", "not_found", "missing")


@pytest.mark.parametrize("caller", [Caller.BATCH, Caller.MCP])
def test_reads_of_a_long_lived_process_are_all_stored_when_it_ends(runtime: Runtime, caller: Caller) -> None:
    for _ in range(50):
        run(runtime.for_call(caller=caller), Change(), Effect.READ)
    runtime.close()
    assert len(rows(runtime)) == 50


def test_a_read_does_not_wait_for_its_event_and_counts_what_was_lost(runtime: Runtime) -> None:
    other = sqlite3.connect(runtime.store.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    run(runtime, Change(), Effect.READ)
    other.execute("ROLLBACK")
    other.close()
    assert rows(runtime) == []
    assert (Path(runtime.data_dir) / DROPPED_NAME).read_bytes() == b"."


def test_a_read_does_not_wait_for_a_database_that_cannot_even_be_opened(runtime: Runtime, data_is_held: Path) -> None:
    started = time.monotonic()
    answer = dispatch.call_json(runtime, "fs.stat", {"path": "."})
    assert answer.state is State.COMPLETED
    assert time.monotonic() - started < 2  # the usual wait is ten seconds
    assert (data_is_held / DROPPED_NAME).read_bytes() == b"."


@pytest.fixture
def data_is_held(runtime: Runtime) -> Iterator[Path]:
    """Another program has taken the database for itself."""
    path = runtime.store.path
    runtime.close()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("PRAGMA locking_mode = EXCLUSIVE")
    other.execute("BEGIN IMMEDIATE")
    yield Path(runtime.data_dir)
    other.close()


@pytest.mark.parametrize("name", [name for name, row in rows_of_the_catalog() if row.effect is not Effect.READ])
def test_a_field_that_holds_content_says_so(name: str) -> None:
    family, row = catalog.find(name)
    given = fields_of(types_of(family.load(row.target))[0])
    holding = [field for field in given if field.name in ("content", "data", "diff", "new", "old", "text")]
    assert [field.name for field in holding if field.base is str and not field.many and not field.find(Content)] == []


def test_a_read_works_without_any_data_directory(runtime: Runtime, work: Path) -> None:
    (work / "a.txt").touch()
    Path(runtime.data_dir).parent.mkdir(parents=True)
    Path(runtime.data_dir).write_bytes(b"in the way")
    answer = dispatch.call_json(runtime, "fs.stat", {"path": "a.txt"})
    assert answer.state is State.COMPLETED
