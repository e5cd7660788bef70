"""Checks values that already have a Python type against the fields of a model, without pydantic.

The shell and the settings files use it; JSON is checked by `check`. A test holds the two against each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from enum import Enum
from typing import Any, TypeVar

from hearth.errors import InvalidInput, Problem
from hearth.fields import Field, fields_of
from hearth.model import Ge, Le, Len, Pattern

T = TypeVar("T")

_NAMES = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}


def build(model: type[T], values: Mapping[str, Any]) -> T:
    """The model made of `values`. Raises `InvalidInput` with every problem."""
    problems = list(problems_of(model, values))
    if problems:
        raise InvalidInput(*problems)
    known = {field.name: field for field in fields_of(model)}
    return model(
        **{known[name].attribute: _typed(known[name], value) for name, value in values.items() if value is not None}
    )


def problems_of(model: type, values: Mapping[str, Any]) -> Iterator[Problem]:
    """Every problem of `values` as the fields of `model`."""
    fields = {field.name: field for field in fields_of(model)}
    for name in values:
        if name not in fields:
            yield unknown(name, fields)
    for field in fields.values():
        value = values.get(field.name)
        if value is not None:
            yield from check_field(field, value)
        elif field.required:
            yield Problem(field.name, "missing", "is required")


def unknown(name: str, known: Mapping[str, Any]) -> Problem:
    """The problem of a field that does not exist, with the one that was probably meant."""
    from difflib import get_close_matches

    near = get_close_matches(name, known, 1)
    return Problem(name, "unknown_field", "is not a field" + (f"; did you mean {near[0]}?" if near else ""))


def check_field(field: Field, value: Any) -> Iterator[Problem]:
    """The problems of one value, in the order that pydantic finds them in: a list's length above its items."""
    if not (field.many or field.mapping):
        yield from _check_item(field.name, field.base, field.metadata, value)
        return
    if field.mapping != isinstance(value, dict) or not isinstance(value, (dict, tuple, list)):
        yield Problem(field.name, "wrong_type", f"must be {'a table' if field.mapping else 'a list'}")
        return
    length = next(_check_bounds(field.name, field.metadata, value), None)
    if length and length.code == "too_long":
        yield length
        return
    items = value.items() if isinstance(value, dict) else enumerate(value)
    wrong = [
        problem
        for key, item in items
        for problem in _check_item(f"{field.name}.{key}", field.base, field.item_metadata, item)
    ]
    yield from wrong or ([length] if length else [])


def _check_item(where: str, base: Any, metadata: tuple[Any, ...], value: Any) -> Iterator[Problem]:
    if isinstance(base, type) and issubclass(base, Enum):
        words = [member.value for member in base]
        if value not in words:
            yield Problem(where, "not_one_of", f"must be one of {', '.join(words)}")
        return
    if isinstance(base, type) and is_dataclass(base) and not isinstance(value, (base, dict)):
        yield Problem(where, "wrong_type", "must be an object")
        return
    if base in _NAMES and not _has_type(value, base):
        yield Problem(where, "wrong_type", f"must be {_NAMES[base]}")
        return
    yield from _check_bounds(where, metadata, value)


def _has_type(value: Any, base: type) -> bool:
    if isinstance(value, bool):
        return base is bool
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return False  # JSON has no such numbers
    return isinstance(value, (int, float) if base is float else base)


def _check_bounds(where: str, metadata: tuple[Any, ...], value: Any) -> Iterator[Problem]:
    """The first bound that the value breaks; lengths go before patterns."""
    for fact in sorted(metadata, key=lambda fact: isinstance(fact, Pattern)):
        if problem := _broken(where, fact, value):
            yield problem
            return


def _broken(where: str, fact: Any, value: Any) -> Problem | None:
    if isinstance(fact, Ge) and value < fact.ge:
        return Problem(where, "too_small", f"must be {fact.ge} or more")
    if isinstance(fact, Le) and value > fact.le:
        return Problem(where, "too_large", f"must be {fact.le} or less")
    if isinstance(fact, Len):
        return _wrong_length(where, fact, value)
    if isinstance(fact, Pattern) and not re.search(fact.regex, value):
        return Problem(where, "wrong_form", fact.message)
    return None


def _wrong_length(where: str, bound: Len, value: Any) -> Problem | None:
    unit = "characters" if isinstance(value, str) else "items"
    if not value and bound.min_length == 1:
        return Problem(where, "too_short", "must not be empty")
    if len(value) < bound.min_length:
        return Problem(where, "too_short", f"must have at least {bound.min_length} {unit}")
    if bound.max_length is not None and len(value) > bound.max_length:
        return Problem(where, "too_long", f"must have at most {bound.max_length} {unit}")
    return None


def _typed(field: Field, value: Any) -> Any:
    if field.many:
        return tuple(_typed_item(field, item) for item in value)
    if field.mapping:
        return {key: _typed_item(field, item) for key, item in value.items()}
    return _typed_item(field, value)


def _typed_item(field: Field, value: Any) -> Any:
    if field.choices:
        return field.base(value)
    return float(value) if field.base is float else value
