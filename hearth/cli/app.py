"""The command tree. Help and names come from the tables; a command loads the one module that it runs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import click

import hearth
from hearth import __version__, catalog
from hearth.cli.help import Group, say
from hearth.cli.options import Globals, columns
from hearth.errors import HearthError, InvalidInput, OutputFailed, Problem, invalid
from hearth.operation import Family, Operation

EPILOG = "`hearth FAMILY --help` shows a family's operations, `hearth demo` what they do."


def _globals(context: click.Context) -> Globals:
    root = context.find_root()
    if not isinstance(root.obj, Globals):
        root.obj = Globals()
    return root.obj


def _flag(names: list[str], help_text: str, apply: Callable[[Globals], None]) -> click.Option:
    def told(context: click.Context, _: click.Parameter, value: bool) -> None:
        if value:
            apply(_globals(context))

    return click.Option(names, is_flag=True, expose_value=False, is_eager=True, callback=told, help=help_text)


def _text(
    name: str, metavar: str, help_text: str, apply: Callable[[Globals, Any], None], *, many: bool = False
) -> click.Option:
    def told(context: click.Context, _: click.Parameter, value: Any) -> None:
        if value == "" or (many and "" in value):  # as from an unset variable of a script
            raise invalid(name, "too_short", "must not be empty")
        if value:
            apply(_globals(context), value)

    return click.Option(
        [name], metavar=metavar, expose_value=False, multiple=many, is_eager=True, callback=told, help=help_text
    )


def _setter(name: str) -> Callable[[Globals, Any], None]:
    return lambda options, value: setattr(options, name, value)


def _output(name: str, value: bool) -> Callable[[Globals], None]:
    return lambda options: setattr(options.output, name, value)


def global_options() -> list[click.Parameter]:
    """The options that every level takes."""
    return [
        _flag(["--json"], "Answer with one JSON document.", _output("json", True)),
        _flag(["--ndjson"], "Answer with one JSON line an item.", _output("ndjson", True)),
        _flag(["-q", "--quiet"], "Print no result.", _output("quiet", True)),
        _flag(["--verbose"], "Log to standard error.", lambda options: setattr(options, "verbose", True)),
        _text("--data-dir", "DIR", "Where the database and the backups lie.", _setter("data_dir")),
        _text("--config", "FILE", "Read settings from this file only.", _setter("config")),
        _text("--root", "DIR", "Act below this directory (repeatable).", lambda o, v: o.roots.extend(v), many=True),
        _text("--run", "ID", "The run that changes belong to.", _setter("run")),
        _text("--conversation", "KEY", "The conversation that this call belongs to.", _setter("conversation")),
        _flag(["--no-color"], "Print without colour.", _output("color", False)),
    ]


class Root(Group):
    """`hearth`: families, and hearth's own commands beside them."""

    def list_commands(self, _: click.Context | None) -> list[str]:
        return [name for name in _top_level() if not name.startswith("__")]

    def get_command(self, _: click.Context, name: str) -> click.Command | None:
        maker = _top_level().get(name)
        return maker() if maker else None

    def sections(self) -> list[tuple[str, list[tuple[str, str]]]]:
        families = [name for name in catalog.FAMILIES if not catalog.family(name).top_level]
        own = [name for name in self.list_commands(None) if name not in families]
        return [
            ("Families", [(name, _summary(name)) for name in families]),
            ("Commands", [(name, _summary(name)) for name in own]),
        ]

    def elsewhere(self, name: str) -> list[str]:
        families = [catalog.family(each) for each in catalog.FAMILIES]
        return [
            f"hearth {family.name} {name}"
            for family in families
            for row in family.operations
            if not family.top_level and row.at_shell == (name,)
        ]


def _top_level() -> dict[str, Callable[[], click.Command]]:
    from hearth.cli import edge

    made: dict[str, Callable[[], click.Command]] = {}
    for name in catalog.FAMILIES:
        family = catalog.family(name)
        if not family.top_level:
            made[name] = lambda family=family: FamilyGroup(family, family.operations, family.name, family.summary)  # type: ignore[misc]
            continue
        for row in family.operations:
            made.setdefault(row.at_shell[0], _own_command(family, row))
    for row in edge.FAMILY.operations:
        made.setdefault(row.at_shell[0], _own_command(edge.FAMILY, row))
    return made


def _own_command(family: Family, row: Operation) -> Callable[[], click.Command]:
    first = row.at_shell[0]
    if len(row.at_shell) == 1:
        return lambda: _command(family, row)
    rows = tuple(each for each in family.operations if each.at_shell[0] == first)
    return lambda: FamilyGroup(family, rows, first, GROUPS[first])


