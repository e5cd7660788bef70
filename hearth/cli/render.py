"""Answers as text or JSON; the only module that prints."""

from __future__ import annotations

import errno
import json
import sys
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any, TextIO

from hearth.cli import text
from hearth.cli.options import Output
from hearth.document import VERSION, document
from hearth.errors import OutputFailed
from hearth.fields import Field, fields_of
from hearth.model import Raw, State
from hearth.plain import plain

if TYPE_CHECKING:
    from hearth.answers import Answer
    from hearth.errors import HearthError
    from hearth.platforms.processes import Stream


def show(answer: Answer, output: Output) -> None:
    """Print an answer: results to standard output, errors of a person's call to standard error."""
    if output.quiet and answer.error is None:
        return
    if output.ndjson:
        _show_lines(answer)
    elif output.json:
        write_line(to_json(document(answer), pretty=output.is_terminal))
    elif answer.error is not None:
        show_error(answer.error)
    else:
        _show_text(answer.result, output)


def to_json(value: Any, *, pretty: bool = False) -> str:
    """JSON; pure ASCII where standard output is no terminal, since PowerShell 5.1 decodes pipes as OEM text."""
    return json.dumps(value, ensure_ascii=not sys.stdout.isatty(), indent=2 if pretty else None)


def write_line(line: str) -> None:
    write_bytes(line.encode("utf-8", "replace") + b"\n")


def pass_on(stream: Stream, data: bytes) -> None:
    """What a program printed, to the same output of our own."""
    _write(sys.stdout if stream == "stdout" else sys.stderr, data)


def write_bytes(data: bytes | memoryview) -> None:
    """Bytes to standard output as they are: no code page, no change of line ends. Raises `BrokenPipeError` when
    its reader went away, else `OutputFailed`."""
    _write(sys.stdout, data)


def _write(output: TextIO, data: bytes | memoryview) -> None:
    try:
        output.flush()
        stream: IO[bytes] = output.buffer  # type: ignore[assignment,unused-ignore]
        stream.write(data)
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.errno == errno.EINVAL and sys.platform == "win32":
            raise BrokenPipeError from error  # how Windows says that the reader of a pipe is gone
        raise OutputFailed(f"standard output cannot be written: {error.strerror}") from error


def notice(told: str) -> None:
    """A line for the person, never part of a result."""
    lines = [text.escape_controls(plain(line)) for line in told.split("\n")]
    with suppress(OSError):  # nobody left to tell
        sys.stderr.write("\n".join(lines) + "\n")
        sys.stderr.flush()


def show_error(error: HearthError) -> None:
    notice(f"hearth: {error.shell_message or error.message}")
    if error.hint:
        notice(f"  hint: {error.hint}")


def _show_lines(answer: Answer) -> None:
    field = text.items_field(answer.result)
    if field is None or answer.error is not None or _is_one_content(answer.result, field):
        write_line(to_json(document(answer)))
        return
    lines = [to_json(plain(item)) + "\n" for item in getattr(answer.result, field.name)]
    write_bytes("".join(lines).encode("utf-8", "replace"))
    show_end(answer.state, getattr(answer.result, "next_cursor", None))


def _is_one_content(result: Any, items: Field) -> bool:
    """Whether a result that may hold a list holds the content of one thing instead."""
    return not getattr(result, items.name) and any(field.find(Raw) for field in fields_of(type(result)))


def show_end(state: State, next_cursor: str | None) -> None:
    """The last line of NDJSON."""
    write_line(to_json({"version": VERSION, "end": True, "state": state.value, "next_cursor": next_cursor}))


def show_item(item: Any, output: Output) -> None:
    """One item of a stream."""
    if isinstance(item, (bytes, memoryview)) and not output.ndjson:
        write_bytes(item)
    elif isinstance(item, (bytes, memoryview)):
        from base64 import b64encode

        write_line(to_json({"data_base64": b64encode(item).decode("ascii")}))
    elif output.machine_readable:
        write_line(to_json(plain(item)))
    else:
        write_line("\t".join(text.cell(value) for value in plain(item).values()))


def _show_text(result: Any, output: Output) -> None:
    raw = next((field for field in fields_of(type(result)) if field.find(Raw)), None)
    if raw is not None and getattr(result, raw.name) is not None:
        write_bytes(getattr(result, raw.name).encode("utf-8", "surrogateescape"))
        return
    items = text.items_field(result)
    if items is not None:
        columns, rows = text.rows_of(result, items, human=output.is_terminal)
        if rows:
            _write_rows(columns, rows, output)
    lines = text.facts_of(result, below_table=items is not None, human=output.is_terminal)
    # Below a table they go to standard error, so that a pipe gets rows only.
    for line in lines:
        (notice if items is not None else write_line)(line)


def _write_rows(columns: tuple[str, ...], rows: list[list[str]], output: Output) -> None:
    if output.is_terminal:
        shown = text.table(columns, rows, width=output.width, colored=output.colored)
    else:
        shown = text.tabbed(rows)
    write_bytes(shown.encode("utf-8", "replace"))
