"""The tools that are published: in the part of JSON Schema that every host accepts, and small."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Annotated, Any

import pytest

from hearth import catalog
from hearth.fields import fields_of
from hearth.mcp import schema, tools
from hearth.mcp.common import Common
from hearth.model import Ge, Help, Le, model
from hearth.operation import Effect, Family, Operation, Surface, types_of
from hearth.settings import ServeTools

ALL = schema.tools()
LISTED = [*ALL["tools"], *ALL["read"]]
IDS = [each["name"] for each in LISTED]
KEYWORDS = frozenset(
    ("type", "description", "enum", "items", "properties", "required", "additionalProperties", "minimum", "maximum")
)


def test_the_served_file_is_what_the_catalog_makes(generated: Callable[[str, str], None]) -> None:
    generated("hearth/mcp/tools.json", schema.written())


@pytest.mark.parametrize("tool", LISTED, ids=IDS)
def test_a_tool_is_one_flat_closed_object(tool: dict[str, Any]) -> None:
    root = tool["inputSchema"]
    assert set(root) == {"type", "properties", "required", "additionalProperties"}
    assert (root["type"], root["required"], root["additionalProperties"]) == ("object", ["operation"], False)
    assert root["properties"]["operation"]["enum"]


@pytest.mark.parametrize("tool", LISTED, ids=IDS)
def test_a_tool_keeps_to_what_every_host_accepts(tool: dict[str, Any]) -> None:
    for node, depth in nodes(tool["inputSchema"], 1):
        assert set(node) <= KEYWORDS
        assert isinstance(node["type"], str)
        assert depth <= 5
        assert node["type"] != "array" or "items" in node
        assert node["type"] != "object" or node["additionalProperties"] is False
        assert all(isinstance(word, str) for word in node.get("enum", []))
    names = [tool["name"], *tool["inputSchema"]["properties"]]
    assert all(re.fullmatch("[a-z][a-z0-9_]{0,47}", name) for name in names)


def nodes(node: dict[str, Any], depth: int) -> Iterator[tuple[dict[str, Any], int]]:
    yield node, depth
    for inner in node.get("properties", {}).values():
        yield from nodes(inner, depth + 1)
    if "items" in node:
        yield from nodes(node["items"], depth)  # what hosts count is objects in objects


@pytest.mark.parametrize("tool", LISTED, ids=IDS)
def test_a_field_says_what_it_is_for_unless_many_operations_have_it(tool: dict[str, Any]) -> None:
    family = catalog.family(tool["name"].removesuffix(tools.READ_TWIN))
    owners = Counter(
        field.name for row in schema.rows_of(family) for field in schema.published(types_of(family.load(row.target))[0])
    )
    fields = tool["inputSchema"]["properties"]
    silent = [name for name, each in fields.items() if not each.get("description") and not name.endswith("_base64")]
    assert [name for name in silent if owners[name] <= 2] == []


@pytest.mark.parametrize("tool", LISTED, ids=IDS)
def test_a_tool_is_small(tool: dict[str, Any]) -> None:
    assert schema.size(tool) <= 9 * 1024
    assert len(tool["inputSchema"]["properties"]["operation"]["description"]) <= 1_024
    assert len(tool["description"]) <= 1_024


def test_all_tools_together_are_small() -> None:
    assert sum(map(schema.size, ALL["tools"])) <= 36 * 1024


def test_every_field_of_every_served_operation_is_published() -> None:
    published = {tool["name"]: set(tool["inputSchema"]["properties"]) for tool in ALL["tools"]}
    missing = [
        f"{family.name}.{row.name}.{field.name}"
        for family, row in catalog.walk()
        if Surface.MCP in row.surfaces and not family.top_level
        for field in schema.published(types_of(family.load(row.target))[0])
        if field.name not in published[family.name]
    ]
    assert missing == []


def test_every_tool_takes_what_every_call_may_say() -> None:
    common = {field.name for field in fields_of(Common)}
    assert all(common <= set(tool["inputSchema"]["properties"]) for tool in LISTED)


def test_hearths_own_care_is_not_served() -> None:
    assert "self" not in IDS


@pytest.mark.parametrize("tool", LISTED, ids=IDS)
def test_hints_are_all_set_and_honest(tool: dict[str, Any]) -> None:
    hints = tool["annotations"]
    family = catalog.family(tool["name"].removesuffix(tools.READ_TWIN))
    effects = {family.operation(name).effect for name in tool["inputSchema"]["properties"]["operation"]["enum"]}  # type: ignore[union-attr]
    assert hints["readOnlyHint"] is (effects == {Effect.READ})
    assert hints["destructiveHint"] is (Effect.DESTROY in effects)
    assert hints["idempotentHint"] is (effects == {Effect.READ})
    assert isinstance(hints["openWorldHint"], bool)


def test_artifact_only_reads_by_every_hint() -> None:
    hints = next(tool for tool in LISTED if tool["name"] == "artifact")["annotations"]
    assert [hints[name] for name in ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")] == [
        True, False, True, False,
    ]  # fmt: skip


def test_split_adds_tools_that_only_read_beside_those_that_may_write() -> None:
    names = [each["name"] for each in tools.load(ServeTools.SPLIT).listed]
    assert names[: len(ALL["tools"])] == [each["name"] for each in tools.load().listed]
    assert "fs_read" in names
    assert "artifact_read" not in names


# How fields of one name become one.


@model
class CountOf:
    many: Annotated[int, Ge(2), Le(10), Help("How many.")] = 2


@model
class LargeCountOf:
    many: Annotated[int, Ge(5), Le(100), Help("How many at most.")] = 5


@model
class ManyOf:
    many: Annotated[bool, Help("Whether many.")] = False


@model
class ResultOf:
    many: int = 0


def count(_: Any, __: CountOf) -> ResultOf:
    raise AssertionError


def large_count(_: Any, __: LargeCountOf) -> ResultOf:
    raise AssertionError


def many(_: Any, __: ManyOf) -> ResultOf:
    raise AssertionError


def family_of(*targets: str) -> Family:
    rows = tuple(Operation(target, f"test_schema:{target}", Effect.READ, "Do it.") for target in targets)
    return Family("thing", "Things.", rows, package="tests.mcp")


def test_a_field_of_two_operations_has_the_widest_of_their_bounds_and_both_texts() -> None:
    family = family_of("count", "large_count")
    field = schema.tool(family, list(family.operations), "thing")["inputSchema"]["properties"]["many"]
    assert field == {
        "type": "integer",
        "minimum": 2,
        "maximum": 100,
        "description": "count: How many. large_count: How many at most.",
    }


def test_fields_of_one_name_and_two_types_are_not_published() -> None:
    family = family_of("count", "many")
    with pytest.raises(schema.SchemaConflict, match=r"thing.many of count and many: .* are not one type"):
        schema.tool(family, list(family.operations), "thing")
