"""From a row of the catalog to a command: one field, one option, unless the field says otherwise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import click

from hearth import bounds
from hearth.cli import streams, words
from hearth.cli.help import Command, Switch
from hearth.errors import InvalidInput, Problem
from hearth.fields import Field, fields_of
from hearth.model import Cli, Ge, Le
from hearth.operation import Family, Operation, types_of

_PLAIN = Cli()
_UNITS = {"_ms": "milliseconds", "_bytes": "bytes"}  # of fields that have an option for people


def build(
    family: Family, row: Operation, run: Callable[..., Any], global_options: list[click.Parameter]
) -> click.Command:
    """The command of a row. `run(family, row, given)` is called with the checked input."""
    model = types_of(family.load(row.target))[0]
    fields = fields_of(model)

    def invoke(**words_given: Any) -> Any:
        with worded(model, words_given):
            return run(family, row, given_by(model, words_given))

    command = Command(
        row.at_shell[-1],
        params=[parameter for field in fields for parameter in parameters_of(field)],
        callback=invoke,
        help=row.summary,
        short_help=row.summary,
    )
    command.allow_interspersed_args = not any(_shape(field).rest for field in fields)
    command.names_first = sum(_shape(field).argument for field in fields) > 2 and not command.allow_interspersed_args
    command.arguments = [(_metavar(field), field.help) for field in fields if _shape(field).argument]
    command.examples = row.examples
    command.global_options = global_options
    return command


def _shape(field: Field) -> Cli:
    return field.find(Cli) or _PLAIN


def _metavar(field: Field) -> str:
    if field.choices:
        return "|".join(field.choices)
    shape = _shape(field)
    if shape.metavar:
        return shape.metavar
    if shape.argument:
        return field.name.upper()
    if field.mapping:
        return "NAME=VALUE"
    return {int: "N", float: "NUMBER"}.get(field.base, "JSON" if field.is_model else "TEXT")


def parameters_of(field: Field) -> Iterator[click.Parameter]:
    shape = _shape(field)
    if shape.argument:
        yield _argument(field, shape)
        return
    # Another field's list of words may stand in for this one.
    if shape.hidden:
        return
    yield _option(field, shape)
    for suffix, unit in (("_ms", "DURATION"), ("_bytes", "SIZE")):
        if field.name.endswith(suffix) and field.base is int and not field.many:
            yield click.Option(
                [words.name_of(field.name.removesuffix(suffix)), f"{field.name}__human"],
                metavar=unit,
                help=f"The same, as in {'500ms, 30s or 5m' if unit == 'DURATION' else '64KiB or 2GB'}.",
            )


def _argument(field: Field, shape: Cli) -> click.Argument:
    several = field.many or shape.more is not None
    return click.Argument(
        [field.name], required=False, nargs=-1 if several else 1, metavar=_argument_metavar(field, several)
    )


def _argument_metavar(field: Field, several: bool) -> str:
    name = _metavar(field)
    text = f"{name}..." if several else name
    return text if field.required else f"[{text}]"


def _option(field: Field, shape: Cli) -> click.Option:
    name = words.name_of(field.name)
    names = [*(n for n in shape.names), name]
    if field.base is bool and not field.many:
        negative = "/--no-" + field.name.replace("_", "-")
        return Switch(
            [*shape.names, name + negative, field.name],
            default=None,
            help=_option_help(field),
            off_by_default=field.default is False,
        )
    return click.Option(
        [*names, field.name],
        multiple=field.many or field.mapping or shape.pairs is not None,
        metavar=_metavar(field),
        help=_option_help(field),
        type=click.STRING,
    )


def _option_help(field: Field) -> str:
    facts = [_bounds_text(field)]
    if field.default not in (None, (), {}, False, "") and not field.required and not field.is_model:
        facts.append(f"default {_default_text(field)}")
    shown = ", ".join(fact for fact in facts if fact)
    return field.help + (f" [{shown}]" if shown else "")


def _default_text(field: Field) -> str:
    if isinstance(field.default, bool):
        return "yes"
    if isinstance(field.default, int):
        return f"{field.default:,}"
    return str(getattr(field.default, "value", field.default))


def _bounds_text(field: Field) -> str:
    least, most = field.find(Ge), field.find(Le)
    if least is None and most is None:
        return ""
    return f"{f'{least.ge:,}' if least else ''}..{f'{most.le:,}' if most else ''}"


def given_by(model: type, words_given: dict[str, Any]) -> Any:
    """The input model that the words mean. Raises `InvalidInput` with every problem."""
    with worded(model, words_given):
        return _given_by(model, words_given)


@contextmanager
def worded(model: type, typed: dict[str, Any]) -> Iterator[None]:
    """Tell problems in the words that the person typed."""
    try:
        yield
    except InvalidInput as error:
        reword(error, model, typed)
        raise


def reword(error: InvalidInput, model: type, typed: dict[str, Any] | None = None) -> None:
    """`typed`: the words by field; by default those of the command that runs."""
    if error.shell_message is None:
        if typed is None:
            context = click.get_current_context(silent=True)
            typed = context.params if context else {}
        error.shell_message = "; ".join(_worded(problem, model, typed) for problem in error.problems)


def _worded(problem: Problem, model: type, typed: dict[str, Any]) -> str:
    """The problem with the word that the person typed in the place of the field's name."""
    name, _, inside = problem.field.partition(".")
    if not name:
        return problem.message
    field = next((field for field in fields_of(model) if field.name == name), None)
    said = typed.get(name)
    # What was read from a file has names of its own.
    if (
        field is None
        or (problem.code == "unknown_field" and not inside)
        or (field.is_model and field.many and typed and not said)
    ):
        return f"{problem.field}: {problem.message}"
    if typed.get(f"{name}__human") is not None:
        return _worded_for_people(problem, name)
    if (
        isinstance(said, tuple) and len(said) == 1 and not said[0].lstrip().startswith("[")
    ):  # its place says nothing where it is the only one
        inside = inside.removeprefix("0").removeprefix(".")
    return f"{_word(field)}{f' {inside}' if inside else ''}: {problem.message}"


