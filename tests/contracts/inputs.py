"""Inputs of any operation, good and bad, made from the fields of its model."""

from __future__ import annotations

import dataclasses
from enum import StrEnum
from typing import Annotated, Any

from hypothesis import strategies as st

from hearth.fields import Field, fields_of
from hearth.model import Ge, Help, Le, Len, Pattern, model


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


@model
class Part:
    name: Annotated[str, Len(1, 5), Help("A name.")]
    weight: Annotated[float | None, Ge(0), Help("A number.")] = None


@model
class EveryKind:
    """Every kind of field that an operation may declare, so that the agreement is tested for all of them."""

    word: Annotated[str, Len(1, 10), Pattern("^[a-z]+$", "must be small letters"), Help("A pattern.")]
    count: Annotated[int | None, Ge(-3), Le(9), Help("A bounded number.")] = None
    share: Annotated[float, Ge(0), Le(1), Help("A fraction.")] = 0.5
    on: Annotated[bool | None, Help("A switch.")] = None
    colour: Annotated[Colour, Help("A choice.")] = Colour.RED
    colours: Annotated[tuple[Colour, ...], Len(0, 2), Help("Choices.")] = ()
    words: Annotated[tuple[Annotated[str, Len(1, 4)], ...], Len(1, 3), Help("Texts.")] = ("a",)
    numbers: Annotated[tuple[Annotated[int, Ge(1)], ...] | None, Help("Numbers.")] = None
    names: Annotated[dict[str, Annotated[str, Len(0, 4)]], Len(0, 2), Help("A table.")] = dataclasses.field(
        default_factory=dict
    )
    part: Annotated[Part | None, Help("An object.")] = None
    parts: Annotated[tuple[Part, ...], Len(0, 2), Help("Objects.")] = ()


UNICODE = st.characters(exclude_categories=["Cs"])
TEXT = st.text(UNICODE, max_size=12)
# Not exact digits or true/false, which JSON alone may give for numbers and booleans; a test of their own covers these.
WORDS = TEXT.filter(lambda text: not text.lstrip("-").isdigit() and text not in ("true", "false"))
SCALARS = st.one_of(
    st.booleans(), st.integers(-(2**70), 2**70), st.floats(allow_nan=False, allow_infinity=False), WORDS
)
ANYTHING = st.one_of(
    SCALARS, st.lists(SCALARS, max_size=3), st.dictionaries(st.sampled_from(["a", "b"]), SCALARS, max_size=2)
)


def good(kind: type) -> st.SearchStrategy[dict[str, Any]]:
    """JSON that the model accepts, with and without what is optional."""
    fields = fields_of(kind)
    return st.fixed_dictionaries(
        {field.name: _value(field) for field in fields if field.required},
        optional={
            field.name: (st.none() | _value(field) if field.optional else _value(field))
            for field in fields
            if not field.required
        },
    )


def any_input(kind: type) -> st.SearchStrategy[dict[str, Any]]:
    """JSON of which much is wrong: types, bounds, what is missing, what does not exist."""
    fields = fields_of(kind)
    plain = [field for field in fields if not field.is_model]
    nested = [field for field in fields if field.is_model]
    return st.fixed_dictionaries(
        {field.name: _value(field) for field in nested if field.required},
        optional={field.name: st.one_of(_value(field), _near(field), ANYTHING, st.none()) for field in plain}
        | {field.name: _value(field) for field in nested if not field.required}
        | {"no_such_field": SCALARS},
    )


def _value(field: Field) -> st.SearchStrategy[Any]:
    if not (field.many or field.mapping):
        return _item(field, field.metadata)
    least, most = _length(field.metadata)
    most = min(most, least + 3)
    item = _item(field, field.item_metadata)
    if field.many:
        return st.lists(item, min_size=least, max_size=most)
    return st.dictionaries(WORDS, item, min_size=least, max_size=most)


def _item(field: Field, metadata: tuple[Any, ...]) -> st.SearchStrategy[Any]:
    if field.choices:
        return st.sampled_from(field.choices)
    if field.is_model:
        return good(field.base)
    pattern = next((fact for fact in metadata if isinstance(fact, Pattern)), None)
    if pattern is not None:
        return st.from_regex(pattern.regex, fullmatch=True).filter(lambda text: bounds_hold(text, metadata))
    least, most = _length(metadata)
    low, high = _range(metadata)
    kinds: dict[Any, st.SearchStrategy[Any]] = {
        bool: st.booleans(),
        int: st.integers(low, high),
        float: st.floats(low, high, allow_nan=False, allow_infinity=False),
        str: st.text(UNICODE, min_size=least, max_size=min(most, least + 8)),
    }
    return kinds[field.base]


def bounds_hold(text: str, metadata: tuple[Any, ...]) -> bool:
    least, most = _length(metadata)
    return least <= len(text) <= most and text.isprintable()


def _near(field: Field) -> st.SearchStrategy[Any]:
    """Values right beside the bounds."""
    low, high = _range(field.metadata)
    values: list[Any] = [bound + step for bound in (low, high) if bound is not None for step in (-1, 0, 1)]
    least, most = _length(field.metadata)
    if field.base is str and not field.many:
        values += ["x" * size for size in (least - 1, least, most + 1) if 0 <= size < 100_000]
    return st.sampled_from(values or [None, "", [], {}])


def _range(metadata: tuple[Any, ...]) -> tuple[Any, Any]:
    low = next((fact.ge for fact in metadata if isinstance(fact, Ge)), None)
    high = next((fact.le for fact in metadata if isinstance(fact, Le)), None)
    return low, high


def _length(metadata: tuple[Any, ...]) -> tuple[int, int]:
    bound = next((fact for fact in metadata if isinstance(fact, Len)), Len())
    return bound.min_length, bound.max_length if bound.max_length is not None else 1_000_000
