"""What may follow the words of a command line, the same for every shell."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import click

from hearth import catalog
from hearth.cli import edge
from hearth.cli.app import GROUPS, global_options
from hearth.cli.command import parameters_of
from hearth.configuration import keys
from hearth.fields import Field, fields_of
from hearth.model import Cli, PathName
from hearth.operation import Family, Operation, types_of

IDS = ("artifact", "group", "job", "receipt", "schedule")  # kinds of id that `hearth __complete` looks up
DIRECTORIES = ("--data-dir", "--root")
FILES = ("--config",)


@dataclass(frozen=True, slots=True)
class Value:
    """What an option or argument takes: a kind, and the words where there is a choice of them."""

    kind: str  # "any", "path", "directory", "words" or "id"
    words: tuple[str, ...] = ()  # for "id": its kind
    several: bool = False


@dataclass(frozen=True, slots=True)
class OptionSpec:
    names: tuple[str, ...]
    help: str
    value: Value | None = None  # None: a switch


@dataclass(frozen=True, slots=True)
class CommandSpec:
    """A command or a group of them. `words` are what was typed behind `hearth`."""

    words: tuple[str, ...]
    help: str
    options: tuple[OptionSpec, ...] = ()
    arguments: tuple[Value, ...] = ()
    children: tuple[CommandSpec, ...] = ()


def tree() -> CommandSpec:
    """The whole command line."""
    families = [catalog.family(name) for name in catalog.FAMILIES]
    below = [
        _group((family.name,), family.summary, family, family.operations) for family in families if not family.top_level
    ]
    own = [each for family in [*families, edge.FAMILY] if family.top_level for each in _top_level(family)]
    return CommandSpec((), "", (OptionSpec(("--version",), "Say which hearth this is."),), (), (*below, *own))


def walk(command: CommandSpec) -> Iterator[CommandSpec]:
    """The command and everything below it."""
    yield command
    for child in command.children:
        yield from walk(child)


def global_specs() -> tuple[OptionSpec, ...]:
    """The options that stand anywhere."""
    helps = OptionSpec(("-h", "--help"), "Show this message and exit.")
    return (*(_global(option) for option in global_options() if isinstance(option, click.Option)), helps)


def _global(option: click.Option) -> OptionSpec:
    if option.is_flag:
        return OptionSpec(tuple(option.opts), option.help or "")
    kind = "directory" if option.opts[0] in DIRECTORIES else "path" if option.opts[0] in FILES else "any"
    return OptionSpec(tuple(option.opts), option.help or "", Value(kind))


def _top_level(family: Family) -> Iterator[CommandSpec]:
    rows = [row for row in family.operations if not row.at_shell[0].startswith("__")]
    for first in dict.fromkeys(row.at_shell[0] for row in rows):
        group = tuple(row for row in rows if row.at_shell[0] == first)
        yield _group((first,), GROUPS[first], family, group) if first in GROUPS else _command((), family, group[0])


def _group(words: tuple[str, ...], summary: str, family: Family, rows: tuple[Operation, ...]) -> CommandSpec:
    return CommandSpec(words, summary, children=tuple(_command(words, family, row) for row in rows))


def _command(above: tuple[str, ...], family: Family, row: Operation) -> CommandSpec:
    fields = fields_of(types_of(family.load(row.target))[0])
    options = tuple(_option(field, option) for field in fields for option in parameters_of(field) if _is_option(option))
    arguments = tuple(_value(field) for field in fields if _shape(field).argument)
    return CommandSpec((*above, row.at_shell[-1]), row.summary, options, arguments)


def _is_option(parameter: click.Parameter) -> bool:
    return isinstance(parameter, click.Option)


def _option(field: Field, option: click.Parameter) -> OptionSpec:
    names = (*option.opts, *option.secondary_opts)
    if field.base is bool and not field.many:
        return OptionSpec(names, field.help)
    human = option.name != field.name
    return OptionSpec(names, field.help, Value("any") if human else _value(field))


def _shape(field: Field) -> Cli:
    return field.find(Cli) or Cli()


def _value(field: Field) -> Value:
    several = field.many or _shape(field).more is not None
    completes = _shape(field).completes
    if field.choices:
        return Value("words", field.choices, several)
    if completes in IDS:
        return Value("id", (str(completes),), several)
    if completes == "operation":
        return Value("words", tuple(f"{family.name}.{row.name}" for family, row in catalog.walk()), several)
    if completes == "setting":
        return Value("words", tuple(keys.fields()), several)
    if completes == "family":
        return Value("words", catalog.FAMILIES, several)
    facts = (*field.metadata, *field.item_metadata)
    is_path = completes == "path" or any(isinstance(fact, PathName) for fact in facts)
    return Value("path" if is_path else "any", (), several)
