"""Runs one row for the shell: settings, runtime, dispatch, output."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, get_type_hints

from hearth import conversations, dispatch, roots
from hearth.answers import Answer
from hearth.cli import render, streams
from hearth.cli.exit_status import exit_status
from hearth.cli.progress import Progress
from hearth.configuration.load import Configuration, Flags, load
from hearth.errors import HearthError, InvalidInput, SettingError, invalid
from hearth.logs import Log
from hearth.operation import Family, Operation
from hearth.platforms.local import local_host
from hearth.runtime import Caller, Runtime, current_directory, environment

if TYPE_CHECKING:
    from hearth.cli.options import Globals
    from hearth.platforms.processes import Stream


def open_runtime(options: Globals, caller: Caller = Caller.SHELL, *, lenient: bool = False) -> Runtime:
    """The runtime that the settings and the global options describe. Raises `SettingError`, unless `lenient`."""
    host = local_host()
    here = current_directory()
    config = load(host, environment(), here, _flags(options))
    if config.problems and not lenient:
        raise _refused(config)
    _tell(config)
    configured = roots.resolve(config.settings.roots)
    allowed = configured or roots.implied_roots(host, here, caller, at_terminal=_at_terminal())
    return Runtime(
        host=host,
        settings=config.settings,
        data_dir=config.data_dir,
        roots=allowed,
        # A client does not know where the server was started; its relative paths start at the first root.
        base=allowed[0].path if caller is Caller.MCP and allowed else here,
        caller=caller,
        group=options.run,
        conversation=conversations.at_shell(options.conversation),
        notice=render.notice,
        log=Log(host, config.data_dir, level=config.settings.log, show=render.notice),
        config=config,
    )


def _at_terminal() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def _flags(options: Globals) -> Flags:
    if "" in options.roots:
        raise invalid("root", "too_short", "a root cannot be empty")
    return Flags(config=options.config, data_dir=options.data_dir, roots=tuple(options.roots), verbose=options.verbose)


def _refused(config: Configuration) -> SettingError:
    shown = [str(problem) for problem in config.problems]
    more = f" (and {len(shown) - 3} more)" if len(shown) > 3 else ""
    return SettingError("; ".join(shown[:3]) + more, problems=[problem._asdict() for problem in config.problems])


def _tell(config: Configuration) -> None:
    """What was left out, in a line each: the user would miss it otherwise."""
    if config.ignored:
        keys = ", ".join(sorted(key for _, key in config.ignored))
        render.notice(f"hearth: {config.ignored[0][0]} is not trusted, so it may not set {keys}")
        render.notice("  hint: read the file, then allow it with `hearth config trust`")
    if config.unknown_variables:
        render.notice(f"hearth: no such setting: {', '.join(config.unknown_variables)}")


def run_row(options: Globals, family: Family, row: Operation, given: Any) -> int:
    """Run a row and show what came of it; the exit status."""
    if getattr(given, "stdin", None) == "-":
        streams.standard_input()  # where it is closed, that is an error, and - no text
    try:
        runtime = open_runtime(options, lenient=row.lenient).for_call(stdin=sys.stdin and sys.stdin.buffer)
    except HearthError as error:
        return refuse(options, f"{family.name}.{row.name}", error)
    try:
        if row.hears_signals:
            return _run_hearing(runtime, options, family, row, given)
        if row.stream and not options.output.json and not (options.output.ndjson and _yields_bytes(family, row)):
            return _run_stream(runtime, options, family, row, given)
        with _progress(options, f"{family.name} {row.name}") as progress:
            answer = dispatch.run(runtime.for_call(progress=progress.note), family, row, given)
        _show(answer, options, given)
        return exit_status(answer)
    finally:
        runtime.close()


def refuse(options: Globals, operation: str, error: HearthError) -> int:
    """Tell that a call did not begin; the exit status, which of some operations is their own."""
    answer = Answer(operation, error.state, error=error)
    render.show(answer, options.output)
    return exit_status(answer)


def _run_hearing(runtime: Runtime, options: Globals, family: Family, row: Operation, given: Any) -> int:
    """Run what hears signals, such as a program; what that prints goes on as it comes, unless JSON is wanted."""
    from hearth.cli import interrupts

    live = row.live and not options.output.machine_readable and getattr(given, "is_live", True)
    if live:
        runtime = runtime.for_call(live=_drop if options.output.quiet else render.pass_on)
    with interrupts.passed_on(runtime.cancelled) as heard:
        answer = dispatch.run(runtime, family, row, given)
    if not live or answer.error is not None:
        _show(answer, options, given)
    elif getattr(answer.result, "timed_out", False) and not options.output.quiet:
        render.notice("hearth: the program was ended by its time limit")
    return heard.exit_status or exit_status(answer)


def _show(answer: Answer, options: Globals, given: Any) -> None:
    if isinstance(answer.error, InvalidInput):
        from hearth.cli.command import reword

        reword(answer.error, type(given))
    render.show(answer, options.output)


def _drop(_stream: Stream, _data: bytes) -> None:
    pass


def _progress(options: Globals, name: str) -> Progress:
    return Progress(name, shown=sys.stderr.isatty() and not options.output.quiet and not options.verbose)


def _yields_bytes(family: Family, row: Operation) -> bool:
    """Whether a stream is content for people and pipes; lines of JSON have no place for it."""
    returned: object = get_type_hints(family.load(row.stream))["return"]
    return returned == Iterator[bytes]


def _run_stream(runtime: Runtime, options: Globals, family: Family, row: Operation, given: Any) -> int:
    def show(item: Any) -> None:
        if not options.output.quiet:
            render.show_item(item, options.output)

    answer = dispatch.run_stream(runtime, family, row, given, show)
    if answer.error is not None:
        _show(answer, options, given)
    elif options.output.ndjson and not options.output.quiet:
        render.show_end(answer.state, None)
    return exit_status(answer)
