"""From the catalog to tools: one flat, closed object a family, in the part of JSON Schema that every host accepts.

What a host reads is a help for its model; whether an input is right is decided by the operation's own check. So a
field that several operations have is published once, with the widest of their bounds and all of their words. Lengths
are not published: the answer to what is too long says so.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from hearth import catalog
from hearth.fields import Field, fields_of
from hearth.mcp.common import Common
from hearth.mcp.tools import READ_TWIN
from hearth.model import Cli, Ge, Le, PathName
from hearth.operation import Effect, Family, Operation, Surface, types_of

TYPES = {int: "integer", float: "number", bool: "boolean", str: "string"}
OPERATIONS_LENGTH = 1_024  # what every host shows of one description
MAX_BYTES = 9 * 1024
AIM_BYTES = 6_000  # of a tool; each of its descriptions is what every call of every model pays for
TOLD_BOUND = 1_000_000  # a larger bound helps no model


EXACT_PATHS = frozenset(("path", "to", "cwd"))  # whose `<field>_base64` is published; it is accepted of every path

# Programs and desktops do what they like; files and artifacts are this machine's own.
OPEN_WORLD = frozenset(("machine", "task", "ui", "recipe", "run"))

# Results are described by their operation; a host only has to know that there is a state.
OUTPUT: dict[str, Any] = {"type": "object", "properties": {"state": {"type": "string"}}, "required": ["state"]}


class SchemaConflict(Exception):
    """Two operations of a family have fields of one name that cannot be published as one: rename or unify them."""


@dataclass(frozen=True, slots=True)
class Owned:
    """A field of one operation."""

    operation: str
    field: Field


@dataclass(frozen=True, slots=True)
class Wording:
    """How much is said: a longer text ends with its first clause, which any of `marks` ends; more texts than `texts`
    of one field become the commonest one; more operations than `owners` are not named; and what more than `common`
    have is not explained, nor without `inner` what lies in the objects of a field."""

    length: int
    texts: int
    owners: int
    marks: str = ";"
    common: int = 100
    inner: bool = True


# From generous to terse; the first that fits is used.
WORDINGS = (
    Wording(120, 4, 9),
    Wording(80, 2, 5),
    Wording(50, 2, 3),
    Wording(0, 1, 2),
    Wording(25, 1, 1, ";:,", 2, False),
)


def tools() -> dict[str, list[dict[str, Any]]]:
    """`tools`, one a family, and `read`, the same without what writes, where that is less. Raises `SchemaConflict`."""
    families = [found for name in catalog.FAMILIES if not (found := catalog.family(name)).top_level]
    served = [(family, rows) for family in families if (rows := rows_of(family))]
    reading = [(family, rows, [row for row in rows if row.effect is Effect.READ]) for family, rows in served]
    return {
        "tools": [tool(family, rows, family.name) for family, rows in served],
        "read": [
            tool(family, reads, family.name + READ_TWIN)
            for family, rows, reads in reading
            if 0 < len(reads) < len(rows)
        ],
    }


def written() -> str:
    """The file that is served from."""
    return json.dumps(tools(), indent=1, ensure_ascii=False) + "\n"


def rows_of(family: Family) -> list[Operation]:
    """The operations that are served."""
    return [row for row in family.operations if Surface.MCP in row.surfaces]


def tool(family: Family, rows: list[Operation], name: str) -> dict[str, Any]:
    """A tool that offers these operations of a family."""
    made: dict[str, Any] = {}
    for bound in (AIM_BYTES, MAX_BYTES):
        for wording in WORDINGS:
            made = _worded(family, rows, name, wording)
            if size(made) <= bound:
                return made
    return made


def _worded(family: Family, rows: list[Operation], name: str, wording: Wording) -> dict[str, Any]:
    return {
        "name": name,
        "description": _description(family, rows),
        "inputSchema": _input(family, rows, wording),
        "outputSchema": OUTPUT,
        "annotations": _hints(family, rows),
    }


def exact(family: Family) -> dict[str, Any]:
    """The union of what the operations of a family accept, each by its own name."""
    from hearth import check

    made: list[dict[str, Any]] = []
    definitions: dict[str, Any] = {}
    for row in rows_of(family):
        own = check.input_schema(_input_type(family, row))
        for name, definition in own.pop("$defs", {}).items():
            if definitions.setdefault(name, definition) != definition:
                raise SchemaConflict(f"{family.name}.{row.name}: another {name} than in the operations before it")
        properties = {"operation": {"const": row.name}, **own["properties"]}
        made.append({**own, "properties": properties, "required": ["operation", *own.get("required", [])]})
    return {"oneOf": made, **({"$defs": definitions} if definitions else {})}


def size(made: Any) -> int:
    """Bytes of JSON on the wire."""
    return len(json.dumps(made, separators=(",", ":"), ensure_ascii=False).encode())


def _description(family: Family, rows: list[Operation]) -> str:
    risky = [row.name for row in rows if row.effect is Effect.DESTROY]
    parts = [family.summary, "A field is for the operations that its description names, or for all."]
    return " ".join(parts + ([f"May destroy: {', '.join(risky)}."] if risky else []))


def _hints(family: Family, rows: list[Operation]) -> dict[str, Any]:
    effects = {row.effect for row in rows}
    return {
        "title": family.summary.split(":")[0].rstrip("."),
        "readOnlyHint": effects == {Effect.READ},
        "destructiveHint": Effect.DESTROY in effects,
        "idempotentHint": effects == {Effect.READ},
        "openWorldHint": family.name in OPEN_WORLD,
    }


def _input(family: Family, rows: list[Operation], wording: Wording) -> dict[str, Any]:
    owned: dict[str, list[Owned]] = {}
    for row in rows:
        for field in published(_input_type(family, row)):
            owned.setdefault(field.name, []).append(Owned(row.name, field))
    properties: dict[str, Any] = {"operation": _operation(family, rows)}
    if "operation" in owned:
        raise SchemaConflict(f"{family.name}.operation: that is what says which operation a call means")
    for name, owners in owned.items():
        properties[name] = _merged(f"{family.name}.{name}", owners, len(rows), wording)
        if name in EXACT_PATHS and any(each.field.find(PathName) for each in owners):
            properties[f"{name}_base64"] = {"type": "string"}
    for field in fields_of(Common):
        if field.name in properties:
            raise SchemaConflict(f"{family.name}.{field.name}: every call has another field of that name")
        properties[field.name] = {**_value(field, wording), "description": field.help}
    _say_once(properties)
    return {"type": "object", "properties": properties, "required": ["operation"], "additionalProperties": False}


def _say_once(properties: dict[str, Any]) -> None:
    """Take away what is said of a field inside another when it stands with the field of that name beside that."""
    for outer in properties.values():
        _take_away(_fields_in(outer), properties)


def _take_away(inner: dict[str, Any], said: dict[str, Any]) -> None:
    for name in inner.keys() & said.keys():
        if inner[name]["type"] == said[name]["type"]:
            for key in ("description", "enum", "minimum", "maximum"):
                if key == "description" or inner[name].get(key) == said[name].get(key):
                    inner[name].pop(key, None)
            _take_away(_fields_in(inner[name]), _fields_in(said[name]))


def _fields_in(schema: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = schema.get("items", schema).get("properties", {})
    return found


def published(model: type) -> list[Field]:
    """The fields of an input that mean something elsewhere than at the shell."""
    return [field for field in fields_of(model) if not ((shape := field.find(Cli)) and shape.only)]


def _input_type(family: Family, row: Operation) -> type:
    return types_of(family.load(row.target))[0]


def _operation(family: Family, rows: list[Operation]) -> dict[str, Any]:
    text = "\n".join(_line(family, row) for row in rows)
    if len(text) > OPERATIONS_LENGTH:
        text = "\n".join(_line(family, row, short=True) for row in rows)
    return {"type": "string", "enum": [row.name for row in rows], "description": text}


def _line(family: Family, row: Operation, *, short: bool = False) -> str:
    needed = [field.name for field in fields_of(_input_type(family, row)) if field.required]
    named = f"{row.name}({', '.join(needed)})" if needed else row.name
    summary = row.summary.rstrip(".")
    return f"{named}: {_first_clause(summary) if short else summary}"


def _first_clause(text: str) -> str:
    for mark in (";", ":", ","):
        text = text.split(mark)[0]
    return text


def _merged(name: str, owners: list[Owned], operations: int, wording: Wording) -> dict[str, Any]:
    """One schema for a field of several operations. Raises `SchemaConflict`."""
    first, *others = [_value(each.field, wording) for each in owners]
    for owner, other in zip(owners[1:], others, strict=True):
        first = _widest(f"{name} of {owners[0].operation} and {owner.operation}", first, other)
    if len(owners) > wording.common:
        return first
    text = _text(owners, operations, wording)
    return {**first, "description": f"{text} Each NAME=value." if owners[0].field.mapping else text}


def _widest(where: str, one: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """What both schemas accept, and what either does of their bounds and words."""
    merged = {key: value for key, value in one.items() if key in other}
    for key, value in merged.items():
        if key == "enum":
            merged[key] = list(dict.fromkeys([*value, *other[key]]))
        elif key == "minimum":
            merged[key] = min(value, other[key])
        elif key == "maximum":
            merged[key] = max(value, other[key])
        elif key == "items":
            merged[key] = _widest(where, value, other[key])
        elif value != other[key]:
            raise SchemaConflict(f"{where}: {json.dumps(one)} and {json.dumps(other)} are not one type")
    if ("enum" in one) != ("enum" in other):
        raise SchemaConflict(f"{where}: certain words in the one, any in the other")
    return merged


def _text(owners: list[Owned], operations: int, wording: Wording) -> str:
    by_text: dict[str, list[str]] = {}
    for each in owners:
        by_text.setdefault(_shortened(each.field.help, wording), []).append(each.operation)
    if len(by_text) > wording.texts:
        most = max(by_text, key=lambda text: len(by_text[text]))
        by_text = {most: [each.operation for each in owners]}
    if len(by_text) == 1 and (len(owners) == operations or len(owners) > wording.owners):
        return next(iter(by_text))
    return " ".join(f"{', '.join(names)}: {text}" for text, names in by_text.items())


def _shortened(text: str, wording: Wording) -> str:
    if len(text) <= wording.length:
        return text
    for mark in wording.marks:
        text = text.split(f"{mark} ")[0]
    return text.rstrip(".") + "."


def _value(field: Field, wording: Wording) -> dict[str, Any]:
    """The schema of a field's values."""
    if field.mapping:
        return {"type": "array", "items": {"type": "string"}}
    if field.many:
        return {"type": "array", "items": _item(field, field.item_metadata, wording)}
    return _item(field, field.metadata, wording)


def _item(field: Field, facts: tuple[Any, ...], wording: Wording) -> dict[str, Any]:
    if field.is_model:
        return _object(field.base, wording)
    if field.choices:
        return {"type": "string", "enum": list(field.choices)}
    if field.base not in TYPES:
        raise SchemaConflict(f"{field.name}: {field.base} has no schema that every host accepts")
    return {"type": TYPES[field.base], **_bounds(facts)}


def _object(model: type, wording: Wording) -> dict[str, Any]:
    fields = fields_of(model)
    made: dict[str, Any] = {
        "type": "object",
        "properties": {
            field.name: _value(field, wording)
            | ({"description": _shortened(field.help, wording)} if wording.inner else {})
            for field in fields
        },
    }
    if required := [field.name for field in fields if field.required]:
        made["required"] = required
    return {**made, "additionalProperties": False}


def _bounds(facts: tuple[Any, ...]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for fact in facts:
        if isinstance(fact, Ge) and fact.ge > 1:  # that a count is not negative needs no saying
            made["minimum"] = fact.ge
        elif isinstance(fact, Le) and fact.le <= TOLD_BOUND:
            made["maximum"] = fact.le
    return made
