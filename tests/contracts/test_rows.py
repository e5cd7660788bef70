"""True of every row of the catalog, and of the shell's own commands."""

from __future__ import annotations

import dataclasses
import re
import shlex
from collections.abc import Iterator

import pytest

from hearth import catalog
from hearth.cli import edge
from hearth.cli.app import build_app
from hearth.cli.options import Globals
from hearth.fields import Field, fields_of
from hearth.model import Cli, Hidden, State
from hearth.operation import Family, Operation, types_of
from hearth.plain import plain

OWN = [(edge.FAMILY, row) for row in edge.FAMILY.operations]
ROWS = {f"{family.name}.{row.name}": (family, row) for family, row in [*catalog.walk(), *OWN]}
every_row = pytest.mark.parametrize(("family", "row"), ROWS.values(), ids=list(ROWS))


@every_row
def test_a_row_names_a_function_of_runtime_and_input(family: Family, row: Operation) -> None:
    given, result = types_of(family.load(row.target))
    assert dataclasses.is_dataclass(given)
    if family is not edge.FAMILY:
        assert dataclasses.is_dataclass(result)
    if row.stream:
        assert callable(family.load(row.stream))


@every_row
def test_names_are_lower_case_words(family: Family, row: Operation) -> None:
    assert re.fullmatch(r"[a-z]+(_[a-z]+)*", row.name)
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", word.removeprefix("__")) for word in row.at_shell)
    assert family.operation(row.name.replace("_", "-")) is family.operation(row.name) is row


def test_no_two_rows_have_the_same_name_or_words() -> None:
    words = [(*(() if family.top_level else (family.name,)), *row.at_shell) for family, row in ROWS.values()]
    assert len(set(words)) == len(words) == len(ROWS)


@every_row
def test_a_row_and_its_functions_say_what_they_do(family: Family, row: Operation) -> None:
    assert re.fullmatch(r"[A-Z][^\n]*\.", row.summary)
    assert row.summary.isascii(), "help must print on any code page"
    assert family.load(row.target).__doc__, "the docstring says which errors come"


@every_row
def test_every_field_has_a_sentence_of_help(family: Family, row: Operation) -> None:
    unexplained = [
        f"{model.__name__}.{field.name}"
        for model in _models(types_of(family.load(row.target)))
        for field in fields_of(model)
        if field.name != "state" and not re.fullmatch(r"[A-Z0-9`~].*[.?]", field.help, re.DOTALL)
    ]
    assert unexplained == []


@every_row
def test_people_are_told_which_items_failed_and_why(family: Family, row: Operation) -> None:
    result = types_of(family.load(row.target))[1]
    if dataclasses.is_dataclass(result) and not row.stream:  # a stream tells the error in its place
        errors = [field for field in fields_of(result) if field.name == "errors"]
        assert not any(isinstance(fact, Hidden) for field in errors for fact in field.metadata)


@every_row
def test_the_first_field_of_a_result_is_its_state(family: Family, row: Operation) -> None:
    result = types_of(family.load(row.target))[1]
    if dataclasses.is_dataclass(result):
        first = fields_of(result)[0]
        assert (first.name, first.base, first.default) == ("state", State, State.COMPLETED)
        names = {field.name for field in fields_of(result)}
        assert names.isdisjoint({"version", "error"}), "these are the document's own"


@every_row
def test_a_default_is_what_the_field_itself_accepts(family: Family, row: Operation) -> None:
    for field in fields_of(types_of(family.load(row.target))[0]):
        if field.required or field.default is None:
            continue
        from hearth.bounds import check_field

        assert list(check_field(field, field.default)) == []


@every_row
def test_at_most_the_last_argument_takes_several_words(family: Family, row: Operation) -> None:
    arguments = [field for field in fields_of(types_of(family.load(row.target))[0]) if _shape(field).argument]
    greedy = [field.many or _shape(field).more is not None for field in arguments]
    assert not any(greedy[:-1])
    assert [field.required for field in arguments] == sorted([field.required for field in arguments], reverse=True)


def _examples() -> Iterator[tuple[str, str]]:
    for name, (_, row) in ROWS.items():
        assert row.examples or row.at_shell[0].startswith("__"), f"{name} shows no example"
        for example in row.examples:
            yield name, example


@pytest.mark.parametrize(("name", "example"), [*_examples()])
def test_every_example_is_made_of_words_that_the_command_takes(name: str, example: str) -> None:
    del name
    command = re.split(r"\s(?:\||<|>|&&|;)\s", example)[-1 if example.startswith(("echo", "cat", "printf")) else 0]
    program, *words = shlex.split(command)
    assert program == "hearth"
    context = build_app().make_context("hearth", [], obj=Globals(), resilient_parsing=True)
    command_object, rest = context.command, words
    while hasattr(command_object, "resolve_command"):
        _, found, rest = command_object.resolve_command(context, rest)
        assert found is not None
        command_object = found
    command_object.make_context("hearth", rest, parent=context)


def _shape(field: Field) -> Cli:
    return field.find(Cli) or Cli()


def _models(found: tuple[type, ...]) -> list[type]:
    """The models and those inside them."""
    known: list[type] = []
    waiting = [each for each in found if dataclasses.is_dataclass(each)]
    while waiting:
        model = waiting.pop()
        if model not in known:
            known.append(model)
            waiting += [field.base for field in fields_of(model) if field.is_model]
    return known


def test_every_state_is_a_lower_case_word() -> None:
    assert all(plain(state) == state.name.lower() for state in State)
