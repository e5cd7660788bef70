"""Answers as text or JSON; the only module that prints."""

from __future__ import annotations

import errno
import json
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import IO, TYPE_CHECKING, Any

from hearth.cli.options import Output
from hearth.document import VERSION, document, plain
from hearth.errors import OutputFailed
from hearth.fields import Field, fields_of
from hearth.model import Hidden, Items, Raw, State

if TYPE_CHECKING:
    from hearth.dispatch import Answer
    from hearth.errors import HearthError


def show(answer: Answer, output: Output) -> None:
    """Print an answer: results to standard output, errors of a person's call to standard error."""
    if output.ndjson:
        _show_lines(answer)
    elif output.json:
        write_line(to_json(document(answer), pretty=output.is_terminal))
    elif answer.error is not None:
        show_error(answer.error)
    elif not output.quiet:
        _show_text(answer.result, output)


def to_json(value: Any, *, pretty: bool = False) -> str:
    """JSON; pure ASCII where standard output is no terminal, since PowerShell 5.1 decodes pipes as OEM text."""
    return json.dumps(value, ensure_ascii=not sys.stdout.isatty(), indent=2 if pretty else None)


def write_line(text: str) -> None:
    write_bytes(text.encode("utf-8", "replace") + b"\n")


def write_bytes(data: bytes | memoryview) -> None:
    """Bytes to standard output as they are: no code page, no change of line ends. Raises `BrokenPipeError` when
    its reader went away, else `OutputFailed`."""
    try:
        sys.stdout.flush()
        stream: IO[bytes] = sys.stdout.buffer
        stream.write(data)
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        if error.errno == errno.EINVAL and sys.platform == "win32":
            raise BrokenPipeError from error  # how Windows says that the reader of a pipe is gone
        raise OutputFailed(f"standard output cannot be written: {error.strerror}") from error


def notice(text: str) -> None:
    """A line for the person, never part of a result."""
    with suppress(OSError):  # nobody left to tell
        sys.stderr.write(plain(text) + "\n")
        sys.stderr.flush()


def show_error(error: HearthError) -> None:
    notice(f"hearth: {error.message}")
    if error.hint:
        notice(f"  hint: {error.hint}")


def _show_lines(answer: Answer) -> None:
    field = _items_field(answer.result)
    if field is None or answer.error is not None:
        write_line(to_json(document(answer)))
        return
    for item in getattr(answer.result, field.name):
        write_line(to_json(plain(item)))
    show_end(answer.state, getattr(answer.result, "next_cursor", None))


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
        write_line("\t".join(_cell(value) for value in plain(item).values()))


def _items_field(result: Any) -> Field | None:
    if result is None:
        return None
    return next((field for field in fields_of(type(result)) if field.find(Items)), None)


def _show_text(result: Any, output: Output) -> None:
    fields = [field for field in fields_of(type(result)) if not field.find(Hidden)]
    raw = next((field for field in fields if field.find(Raw)), None)
    if raw is not None and getattr(result, raw.name) is not None:
        write_bytes(getattr(result, raw.name).encode("utf-8", "surrogateescape"))
        return
    items = next((field for field in fields if field.find(Items)), None)
    if items is not None:
        _show_table(items, getattr(result, items.name), output)
    _show_facts(result, [field for field in fields if field is not items], brief=items is not None)


def _show_facts(result: Any, fields: list[Field], *, brief: bool) -> None:
    facts = {field.name: getattr(result, field.name) for field in fields if field.name != "state"}
    facts = {name: value for name, value in facts.items() if value not in (None, (), "", {})}
    if result.state is not State.COMPLETED:
        facts = {"state": result.state.value, **facts}
    if brief:
        # Below a table only what says that there is more, or that something went wrong; on standard error, so
        # that a pipe gets rows only.
        facts = {name: facts[name] for name in ("state", "next_cursor", "errors") if name in facts}
    width = max(map(len, facts), default=0)
    for name, value in facts.items():
        (notice if brief else write_line)(f"{name.ljust(width)}  {_cell(plain(value))}")


def _show_table(field: Field, items: Iterable[Any], output: Output) -> None:
    items = list(items)
    marker = field.find(Items)
    assert marker is not None
    if not items:
        return
    cells = [plain(item) for item in items]
    columns = marker.columns or tuple(cells[0])
    rows = [[_cell(item.get(column)) for column in columns] for item in cells]
    if output.is_terminal:
        _show_rich_table(columns, rows, output)
    else:
        for row in rows:
            write_line("\t".join(row))


def _show_rich_table(columns: tuple[str, ...], rows: list[list[str]], output: Output) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold" if output.colored else "")
    for column in columns:
        table.add_column(column.replace("_", " "), overflow="fold")
    for row in rows:
        table.add_row(*(Text(cell) for cell in row))
    Console(no_color=not output.colored, highlight=False).print(table)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return escape_controls(", ".join(value))
    if isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False)
    return escape_controls(str(value))


def escape_controls(text: str) -> str:
    """What was read is data: control characters would let a file name drive the terminal."""
    return "".join(c if c.isprintable() or c == " " else c.encode("unicode_escape").decode("ascii") for c in text)
