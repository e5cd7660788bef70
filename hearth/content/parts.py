"""Which bytes of a file were asked for."""

from __future__ import annotations

from typing import NamedTuple

from hearth.content.open_text import MARGIN, OpenText, WantedPart, border
from hearth.errors import invalid


class Part(NamedTuple):
    """What to give of a file: the bytes from `start` to `end`; `cut` when a bound ended it too early."""

    start: int
    end: int
    cut: bool
    first_line: int | None


def part_of(file: OpenText, given: WantedPart, bound: int | None) -> Part:
    """The part that was asked for, of at most `bound` bytes."""
    if given.tail is not None:
        return _tail(file, given.tail, bound)
    if given.head is not None or given.lines is not None:
        first, last = (1, given.head) if given.head is not None else _numbers(given.lines or "")
        return _lines(file, first, last, bound)
    start = min(given.offset or 0, file.size)
    end = file.size if given.limit is None else min(file.size, start + given.limit)
    end = end if bound is None else min(end, start + bound)
    return Part(start, end, end < file.size, 1 if start <= file.places.begin else None)


def _tail(file: OpenText, count: int, bound: int | None) -> Part:
    lowest = file.places.begin if bound is None else max(file.places.begin, file.size - bound)
    start = min(file.places.tail(count, lowest), file.size) if count else file.size
    cut = start == lowest > file.places.begin and file.places.tail(count, max(0, lowest - MARGIN)) < lowest
    return Part(start, file.size, cut, None)


def _numbers(lines: str) -> tuple[int, int | None]:
    first, colon, last = lines.partition(":")
    if not colon:
        return int(first), int(first)
    numbers = int(first or 1), int(last) if last else None
    if numbers[1] is not None and numbers[1] < numbers[0]:
        raise invalid("lines", "wrong_form", "the last line must not stand before the first")
    return numbers


def _lines(file: OpenText, first: int, last: int | None, bound: int | None) -> Part:
    start = file.places.after(file.places.begin, first - 1, file.size)
    # One byte more than is given tells whether the bound cut something.
    stop = file.size if bound is None else min(file.size, start + bound + 1)
    end = stop if last is None else file.places.after(start, last - first + 1, stop)
    cut = bound is not None and end - start > bound
    return Part(start, start + bound if cut and bound is not None else end, cut, first)


def end_border(file: OpenText, part: Part) -> int:
    return part.end if file.form.is_binary or part.end >= file.size else border(file, part.end)