GROUPS = {
    "conversation": "Who called over MCP.",
    "config": "Settings: show, change, check, trust.",
    "db": "The database: where it is, what is in it, backups.",
    "completion": "Completion of words at the shell.",
}


def _summary(name: str) -> str:
    from hearth.cli import edge

    if name in GROUPS:
        return GROUPS[name]
    if name in catalog.FAMILIES:
        return catalog.family(name).summary
    rows = (*catalog.family("self").operations, *edge.FAMILY.operations)
    return next(row.summary for row in rows if row.at_shell == (name,))


class FamilyGroup(Group):
    """`hearth FAMILY`: its operations; both spellings, `process-list` and `process_list`, are accepted."""

    def __init__(self, family: Family, rows: tuple[Operation, ...], name: str, summary: str) -> None:
        super().__init__(name, help=summary, no_args_is_help=True)
        self.global_options = global_options()
        self.family = family
        self.rows = {row.at_shell[-1]: row for row in rows}

    def list_commands(self, _: click.Context) -> list[str]:
        return list(self.rows)

    def get_command(self, _: click.Context, name: str) -> click.Command | None:
        row = self.rows.get(name.replace("_", "-"))
        return _command(self.family, row) if row else None

    def sections(self) -> list[tuple[str, list[tuple[str, str]]]]:
        return [("Operations", [(name, row.summary) for name, row in self.rows.items()])]


def _command(family: Family, row: Operation) -> click.Command:
    from hearth.cli.command import build

    return build(family, row, _run_row, global_options())


def _run_row(family: Family, row: Operation, given: Any) -> int:
    from hearth.cli import edge

    options = _globals(click.get_current_context())
    if family is edge.FAMILY:
        return edge.run(options, row, given)
    from hearth.cli.invoke import run_row

    return run_row(options, family, row, given)


def _help_width() -> int:
    """As wide as the terminal, within reason."""
    return max(min(columns(lambda: 2), 110) - 2, 50)


def build_app() -> Root:
    app = Root(
        "hearth",
        help=hearth.__doc__,
        epilog=EPILOG,
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"], "terminal_width": _help_width()},
    )
    app.global_options = global_options()
    app.params = [
        click.Option(
            ["--version"],
            is_flag=True,
            expose_value=False,
            is_eager=True,
            callback=_show_version,
            help="Say which hearth this is.",
        )
    ]
    return app


def _show_version(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        say(f"hearth {__version__}")
        context.exit()


def run() -> int:
    """The process's own entry: `main` with the streams and signals made ready."""
    from hearth.cli import streams

    streams.prepare()
    try:
        status = main(sys.argv[1:])
    except streams.Terminated:
        status = 143
    return streams.status_of_signal() or status


def main(words: list[str]) -> int:
    """Run one command; the exit status. Nothing ends in a traceback, not even a bug in hearth."""
    options = Globals()
    try:
        # click's own `main` would turn a closed standard output into status 1, and expand words on Windows.
        with build_app().make_context("hearth", list(words), obj=options) as context:
            return context.command.invoke(context) or 0
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except (click.Abort, KeyboardInterrupt):
        return 130
    except click.exceptions.NoArgsIsHelpError as error:
        return _refuse_nothing(options, words, error)
    except click.UsageError as error:
        return _refuse(options, words, _from_usage(error))
    except HearthError as error:
        return _refuse(options, words, error)
    except BrokenPipeError:
        from hearth.cli import streams

        streams.abandon_output()
        return 0
    except Exception as error:
        from hearth.crash import internal

        return _refuse(options, words, internal(options.data_dir, error))


def _refuse_nothing(options: Globals, words: list[str], error: click.UsageError) -> int:
    """A person who typed nothing more meets the help; a program still gets an error."""
    if words[-1:] and words[-1].startswith("-"):
        return _refuse(options, words, _from_usage(error))
    click.echo(error.format_message(), err=True)
    return 2


def _from_usage(error: click.UsageError) -> HearthError:
    where = error.ctx.command_path if error.ctx else "hearth"
    problem = Problem(getattr(error, "option_name", "") or "", "wrong_words", error.format_message())
    return InvalidInput(problem, hint=f"`{where} --help` shows the words")


def _refuse(options: Globals, words: list[str], error: HearthError) -> int:
    from hearth.answers import Answer
    from hearth.cli.render import show, show_error

    # click stops at the first wrong word, so an option behind it was not seen yet.
    own = words[: words.index("--")] if "--" in words else words
    options.output.json = options.output.json or "--json" in own
    options.output.ndjson = options.output.ndjson or "--ndjson" in own
    try:
        show(Answer("", error.state, error=error), options.output)
    except OutputFailed as failure:
        show_error(failure)
    return error.exit_status
