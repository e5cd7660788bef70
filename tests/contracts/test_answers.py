"""The shell with `--json` and `hearth call` give the same document for the same call."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hearth import catalog
from hearth.fields import fields_of
from hearth.model import Cli
from hearth.operation import Effect, Family, Operation, Surface, types_of
from tests.marks import EMULATED

Hearth = Callable[..., Any]
ROWS = {f"{family.name}.{row.name}": (family, row) for family, row in catalog.walk() if Surface.CLI in row.surfaces}
VOLATILE = ("_ms", "_at")  # differ from call to call


def words_of(family: Family, row: Operation) -> tuple[str, ...]:
    return (*(() if family.top_level else (family.name,)), *row.at_shell)


# What doctor says about the rest of the machine, where a process may start or end between the two calls.
PASSING = ("processes", "free_space")
# Tell about the machine at this moment, so only their fields are compared.
MOVING = ("machine.host_info", "machine.process_list", "recipe.suggest")


def settled(value: Any) -> Any:
    """The document without what a second call may answer differently."""
    if isinstance(value, dict):
        return {key: settled(item) for key, item in value.items() if not key.endswith(VOLATILE)}
    if isinstance(value, list):
        return [settled(item) for item in value if not (isinstance(item, dict) and item.get("check") in PASSING)]
    return value


@pytest.mark.parametrize("name", ROWS)
def test_a_command_with_json_answers_as_its_call_does(name: str, work: Path, hearth: Hearth) -> None:
    family, row = ROWS[name]
    needed = [field for field in fields_of(types_of(family.load(row.target))[0]) if field.required]
    # Without what is required both refuse; an operation that only reads and needs nothing really runs.
    if name == "fs.watch":
        pytest.skip("waits for something to change")
    if not needed and row.effect is not Effect.READ:
        pytest.skip("would change something, and needs no input to do so")
    if name == "self.doctor" and EMULATED:
        pytest.skip("the emulator ends the process when it is asked about other processes")
    (work / "a.txt").write_bytes(b"hello\n")
    at_shell, called = hearth(*words_of(family, row), "--json"), hearth("call", name)
    assert at_shell.status == called.status
    if name in MOVING:
        assert list(at_shell.json) == list(called.json)
    else:
        assert settled(at_shell.json) == settled(called.json)


@pytest.mark.parametrize("name", [name for name, (_, row) in ROWS.items() if row.effect is Effect.READ])
def test_a_command_about_a_path_answers_the_same_through_call(name: str, work: Path, hearth: Hearth) -> None:
    family, row = ROWS[name]
    fields = fields_of(types_of(family.load(row.target))[0])
    if [field.name for field in fields if field.required] != ["path"]:
        pytest.skip("needs more or less than a path")
    (work / "a.txt").write_bytes(b"hello\n")
    path = next(field for field in fields if field.name == "path")
    shape = path.find(Cli) or Cli()
    words = ("a.txt",) if shape.argument else ("--path", "a.txt")
    at_shell = hearth(*words_of(family, row), *words, "--json")
    called = hearth("call", name, json.dumps({"path": "a.txt"}))
    assert (at_shell.status, settled(at_shell.json)) == (called.status, settled(called.json))
