"""From the flat arguments of a tool to one operation and its exact input.

Hosts differ in what they send for a field that is not used, so null means absent for every field that the tool
publishes. What is left is checked by the operation's own model, as on every other surface.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hearth import catalog, check
from hearth.errors import InvalidInput, Problem, invalid
from hearth.fields import Field, fields_of
from hearth.mcp.common import Common
from hearth.mcp.tools import Tool
from hearth.operation import types_of

COMMON = frozenset(field.name for field in fields_of(Common))
# Names that hearth's predecessor had; hosts keep a list of tools for months.
FORMER_OPERATIONS = {("task", "status"): "get"}
FORMER = {"fs.undo": {"receipt_id": "receipt"}}


@dataclass(frozen=True, slots=True)
class Call:
    """One operation, its input as JSON, and what the call says beside it."""

    operation: str
    value: dict[str, Any]
    common: Common


def call_of(tool: Tool, arguments: Any) -> Call:
    """What a tool's arguments mean. Raises `InvalidInput`."""
    given = arguments_of(arguments)
    name = operation_of(tool, given.pop("operation", None))
    common: Common = check.validate(Common, {key: given.pop(key) for key in COMMON & given.keys()})
    dotted = f"{tool.family}.{name}"
    value = {key: item for key, item in given.items() if item is not None or key not in tool.fields}
    for former, now in FORMER.get(dotted, {}).items():
        if former in value and now not in value:
            value[now] = value.pop(former)
    return Call(dotted, _exact(dotted, value), common)


def arguments_of(arguments: Any) -> dict[str, Any]:
    if arguments is None:
        return {}
    if not isinstance(arguments, dict):
        raise invalid("", "wrong_type", "the arguments must be an object with an operation")
    return dict(arguments)


def operation_of(tool: Tool, named: Any) -> str:
    name = named.replace("-", "_") if isinstance(named, str) else named
    if isinstance(name, str):
        name = FORMER_OPERATIONS.get((tool.family, name), name)
    if isinstance(name, str) and name in tool.operations:
        return name
    words = ", ".join(sorted(tool.operations))
    if named is None:
        raise invalid("operation", "missing", f"is required: one of {words}")
    raise invalid("operation", "not_one_of", f"must be one of {words}")


def _exact(dotted: str, value: dict[str, Any]) -> dict[str, Any]:
    if not any(isinstance(item, list) for item in value.values()):
        return value  # nothing that a table could be written as
    family, row = catalog.find(dotted)
    problems: list[Problem] = []
    made = _tables(types_of(family.load(row.target))[0], value, "", problems)
    if problems:
        raise InvalidInput(*problems)
    return made


def _tables(model: type, value: dict[str, Any], where: str, problems: list[Problem]) -> dict[str, Any]:
    """The value with its lists of NAME=value made tables, at every level."""
    fields = {field.name: field for field in fields_of(model)}
    return {
        name: _table_or_below(fields[name], item, f"{where}{name}", problems) if name in fields else item
        for name, item in value.items()
    }


def _table_or_below(field: Field, item: Any, where: str, problems: list[Problem]) -> Any:
    if field.mapping and isinstance(item, list):
        return _table(item, where, problems)
    if not field.is_model:
        return item
    if isinstance(item, dict):
        return _tables(field.base, item, f"{where}.", problems)
    if field.many and isinstance(item, list):
        return [
            _tables(field.base, each, f"{where}.{place}.", problems) if isinstance(each, dict) else each
            for place, each in enumerate(item)
        ]
    return item


def _table(pairs: list[Any], where: str, problems: list[Problem]) -> dict[str, str]:
    made: dict[str, str] = {}
    for place, pair in enumerate(pairs):
        name, equals, text = pair.partition("=") if isinstance(pair, str) else ("", "", "")
        if not equals:
            problems.append(Problem(f"{where}.{place}", "wrong_form", "must be NAME=value"))
        elif name in made:
            problems.append(Problem(f"{where}.{place}", "twice", f"{name} has a value already"))
        else:
            made[name] = text
    return made
