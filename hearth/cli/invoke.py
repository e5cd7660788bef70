"""Runs one row for the shell: settings, runtime, dispatch, output."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from hearth import dispatch
from hearth.cli import render
from hearth.cli.exit_status import exit_status
from hearth.containment import Root
from hearth.operation import Family, Operation
from hearth.platforms.local import local_host
from hearth.runtime import Caller, Runtime, current_directory
from hearth.settings import Settings

if TYPE_CHECKING:
    from hearth.cli.options import Globals


def open_runtime(options: Globals, caller: Caller = Caller.SHELL) -> Runtime:
    """The runtime that the settings and the global options describe."""
    host = local_host()
    here = current_directory()
    data_dir = options.data_dir or os.path.join(host.user_data_directory(), "hearth")
    roots = tuple(Root(host.absolute(path, here)) for path in options.roots) or (Root(here),)
    return Runtime(
        host=host,
        settings=Settings(),
        data_dir=host.absolute(data_dir, here),
        roots=roots,
        base=here,
        caller=caller,
        group=options.run,
        conversation=options.conversation,
        notice=render.notice,
    )


def run_row(options: Globals, family: Family, row: Operation, given: Any) -> int:
    """Run a row and show what came of it; the exit status."""
    runtime = open_runtime(options).for_call(stdin=sys.stdin.buffer)
    try:
        if row.stream and not options.output.json:
            return _run_stream(runtime, options, family, row, given)
        answer = dispatch.run(runtime, family, row, given)
        render.show(answer, options.output)
        return exit_status(answer)
    finally:
        runtime.close()


def _run_stream(runtime: Runtime, options: Globals, family: Family, row: Operation, given: Any) -> int:
    def show(item: Any) -> None:
        if not options.output.quiet:
            render.show_item(item, options.output)

    answer = dispatch.run_stream(runtime, family, row, given, show)
    if answer.error is not None:
        render.show(answer, options.output)
    elif options.output.ndjson:
        render.show_end(answer.state, None)
    return exit_status(answer)
