"""The command tree. Help and names come from the tables; a command loads the one module that it runs."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

import click

import hearth
from hearth import __version__, catalog
from hearth.cli.options import Globals
from hearth.errors import HearthError, InvalidInput, Problem
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


class Root(click.Group):
    """`hearth`: families, and hearth's own commands beside them."""

    def list_commands(self, _: click.Context) -> list[str]:
        return list(_top_level())

    def get_command(self, _: click.Context, name: str) -> click.Command | None:
        if maker := _top_level().get(name):
            return maker()
        return None

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        families = [name for name in catalog.FAMILIES if not catalog.family(name).top_level]
        for title, names in (
            ("Families", families),
            ("Commands", [name for name in self.list_commands(context) if name not in families]),
        ):
            rows = [(name, _summary(name)) for name in names]
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)


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


class FamilyGroup(click.Group):
    """`hearth FAMILY`: its operations; both spellings, `process-list` and `process_list`, are accepted."""

    def __init__(self, family: Family, rows: tuple[Operation, ...], name: str, summary: str) -> None:
        super().__init__(name, help=summary, params=global_options(), no_args_is_help=True)
        self.family = family
        self.rows = {row.at_shell[-1]: row for row in rows}

    def list_commands(self, _: click.Context) -> list[str]:
        return list(self.rows)

    def get_command(self, _: click.Context, name: str) -> click.Command | None:
        row = self.rows.get(name.replace("_", "-"))
        return _command(self.family, row) if row else None

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Operations"):
            formatter.write_dl([(name, row.summary) for name, row in self.rows.items()])


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


def build_app() -> click.Group:
    return Root(
        "hearth",
        help=hearth.__doc__,
        epilog=EPILOG,
        params=[
            *global_options(),
            click.Option(
                ["--version"], is_flag=True, expose_value=False, is_eager=True, callback=_show_version, help="Print it."
            ),
        ],
        no_args_is_help=True,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    )


def _show_version(context: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        click.echo(f"hearth {__version__}")
        context.exit()


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the exit status. Nothing but a bug in hearth ends in a traceback."""
    words = sys.argv[1:] if arguments is None else arguments
    options = Globals()
    try:
        return build_app().main(words, prog_name="hearth", standalone_mode=False, obj=options) or 0
    except click.exceptions.Exit as exit_:
        return exit_.exit_code
    except (click.Abort, KeyboardInterrupt):
        return 130
    except click.UsageError as error:
        return _refuse(options, words, _from_usage(error))
    except HearthError as error:
        return _refuse(options, words, error)
    except BrokenPipeError:
        return _closed_output()


def _from_usage(error: click.UsageError) -> HearthError:
    where = error.ctx.command_path if error.ctx else "hearth"
    problem = Problem(getattr(error, "option_name", "") or "", "wrong_words", error.format_message())
    return InvalidInput(problem, hint=f"`{where} --help` shows the words")


def _refuse(options: Globals, words: list[str], error: HearthError) -> int:
    from hearth.cli.render import show
    from hearth.dispatch import Answer

    # click stops at the first wrong word, so an option behind it was not seen yet.
    options.output.json = options.output.json or "--json" in words
    options.output.ndjson = options.output.ndjson or "--ndjson" in words
    show(Answer("", error.state, error=error), options.output)
    return error.exit_status


def _closed_output() -> int:
    """The reader of our output went away: nothing to say, and nobody to say it to."""
    # Python flushes standard output at exit, which would fail again.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0
