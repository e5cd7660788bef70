"""Results as text: tables with human sizes and times at a terminal, tab-separated fields as they are in a pipe."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import is_dataclass
from typing import Any

from hearth.fields import Field, fields_of
from hearth.model import Hidden, Items, State
from hearth.plain import plain

_UNITS = ("KiB", "MiB", "GiB", "TiB", "PiB", "EiB")
LEAST_WIDTH = 20  # of a terminal
SHORT, LEAST_LONG = 20, 8  # the width of a cell that is not broken, and what that has to leave for each longer one
# Below a table only what was asked for beside it, and what says that there is more or that something went wrong.
_BELOW = ("totals", "state", "stopped", "next_cursor", "errors")


def items_field(result: Any) -> Field | None:
    """The field that holds the result's list."""
    if result is None:
        return None
    return next((field for field in fields_of(type(result)) if field.find(Items)), None)


def rows_of(result: Any, field: Field, *, human: bool) -> tuple[tuple[str, ...], list[list[str]]]:
    """The columns and cells of a result's list."""
    items = [plain(item) for item in getattr(result, field.name)]
    marker = field.find(Items)
    columns = (marker.columns if marker else ()) or (tuple(items[0]) if items else ())
    rows = [[cell(item.get(column), column if human else "") for column in columns] for item in items]
    return _without_empty_ends(columns, rows)


def _without_empty_ends(columns: tuple[str, ...], rows: list[list[str]]) -> tuple[tuple[str, ...], list[list[str]]]:
    """The table without its last columns, as long as no row fills them."""
    width = len(columns)
    while width > 1 and not any(row[width - 1] for row in rows):
        width -= 1
    return columns[:width], [row[:width] for row in rows]


def facts_of(result: Any, *, below_table: bool, human: bool) -> list[str]:
    """The fields that say something, one line each; the state only where it is not the usual one."""
    shown = [field.name for field in fields_of(type(result)) if not field.find(Hidden) and not field.find(Items)]
    if below_table:
        shown = [name for name in _BELOW if name in shown]
    values = {name: getattr(result, name) for name in shown if name != "state"}
    facts = {name: value for name, value in _spread(values) if value not in (None, (), "", {})}
    if result.state is not State.COMPLETED:
        facts = {"state": result.state, **facts}
    width = max(map(len, facts), default=0)
    return [f"{name.ljust(width)}  {cell(plain(value), name if human else '')}" for name, value in facts.items()]


def _spread(values: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """The facts, those of a thing inside the result in its place."""
    for name, value in values.items():
        if is_dataclass(value):
            yield from ((inner, getattr(value, inner)) for inner in value.__dataclass_fields__ if inner not in values)
        else:
            yield name, value


def tabbed(rows: Iterable[Sequence[str]]) -> str:
    """One line a row, for `cut`, `awk` and `Import-Csv`: no cell holds a tab or an end of line."""
    return "".join("\t".join(row) + "\n" for row in rows)


def table(columns: Sequence[str], rows: Sequence[Sequence[str]], *, width: int, colored: bool) -> str:
    """A table for a terminal that is `width` columns wide."""
    import io

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    made = Table(box=None, pad_edge=False, header_style="bold" if colored else "")
    whole = _kept_whole(columns, rows, width)
    for place, column in enumerate(columns):
        made.add_column(
            column.replace("_", " "),
            justify="right" if _is_number(column) else "left",
            overflow="fold",
            no_wrap=place in whole,
        )
    for row in rows:
        made.add_row(*map(Text, row))
    page = io.StringIO()
    Console(
        file=page,
        width=max(width, LEAST_WIDTH),
        force_terminal=True,
        no_color=not colored,
        highlight=False,
        legacy_windows=False,
    ).print(made)
    text = page.getvalue()
    return text if colored else _without_styles(text)


def _kept_whole(columns: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> set[int]:
    """The columns that are not broken as long as that leaves room for the others: ids, which are to be copied, then
    those of short cells, such as times."""
    wide = [max(len(column), *(len(row[place]) for row in rows)) for place, column in enumerate(columns)]
    candidates = [place for place, each in enumerate(wide) if columns[place] == "id" or each <= SHORT]
    least = {place: min(each, LEAST_LONG) + 2 for place, each in enumerate(wide)}
    for place in sorted(candidates, key=lambda place: (columns[place] != "id", wide[place])):
        if sum(least.values()) - least[place] + wide[place] + 2 <= width:
            least[place] = wide[place] + 2
    return {place for place in candidates if least[place] == wide[place] + 2}


def _without_styles(text: str) -> str:
    import re

    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def _is_number(name: str) -> bool:
    return name == "size" or name.endswith(("_bytes", "_ms"))


def cell(value: Any, name: str = "") -> str:
    """A value on one line. With the field's name, sizes, durations and times are given as people read them."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and name:
        return _human_number(value, name)
    if isinstance(value, str) and name.endswith("_at"):
        return _local_time(value)
    # The words of a command may hold what stands between them.
    if isinstance(value, list) and all(isinstance(item, str) and item and ", " not in item for item in value):
        return escape_controls(", ".join(value))
    if isinstance(value, (dict, list)):
        return escape_controls(json.dumps(value, ensure_ascii=False))
    return escape_controls(str(value))


def _human_number(value: int, name: str) -> str:
    if name == "size" or name.endswith("_bytes"):
        return size(value)
    return duration(value) if name.endswith("_ms") else str(value)


def size(count: int) -> str:
    """Bytes in units of 1,024: `512 B`, `4.0 KiB`, `1.5 GiB`."""
    if abs(count) < 1024:
        return f"{count} B"
    value, power = count / 1024, 0
    while abs(value) >= 1023.95 and power < len(_UNITS) - 1:
        value, power = value / 1024, power + 1
    return f"{value:.1f} {_UNITS[power]}"


def duration(milliseconds: int) -> str:
    """`250 ms`, `1.5 s`, `2 m 05 s`, `3 h 20 m`."""
    if milliseconds < 1_000:
        return f"{milliseconds} ms"
    if milliseconds < 60_000:
        return f"{milliseconds / 1000:.1f} s"
    minutes, seconds = divmod(milliseconds // 1000, 60)
    return f"{minutes} m {seconds:02} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} m"


def _local_time(text: str) -> str:
    from datetime import datetime

    try:
        return datetime.fromisoformat(text).astimezone().strftime("%Y-%m-%d %H:%M:%S")
    except (ValueError, OverflowError, OSError):  # a time that the system cannot place in its zone
        return escape_controls(text)


def escape_controls(text: str) -> str:
    """What was read is data: control characters would let a file name drive the terminal."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c == " " else c.encode("unicode_escape").decode("ascii") for c in text)
