"""A text in a simpler spelling for matching, and the way back to the exact one."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from hearth.content.text import LineEnds

# Blanks that people take for a space, and marks of no width: Unicode's Zs, ZERO WIDTH SPACE, the byte order mark.
BLANKS = " \t\f\v\xa0\u1680\u2000-\u200b\u202f\u205f\u3000\ufeff"
_LOOSE = (
    f"(?P<trailing>[{BLANKS}]++(?=\r?\n|\\Z))|(?P<end>\r\n)"
    f"|(?P<indent>(?:(?<=\n)|\\A)[{BLANKS}]++)|(?P<blank>[{BLANKS}]++)"
)


class Edit(NamedTuple):
    """Characters `start` to `end` become `new`."""

    start: int
    end: int
    new: str


class Folded(NamedTuple):
    """`text` is the simple spelling. A place between two characters of it may be a stretch of the exact one."""

    text: str
    early: Sequence[int] = ()  # from which place on each shift counts, towards the start of a stretch
    late: Sequence[int] = ()  # the same, towards its end
    shifts: Sequence[int] = ()

    def exact(self, place: int, *, late: bool = False) -> int:
        """Where a place of the simple text stands in the exact one."""
        index = bisect_right(self.late if late else self.early, place)
        return place + (self.shifts[index - 1] if index else 0)


def fold_line_ends(text: str, ends: LineEnds) -> Folded:
    """Every line end as LF; a CR alone is one only where no line ends otherwise."""
    if ends is LineEnds.CR:
        return Folded(text.replace("\r", "\n"))
    if ends in (LineEnds.LF, LineEnds.NONE) or "\r\n" not in text:
        return Folded(text)
    lines = text.split("\r\n")
    places = list(accumulate(len(line) + 1 for line in lines[:-1]))
    return Folded("\n".join(lines), places, places, range(1, len(lines)))


def fold_blanks(text: str, ends: LineEnds) -> Folded:
    """Line ends as LF, a run of blanks as one space, none at the ends of lines."""
    text = text.replace("\r", "\n") if ends is LineEnds.CR else text
    edits = list(_blank_runs(text))
    places: list[int] = []
    shifts: list[int] = []
    shift = 0
    for start, end, new in edits:
        places.append(start - shift + len(new))
        shift += end - start - len(new)
        shifts.append(shift)
    early = [place + (not edit.new) for place, edit in zip(places, edits, strict=True)]
    return Folded(apply(text, edits), early, places, shifts)


def _blank_runs(text: str) -> Iterator[Edit]:
    spelled = {"end": "\n", "blank": " "}
    for found in re.finditer(_LOOSE, text):
        yield Edit(found.start(), found.end(), spelled.get(found.lastgroup or "", ""))


def apply(text: str, edits: list[Edit]) -> str:
    """The text after edits that are in order and do not overlap."""
    pieces: list[str] = []
    last = 0
    for edit in edits:
        pieces += text[last : edit.start], edit.new
        last = edit.end
    return "".join([*pieces, text[last:]])


def end_near(text: str, start: int, end: int, ends: LineEnds) -> str:
    """What ends the lines around a region: the next line end, else the one before it, else LF."""
    if ends is not LineEnds.MIXED:
        return ends.characters
    at = text.find("\n", end)
    at = text.rfind("\n", 0, start) if at < 0 else at
    if at < 0:
        return "\n"
    return "\r\n" if text[at - 1 : at] == "\r" else "\n"


def common_length(one: str, other: str) -> int:
    """How many characters two texts share at the beginning."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def field_of(where: str, name: str) -> str:
    """The dotted name of a field in an input that itself stands at `where`."""
    return f"{where}.{name}" if where else name
