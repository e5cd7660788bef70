from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hearth import catalog

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
