"""Changing a text by line numbers, 1-based, as the lines stand before any of the edits."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from hearth.content.text import LineEnds
from hearth.errors import Conflict, invalid
from hearth.services.fs.folded import Edit, end_near

_RANGE = re.compile(r"([1-9][0-9]{0,11})(?::([1-9][0-9]{0,11}))?", re.ASCII)
_ANY_END = re.compile("\r\n|\r|\n")


class LineEdit(NamedTuple):
    """Lines `first` to `last` become `text` (None: nothing). An insertion behind line N is `N + 1` to `N`."""

    first: int
    last: int
    text: str | None
    where: str  # the field that it came from


def parse_range(lines: str, where: str) -> tuple[int, int]:
    """The two numbers of `10:40`, or of `10`. Raises `InvalidInput`."""
    found = _RANGE.fullmatch(lines)
    first, last = (int(found[1]), int(found[2] or found[1])) if found else (1, 0)
    if last < first:
        raise invalid(where, "wrong_form", "must be lines such as 10 or 10:40, from 1, the first not above the last")
    return first, last


def starts_of(text: str, ends: LineEnds) -> list[int]:
    """Where each line starts, and where the text ends."""
    end = "\r" if ends is LineEnds.CR else "\n"
    starts = [0]
    at = text.find(end)
    while at >= 0:
        starts.append(at + 1)
        at = text.find(end, at + 1)
    if starts[-1] != len(text):
        starts.append(len(text))
    return starts


def edits_of(text: str, ends: LineEnds, given: Sequence[LineEdit]) -> list[Edit]:
    """The edits in the order of the text. Raises `Conflict` for lines that the file does not have, `InvalidInput`
    for edits of the same lines."""
    starts = starts_of(text, ends)
    ordered = sorted(given, key=lambda each: (each.first, each.last))
    for one, other in pairwise(ordered):
        if other.first <= one.last or (other.first, other.last) == (one.first, one.last):
            raise invalid(other.where, "overlaps", f"changes the same lines as {one.where}")
    return [_edit(text, ends, starts, each) for each in ordered]


def _edit(text: str, ends: LineEnds, starts: list[int], given: LineEdit) -> Edit:
    count = len(starts) - 1
    if given.last > count:
        raise Conflict(
            f"{given.where}: there is no line {given.last:,}; the file has {count:,}",
            field=given.where,
            lines=count,
        )
    start, end = starts[given.first - 1], starts[given.last]
    if given.text is None:
        return Edit(start, end, "")
    line_end = end_near(text, start, start, ends)
    new = _ANY_END.sub(line_end, given.text)
    closed = text.endswith(("\n", "\r") if ends is LineEnds.CR else "\n")
    if start == len(text) and text and not closed:
        return Edit(start, end, line_end + new.removesuffix(line_end))
    if end == len(text) and text and not closed and given.first <= given.last:
        return Edit(start, end, new.removesuffix(line_end))
    return Edit(start, end, new if new.endswith(line_end) else new + line_end)
