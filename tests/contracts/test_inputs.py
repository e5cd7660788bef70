"""True of every operation's input: the shell's check and the JSON edge's agree, and null means absent."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from hearth import bounds, catalog, check
from hearth.errors import InvalidInput, Problem
from hearth.fields import Field, fields_of
from hearth.model import Ge, Le
from hearth.operation import types_of
from tests.contracts import inputs

MODELS = {f"{family.name}.{row.name}": types_of(family.load(row.target))[0] for family, row in catalog.walk()}
MODELS["every kind of field"] = inputs.EveryKind
EXAMPLES = pytest.mark.parametrize(
    "examples", [12, pytest.param(300, marks=(pytest.mark.slow, pytest.mark.timeout(120)))], ids=["few", "many"]
)


def tried(examples: int) -> settings:
    return settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )


def _with_fields(base: type) -> list[tuple[str, str]]:
    return [
        (name, field.name)
        for name, model in MODELS.items()
        for field in fields_of(model)
        if field.base is base and not field.many and not field.mapping
    ]


@EXAMPLES
@pytest.mark.parametrize("operation", MODELS)
def test_shell_and_json_accept_the_same_and_refuse_with_the_same_words(operation: str, examples: int) -> None:
    model = MODELS[operation]

    @tried(examples)
    @given(inputs.any_input(model))
    def agree(value: dict[str, Any]) -> None:
        assert _by_shell(model, value) == _by_json(model, value)

    agree()


@EXAMPLES
@pytest.mark.parametrize("operation", MODELS)
def test_null_means_absent_for_every_optional_field(operation: str, examples: int) -> None:
    model = MODELS[operation]
    optional = [field.name for field in fields_of(model) if not field.required]

    @tried(examples)
    @given(inputs.good(model))
    def same(value: dict[str, Any]) -> None:
        absent = {name: item for name, item in value.items() if item is not None}
        nulls = dict.fromkeys(name for name in optional if absent.get(name) is None)
        assert check.validate(model, {**absent, **nulls}) == check.validate(model, absent)
        assert bounds.build(model, {**_typed(model, absent), **nulls}) == check.validate(model, absent)

    same()


@pytest.mark.parametrize("operation", MODELS)
def test_a_required_field_that_is_null_is_missing(operation: str) -> None:
    model = MODELS[operation]
    required = sorted(field.name for field in fields_of(model) if field.required)
    found = _by_json(model, dict.fromkeys(required))
    assert not required or found == [Problem(name, "missing", "is required") for name in required]


NUMBERS = _with_fields(int)
SWITCHES = _with_fields(bool)


@pytest.mark.parametrize(("operation", "field"), NUMBERS)
def test_a_whole_number_may_be_exact_digits_and_nothing_looser(operation: str, field: str) -> None:
    accepted, low = _checker(operation, field)
    assert accepted(str(low)) == accepted(low) == []
    for loose in (f" {low} ", "1_000", "yes", f"{low}.0", "0x10", "1e3", "+1", "", "007", "\u0661"):
        assert accepted(loose) == [(field, "wrong_type")], loose


@pytest.mark.parametrize(("operation", "field"), SWITCHES)
def test_a_boolean_may_be_exactly_true_or_false_and_nothing_looser(operation: str, field: str) -> None:
    accepted, _ = _checker(operation, field)
    assert accepted("true") == accepted("false") == accepted(True) == []
    for loose in ("True", "FALSE", "yes", "no", "1", "0", 1, 0, "", " true"):
        assert accepted(loose) == [(field, "wrong_type")], loose


def _checker(operation: str, name: str) -> tuple[Callable[[Any], list[tuple[str, str]]], int]:
    """What JSON's check says of one field's values, and a whole number inside the bounds."""
    field = next(field for field in fields_of(MODELS[operation]) if field.name == name)
    least, most = field.find(Ge), field.find(Le)

    def problems(value: Any) -> list[tuple[str, str]]:
        found = _by_json(MODELS[operation], {name: value})
        return [(p.field, p.code) for p in found if p.field == name] if isinstance(found, list) else []

    return problems, int(least.ge if least else most.le if most else 7)


def _by_shell(model: type, value: dict[str, Any]) -> Any:
    try:
        return bounds.build(model, _typed(model, value))
    except InvalidInput as error:
        return sorted(error.problems, key=lambda problem: problem.field)


def _by_json(model: type, value: dict[str, Any]) -> Any:
    try:
        return check.validate(model, value)
    except InvalidInput as error:
        return sorted(error.problems, key=lambda problem: problem.field)


def _typed(model: type, value: dict[str, Any]) -> dict[str, Any]:
    """The values as words at the shell have become them: what is nested is a model already."""
    fields = {field.name: field for field in fields_of(model)}
    return {name: _nested(fields.get(name), item) for name, item in value.items()}


def _nested(field: Field | None, item: Any) -> Any:
    if field is None or not field.is_model or item is None:
        return item
    if field.many:
        return tuple(check.validate(field.base, each) for each in item)
    if field.mapping:
        return {key: check.validate(field.base, each) for key, each in item.items()}
    return check.validate(field.base, item)


@pytest.mark.parametrize("number", ["9" * 5_000, "1e999", "-1e999"])
def test_numbers_beyond_all_bounds_are_refused_and_are_no_bug(number: str) -> None:
    for text in (f'{{"word": "a", "share": {number}}}', f'{{"word": "a", "count": "{number}"}}'):
        with pytest.raises(InvalidInput):
            check.validate(inputs.EveryKind, check.parse(text))


def test_thousands_of_wrong_items_are_each_told_once_and_at_once() -> None:
    with pytest.raises(InvalidInput) as refused:
        check.validate(MODELS["fs.hash"], {"paths": [7] * 5_000})
    assert [problem.field for problem in refused.value.problems] == [f"paths.{place}" for place in range(5_000)]
