from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from hearth import catalog
from hearth.mcp import schema, tools

Hearth = Callable[..., Any]


def test_operations_lists_every_row_with_effect_surfaces_and_schema(hearth: Hearth) -> None:
    rows = hearth("operations", "--json").json["operations"]
    assert [row["operation"] for row in rows] == [f"{family.name}.{row.name}" for family, row in catalog.walk()]
    stat = next(row for row in rows if row["operation"] == "fs.stat")
    assert (stat["effect"], stat["surfaces"]) == ("read", ["cli", "mcp", "scatter", "recipe"])
    assert stat["input_schema"]["additionalProperties"] is False


def test_operations_of_one_family(hearth: Hearth) -> None:
    assert all(line.startswith("fs.") for line in hearth("operations", "fs").out.splitlines())


def test_operations_of_an_unknown_family_names_the_families(hearth: Hearth) -> None:
    done = hearth("operations", "sf")
    assert done.status == 2
    assert "fs" in done.err


def test_schema_gives_what_goes_in_and_what_comes_out(hearth: Hearth) -> None:
    made = hearth("schema", "fs.stat").json
    assert made["input"]["required"] == ["path"]
    assert made["input"]["properties"]["path"]["description"]
    assert "size" in made["result"]["properties"]


def test_schema_of_an_unknown_operation_offers_the_nearest(hearth: Hearth) -> None:
    done = hearth("schema", "fs.stats")
    assert done.status == 2
    assert "fs.stat" in done.err


def test_schema_of_a_family_is_what_its_tool_publishes(hearth: Hearth) -> None:
    made = hearth("schema", "fs").json
    tool = next(each for each in tools.load().listed if each["name"] == "fs")
    assert (made["family"], made["input"]) == ("fs", tool["inputSchema"])


@pytest.mark.parametrize("family", ["machine", "fs", "task", "artifact"])
def test_the_exact_schema_of_a_family_knows_which_operation_takes_what(hearth: Hearth, family: str) -> None:
    exact = hearth("schema", family, "--exact").json["input"]
    Draft202012Validator.check_schema(exact)
    assert len(exact["oneOf"]) == len(schema.rows_of(catalog.family(family)))


def test_the_exact_schema_refuses_a_field_of_another_operation(hearth: Hearth) -> None:
    check = Draft202012Validator(hearth("schema", "fs", "--exact").json["input"])
    assert check.is_valid({"operation": "stat", "path": "a"})
    assert not check.is_valid({"operation": "stat", "path": "a", "query": "x"})
    assert not check.is_valid({"operation": "stat"})


REFUSED = [(("self",), "unknown_operation"), (("fs.stat", "--exact"), "invalid_input")]


@pytest.mark.parametrize(("words", "code"), REFUSED)
def test_schema_refuses_what_no_tool_has(hearth: Hearth, words: tuple[str, ...], code: str) -> None:
    done = hearth("schema", *words, "--json")
    assert (done.status, done.json["error"]["code"]) == (2, code)
