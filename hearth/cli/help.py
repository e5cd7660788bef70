"""How help is laid out: what the command does, its own words, then what every command takes, then examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from hearth.errors import OutputFailed

# What people's fingers know from other programs.
OTHER_NAMES = {
    "cat": "read",
    "cp": "copy",
    "grep": "search",
    "ls": "list",
    "mv": "move",
    "rm": "delete",
    "tree": "list",
}
Pairs = Sequence[tuple[str, str]]


class Command(click.Command):
    """One operation. `arguments` are (word, help) pairs; `global_options` come last in its help. `names_first`: a word
    stands before those of the program, at which options end."""

    arguments: Pairs = ()
    names_first = False
    examples: Sequence[str] = ()
    global_options: Sequence[click.Parameter] = ()

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        # Not kept in `params`, so that a command knows its own options from everybody's.
        return [*self.params, *self.global_options, *_help_option(self, ctx)]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, self._options_first(ctx, args) if self.names_first else args)

    def _options_first(self, ctx: click.Context, args: list[str]) -> list[str]:
        """`NAME --option PROGRAM` as `--option NAME PROGRAM`, since it is the program at which options end."""
        options, words = self._split(ctx, args)
        if len(words) < 2 or not words[1].startswith("-") or options[-1:] == ["--"]:
            return args
        more, program = self._split(ctx, words[1:])
        return [*options, *more, words[0], *program]

    def _split(self, ctx: click.Context, args: list[str]) -> tuple[list[str], list[str]]:
        """The options in front, and what follows them."""
        values, left, _ = self.make_parser(ctx).parse_args(list(args))
        found = [values.get(each.name) for each in self.params if isinstance(each, click.Argument)]
        count = len(left) + sum(len(each) if isinstance(each, tuple) else isinstance(each, str) for each in found)
        return args[: len(args) - count], args[len(args) - count :]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        _section(formatter, "Arguments", self.arguments)
        _section(formatter, "Options", _records(self.params, ctx))
        _section(formatter, "Global options", _global_records(self, self.global_options, ctx))
        _examples(formatter, self.examples)


class Group(click.Group):
    """A level of the command tree: what stands below it comes before the options."""

    global_options: Sequence[click.Parameter] = ()

    def sections(self) -> Sequence[tuple[str, Pairs]]:
        """The titled lists of commands."""
        raise NotImplementedError

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        return [*self.params, *self.global_options, *_help_option(self, ctx)]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for title, pairs in self.sections():
            _section(formatter, title, pairs)
        _section(formatter, "Options", _records(self.params, ctx))
        _section(formatter, "Global options", _global_records(self, self.global_options, ctx))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0]
        command = self.get_command(ctx, name)
        if command is None and not name.startswith("-"):
            ctx.fail(f"there is no {ctx.command_path} {name}{self._nearest(ctx, name)}")
        return (name, command, args[1:]) if command else super().resolve_command(ctx, args)

    def _nearest(self, ctx: click.Context, name: str) -> str:
        from difflib import get_close_matches

        known = self.list_commands(ctx)
        meant = OTHER_NAMES.get(name, name)
        near = [meant] if meant in known else get_close_matches(name, known, 1) or self.elsewhere(meant)
        return f"; did you mean {near[0]}?" if near else ""

    def elsewhere(self, name: str) -> list[str]:  # noqa: ARG002
        """The commands of that name at other places of the tree."""
        return []


class Switch(click.Option):
    """`--x/--no-x`, of which help shows the second only where it is what people would want."""

    def __init__(self, *args: Any, off_by_default: bool, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._off_by_default = off_by_default

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        if self._off_by_default:
            return ", ".join(self.opts), self.help or ""
        return super().get_help_record(ctx)


def say(text: str) -> None:
    """A text of the edge's own to standard output. Raises `BrokenPipeError`, `OutputFailed`."""
    try:
        click.echo(text)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OutputFailed(f"standard output cannot be written: {error.strerror}") from error


def _help_option(command: click.Command, ctx: click.Context) -> list[click.Parameter]:
    option = command.get_help_option(ctx)
    if option is None:
        return []
    option.callback = _show_help
    return [option]


def _show_help(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value and not ctx.resilient_parsing:
        say(ctx.get_help())
        ctx.exit()


def _records(parameters: Sequence[click.Parameter], ctx: click.Context) -> Pairs:
    records = [option.get_help_record(ctx) for option in parameters if isinstance(option, click.Option)]
    return [record for record in records if record]


def _global_records(command: click.Command, options: Sequence[click.Parameter], ctx: click.Context) -> Pairs:
    return _records([*options, *_help_option(command, ctx)], ctx)


def _section(formatter: click.HelpFormatter, title: str, pairs: Pairs) -> None:
    if pairs:
        with formatter.section(title):
            formatter.write_dl(pairs)


def _examples(formatter: click.HelpFormatter, examples: Sequence[str]) -> None:
    if examples:
        with formatter.section("Examples"):
            for example in examples:
                formatter.write(f"{' ' * formatter.current_indent}{example}\n")
