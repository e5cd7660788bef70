"""`hearth call`: any operation with a JSON input, alone or thousands in one process."""

from __future__ import annotations

import os
from typing import Annotated

from hearth import catalog
from hearth.cli import render, streams
from hearth.cli.exit_status import exit_status
from hearth.cli.invoke import open_runtime, refuse
from hearth.cli.options import Globals
from hearth.errors import HearthError, InvalidInput, UnknownOperation, invalid
from hearth.model import Cli, Ge, Help, Le, model
from hearth.runtime import Caller


@model
class CallOperation:
    operation: Annotated[
        str | None,
        Cli(argument=True, metavar="FAMILY.OPERATION", completes="operation"),
        Help("The operation, as `hearth operations` lists it."),
    ] = None
    input: Annotated[
        str | None,
        Cli(argument=True, metavar="JSON|@FILE|-"),
        Help("Its input: a JSON object, a file that holds one, or - for standard input."),
    ] = None
    batch: Annotated[bool, Help("Read one request a line from standard input, write one answer a line.")] = False
    jobs: Annotated[int, Ge(1), Le(64), Help("How many calls of a batch run at once.")] = 1
    ordered: Annotated[bool, Help("Answer a batch in the order of its requests.")] = False


def call(options: Globals, given: CallOperation) -> int:
    """One call, or a batch of them; the exit status. Raises `InvalidInput` for words that do not fit together."""
    if given.batch:
        if given.operation is not None:
            raise invalid("operation", "not_both", "a batch names its operations on standard input")
        return _call_batch(options, given)
    if given.operation is None:
        raise invalid("operation", "missing", "is required", hint="`hearth operations` lists what there is")
    return _call_one(options, given.operation, given.input)


def _call_one(options: Globals, operation: str, text: str | None) -> int:
    from hearth import check, dispatch
    from hearth.answers import Answer
    from hearth.cli import interrupts

    # JSON came in, so JSON goes out, also where the input was wrong.
    options.output.json = not options.output.ndjson
    try:
        runtime = open_runtime(options)
    except HearthError as error:
        return refuse(options, operation, error)
    with interrupts.passed_on_if(_hears_signals(operation), runtime.cancelled) as heard:
        try:
            answer = dispatch.call_json(runtime, operation, check.parse(_json_text(text)))
        except InvalidInput as error:
            answer = Answer(operation, error.state, error=error)
        finally:
            runtime.close()
    render.show(answer, options.output)
    return heard.exit_status or exit_status(answer)


def _hears_signals(operation: str) -> bool:
    try:
        return catalog.find(operation)[1].hears_signals
    except UnknownOperation:
        return False


def _json_text(text: str | None) -> str | bytes:
    """The input's text. A file may also be UTF-16, which is what PowerShell 5.1 writes."""
    if text is None:
        return "{}"
    if text == "-":
        return streams.standard_input().read()
    if not text.startswith("@"):
        return text
    try:
        with open(os.path.expanduser(text[1:]), "rb") as file:
            return file.read()
    except OSError as error:
        raise invalid("", "unreadable", f"cannot read {text[1:]}: {error.strerror}") from error


def _call_batch(options: Globals, given: CallOperation) -> int:
    from hearth.cli.batch import Batch

    runtime = open_runtime(options, Caller.BATCH)
    try:
        batch = Batch(runtime, render.write_bytes, jobs=given.jobs, ordered=given.ordered)
        return batch.run(streams.standard_input())
    finally:
        runtime.close()
