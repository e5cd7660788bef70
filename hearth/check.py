"""JSON in, typed inputs out, by pydantic; and the JSON Schemas of the same models.

The only module that imports pydantic, so a command at the shell never does.
"""

from __future__ import annotations

import base64
import dataclasses
import json
import os
import re
from collections.abc import Iterator
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError

from hearth.bounds import check_field, unknown
from hearth.errors import InvalidInput, Problem, invalid
from hearth.fields import Field, fields_of
from hearth.model import PathName

T = TypeVar("T")

# pydantic's error types about lists of models; what is wrong with plain values is worded by `bounds`.
_CODES = {
    "too_short": "too_short",
    "too_long": "too_long",
}
NOT_UNICODE = "text cannot hold half a surrogate pair; a name that is not UTF-8 goes into <field>_base64"
_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,99})\Z", re.ASCII)


def parse(text: str | bytes) -> Any:
    """A JSON value. Raises `InvalidInput`, with a hint where a shell has eaten the quotes."""
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        shown = text if isinstance(text, str) else text.decode("utf-8", "replace")
        hint = None
        if re.match(r"\s*\{\s*[\w']", shown):
            hint = "the shell took the quotes away: give the JSON on standard input (-) or in a file (@input.json)"
        raise InvalidInput(Problem("", "not_json", f"this is not JSON: {error}"), hint=hint) from None


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON value")


def validate(model: type[T], value: Any) -> T:
    """The model that a JSON value means. Raises `InvalidInput` with every problem, by field."""
    if not isinstance(value, dict):
        raise InvalidInput(Problem("", "wrong_type", "the input must be a JSON object"))
    exact = dict(_paths_from_base64(model, value))
    # JSON cannot hold a name that is not UTF-8, so a readable one stands in while the rest is checked.
    stand_ins = {name: os.fsencode(path).decode("utf-8", "replace") for name, path in exact.items()}
    rest = {name: item for name, item in value.items() if name.removesuffix("_base64") not in exact}
    prepared = _prepare_model(model, rest) | stand_ins
    try:
        checked: Any = _adapter(model).validate_json(json.dumps(prepared))
    except ValidationError as error:
        raise InvalidInput(*_problems(error, model, prepared)) from None
    return cast(T, dataclasses.replace(checked, **exact) if exact else checked)


def input_schema(model: type) -> dict[str, Any]:
    """The JSON Schema of what a model accepts."""
    return _named(model, _adapter(model).json_schema(mode="validation"))


def result_schema(model: type) -> dict[str, Any]:
    """The JSON Schema of what a model is written as."""
    return _named(model, _adapter(model).json_schema(mode="serialization"))


def _named(model: type, schema: dict[str, Any]) -> dict[str, Any]:
    """A schema with the names that every surface uses."""
    names = {field.attribute: field.name for field in fields_of(model)}
    properties = {names.get(key, key): item for key, item in schema.get("properties", {}).items()}
    return {**schema, "properties": properties}


def _adapter(model: type[T]) -> TypeAdapter[T]:
    if model not in _ADAPTERS:
        _ADAPTERS[model] = TypeAdapter(model)
    return _ADAPTERS[model]


_ADAPTERS: dict[type, TypeAdapter[Any]] = {}


def _prepare_model(model: type, value: dict[str, Any]) -> dict[str, Any]:
    """Take out nulls, which mean absent, and accept digits for whole numbers and exact words for booleans."""
    fields = {field.name: field for field in fields_of(model)}
    prepared: dict[str, Any] = {}
    for name, item in value.items():
        field = fields.get(name)
        if field is None:
            path = fields.get(name.removesuffix("_base64"))
            if item is not None or path is None or path.find(PathName) is None:
                # An attribute's own spelling is nobody's name, so it must not reach the attribute.
                prepared[f"{name} " if name.endswith("_") else name] = item
        elif item is not None:
            prepared[field.attribute] = _prepare(field, item)
    return prepared


def _paths_from_base64(model: type, value: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """The fields that hold a path and were given as `<field>_base64`, decoded."""
    for field in fields_of(model):
        given = value.get(f"{field.name}_base64")
        if given is not None and field.find(PathName) is not None:
            try:
                yield field.name, os.fsdecode(base64.b64decode(given, validate=True))
            except (ValueError, TypeError):
                raise invalid(f"{field.name}_base64", "wrong_form", "must be base64") from None


def _prepare(field: Field, item: Any) -> Any:
    if field.many and isinstance(item, list):
        return [_prepare_item(field, each) for each in item]
    if field.mapping and isinstance(item, dict):
        return {key: _prepare_item(field, each) for key, each in item.items()}
    if field.many or field.mapping:
        return item
    return _prepare_item(field, item)


def _prepare_item(field: Field, item: Any) -> Any:
    if field.is_model and isinstance(item, dict):
        return _prepare_model(field.base, item)
    if not isinstance(item, str):
        return item
    if field.base is int and _WHOLE.match(item):
        return int(item)
    if field.base is bool and item in ("true", "false"):
        return item == "true"
    return item


def _problems(error: ValidationError, model: type, value: dict[str, Any]) -> Iterator[Problem]:
    seen = set()
    told: set[tuple[int, str]] = set()
    for found in error.errors(include_url=False, include_context=False, include_input=False):
        if found["type"] == "json_invalid":  # it was JSON a moment ago, but for this
            yield Problem("", "not_unicode", NOT_UNICODE)
            continue
        problems = _problems_at(model, value, found["loc"], found["type"], told)
        if problems is None:
            continue
        for problem in problems or [_own_words(found)]:
            if problem not in seen:
                seen.add(problem)
                yield problem


def _own_words(found: Any) -> Problem:
    where = ".".join(map(str, found["loc"]))
    return Problem(where, _CODES.get(found["type"], "wrong_type"), found["msg"])


def _problems_at(
    model: type, value: Any, path: tuple[Any, ...], kind: str, told: set[tuple[int, str]]
) -> list[Problem] | None:
    """The problems of the field on the path as the shell finds and words them, so that every surface says the same;
    none where only pydantic knows it, None where all of that field was told: each wrong item of a list comes here."""
    fields = {field.name: field for field in fields_of(model)}
    if not path:
        return []
    name, below = path[0], path[1:]
    field = next((field for field in fields.values() if field.attribute == name), None)
    if field is None:
        return [unknown(str(name).rstrip(" "), fields)]
    if kind == "missing" and not below:
        return [Problem(field.name, "missing", "is required")]
    nested, prefix = value[name], field.name
    if field.is_model and (field.many or field.mapping) and below:
        nested, prefix, below = nested[below[0]], f"{name}.{below[0]}", below[1:]
    if field.is_model and below:
        inside = _problems_at(field.base, nested, below, kind, told)
        return inside and [dataclasses.replace(problem, field=f"{prefix}.{problem.field}") for problem in inside]
    if (id(value), name) in told:
        return None
    problems = list(check_field(field, value[name]))
    if problems:
        told.add((id(value), name))
    return problems