def _word(field: Field) -> str:
    shape = _shape(field)
    if shape.argument:
        return _metavar(field)
    return next((name for name in shape.names if name.startswith("--")), words.name_of(field.name))


def _worded_for_people(problem: Problem, name: str) -> str:
    """Of an option such as --timeout, which has a unit and whose field has a number."""
    unit = next(unit for suffix, unit in _UNITS.items() if name.endswith(suffix))
    stem = name.removesuffix("_ms").removesuffix("_bytes")
    is_bound = problem.code in ("too_small", "too_large")
    return f"{words.name_of(stem)}: {problem.message}" + (f" ({unit})" if is_bound else "")


def _given_by(model: type, words_given: dict[str, Any]) -> Any:
    problems: list[Problem] = []
    values: dict[str, Any] = {}
    pairs = _pairs(model, words_given, problems)
    for field in fields_of(model):
        try:
            values |= _value(field, words_given) or {}
        except words.WrongWord as error:
            problems.append(Problem(field.name, "wrong_type", str(error)))
        except InvalidInput as error:
            problems.extend(error.problems)
    for name, items in pairs.items():
        values[name] = (*values.get(name, ()), *items)
    if problems:
        unread = {problem.field.partition(".")[0] for problem in problems}
        others = (problem for problem in bounds.problems_of(model, values) if problem.field not in unread)
        raise InvalidInput(*problems, *others)
    return bounds.build(model, values)


def _pairs(model: type, given: dict[str, Any], problems: list[Problem]) -> dict[str, list[Any]]:
    """The items of list fields that options given several times make together; takes those options out of `given`."""
    fields = {field.name: field for field in fields_of(model)}
    options: dict[str, dict[str, tuple[str, ...]]] = {}
    for field in fields.values():
        if (name := _shape(field).pairs) and given.get(field.name):
            options.setdefault(name, {})[field.name] = given[field.name]
    made: dict[str, list[Any]] = {}
    for name, words_of in options.items():
        counts = {option: len(each) for option, each in words_of.items()}
        if max(counts.values()) == 1:
            given.update({option: each[0] for option, each in words_of.items()})
            continue
        given.update(dict.fromkeys(words_of))
        if len(set(counts.values())) > 1:
            told = ", ".join(f"{words.name_of(option)} {count} times" for option, count in counts.items())
            problems.append(Problem(name, "wrong_count", f"options that go in pairs were given {told}"))
            continue
        rows = [dict(zip(words_of, row, strict=True)) for row in zip(*words_of.values(), strict=True)]
        made[name] = [_built(fields[name], index, row, problems) for index, row in enumerate(rows)]
    return made


def _built(field: Field, index: int, row: dict[str, str], problems: list[Problem]) -> Any:
    found = [replace(p, field=f"{field.name}.{index}.{p.field}") for p in bounds.problems_of(field.base, row)]
    problems.extend(found)
    return None if found else bounds.build(field.base, row)


def _value(field: Field, given: dict[str, Any]) -> dict[str, Any] | None:
    human = given.get(f"{field.name}__human")
    if human is not None and given.get(field.name) is not None:
        raise words.WrongWord("is given twice, in both spellings")
    if human is not None:
        return {field.name: (words.duration_ms if field.name.endswith("_ms") else words.size_bytes)(human)}
    raw = given.get(field.name)
    if raw is None or raw == ():
        return None
    shape = _shape(field)
    if shape.more is not None:
        return {field.name: raw[0]} if len(raw) == 1 else {shape.more: raw}
    if isinstance(raw, bool):
        return {field.name: raw}
    if field.mapping:
        return {field.name: {name: words.value_of(field, value) for name, value in map(words.pair, raw)}}
    if field.many:
        return {field.name: words.values_of(field, [_text(field, each) for each in raw])}
    return {field.name: words.value_of(field, _text(field, raw))}


def _text(field: Field, word: str) -> str:
    """The word, or for nested values and contents what `@file` or `-` stands for."""
    # "@@" begins a hunk of a diff.
    if not (field.is_model or _shape(field).reads_file) or (word != "-" and (word[:1] != "@" or word[:2] == "@@")):
        return word
    if word == "-":
        return _decoded(streams.standard_input().read())
    try:
        with open(word[1:], "rb") as file:
            return _decoded(file.read())
    except OSError as error:
        raise words.WrongWord(f"cannot read {word[1:]}: {error.strerror}") from error


def _decoded(data: bytes) -> str:
    """Text as shells write it; PowerShell 5.1 redirects into UTF-16."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    return data.removeprefix(b"\xef\xbb\xbf").decode("utf-8", "surrogateescape")
