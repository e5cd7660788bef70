"""The register of faults that hearth is built against: each is held by tests that exist, or owed by a family."""

from __future__ import annotations

import ast
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from hearth import catalog

TESTS = Path(__file__).parents[1]
# The families that are still to come, and the MCP server. One that is there owes nothing any more.
BEGUN = {"recipe", "run"}  # families that have some of their rows
OWERS = frozenset({"machine", "task", "artifact", "ui", "recipe", "run", "serve"}) - (set(catalog.FAMILIES) - BEGUN)
KEYS = frozenset({"id", "title", "tests", "owed_by", "rest_owed_by"})


def faults() -> list[dict[str, Any]]:
    with open(TESTS / "data" / "faults.toml", "rb") as file:
        entries = tomllib.load(file)["fault"]
    assert isinstance(entries, list)
    return entries


FAULTS = faults()
HELD = [(fault["id"], test) for fault in FAULTS for test in fault.get("tests", ())]


def test_each_fault_stands_once_and_in_order() -> None:
    ids = [fault["id"] for fault in FAULTS]
    assert [each for each, times in Counter(ids).items() if times > 1] == []
    assert ids == sorted(ids)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault["id"])
def test_a_fault_is_held_or_owed_and_never_both(fault: dict[str, Any]) -> None:
    assert set(fault) <= KEYS
    assert fault["title"]
    assert bool(fault.get("tests")) is not bool(fault.get("owed_by"))
    owers = {fault["owed_by"]} if "owed_by" in fault else set(fault.get("rest_owed_by", ()))
    assert owers <= OWERS


@pytest.mark.parametrize(("fault", "test"), HELD, ids=[f"{fault}-{test}" for fault, test in HELD])
def test_a_test_that_holds_a_fault_exists(fault: str, test: str) -> None:
    file, _, name = test.partition("::")
    source = TESTS.parent / file
    assert source.is_file(), f"fault {fault} names {file}, which is not there"
    assert name in _tests_in(source), f"fault {fault} names {name}, which {file} does not have"


@cache
def _tests_in(source: Path) -> set[str]:
    tree = ast.parse(source.read_text(encoding="utf-8"))
    return {
        node.name
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.name.startswith("test_")
    }
