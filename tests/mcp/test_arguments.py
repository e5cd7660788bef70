"""From a tool's flat arguments to one operation and its exact input."""

from __future__ import annotations

from typing import Any

import pytest

from hearth.errors import InvalidInput
from hearth.mcp import tools
from hearth.mcp.arguments import call_of
from hearth.mcp.tools import Tool

TOOLS = tools.load()


def tool(name: str) -> Tool:
    found = TOOLS.find(name)
    assert found is not None
    return found


def refused(name: str, arguments: Any) -> list[tuple[str, str]]:
    with pytest.raises(InvalidInput) as error:
        call_of(tool(name), arguments)
    return [(problem.field, problem.code) for problem in error.value.problems]


def test_the_operation_and_its_fields_are_told_apart() -> None:
    call = call_of(tool("fs"), {"operation": "read", "path": "a", "detach": True, "wait_ms": 5, "ack": 3})
    assert (call.operation, call.value) == ("fs.read", {"path": "a"})
    assert (call.common.detach, call.common.wait_ms, call.common.ack) == (True, 5, 3)


def test_null_is_absent_for_every_field_that_the_tool_publishes() -> None:
    call = call_of(tool("fs"), {"operation": "read", "path": "a", "offset": None, "query": None, "wait_ms": None})
    assert call.value == {"path": "a"}
    assert call.common.wait_ms is None


def test_null_of_a_field_that_nobody_has_stays_to_be_refused() -> None:
    assert call_of(tool("fs"), {"operation": "read", "path": "a", "nonsense": None}).value["nonsense"] is None


def test_hyphens_are_accepted_in_the_name_of_an_operation() -> None:
    assert call_of(tool("machine"), {"operation": "host-info"}).operation == "machine.host_info"


@pytest.mark.parametrize("arguments", [None, {}, {"operation": None}, {"path": "a"}])
def test_a_missing_operation_is_named(arguments: Any) -> None:
    assert refused("fs", arguments) == [("operation", "missing")]


@pytest.mark.parametrize("named", ["nope", "pin", 3, ["read"], ""])
def test_an_operation_that_the_tool_does_not_have_is_refused(named: Any) -> None:
    assert refused("artifact", {"operation": named}) == [("operation", "not_one_of")]


@pytest.mark.parametrize("arguments", [[], "{}", 3])
def test_arguments_that_are_no_object_are_refused(arguments: Any) -> None:
    assert refused("fs", arguments) == [("", "wrong_type")]


def test_common_arguments_are_checked() -> None:
    assert refused("fs", {"operation": "stat", "wait_ms": 45_001, "ack": -1}) == [
        ("wait_ms", "too_large"),
        ("ack", "too_small"),
    ]


def test_a_table_may_be_given_as_a_list_of_pairs_or_as_an_object() -> None:
    pairs = call_of(tool("machine"), {"operation": "exec", "command": "x", "env": ["A=1", "B=c=d", "C="]})
    assert pairs.value["env"] == {"A": "1", "B": "c=d", "C": ""}
    whole = call_of(tool("machine"), {"operation": "exec", "command": "x", "env": {"A": "1"}})
    assert whole.value["env"] == {"A": "1"}


def test_a_table_inside_a_list_may_be_pairs_too() -> None:
    call = call_of(tool("machine"), {"operation": "batch", "commands": [{"command": "x", "env": ["A=1"]}, "odd"]})
    assert call.value["commands"] == [{"command": "x", "env": {"A": "1"}}, "odd"]


def test_wrong_pairs_are_named_by_their_place() -> None:
    assert refused("machine", {"operation": "exec", "command": "x", "env": ["A", "B=1", "B=2", 3]}) == [
        ("env.0", "wrong_form"),
        ("env.2", "twice"),
        ("env.3", "wrong_form"),
    ]


def test_a_former_name_of_an_operation_is_understood() -> None:
    assert call_of(tool("task"), {"operation": "status", "id": "job_1"}).operation == "task.get"


def test_a_former_name_of_a_field_is_understood() -> None:
    call = call_of(tool("fs"), {"operation": "undo", "receipt_id": "rec_1"})
    assert call.value == {"receipt": "rec_1"}
