"""Applies the hunks of a unified diff to a text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from hearth.content.text import LineEnds
from hearth.errors import Conflict
from hearth.services.fs.line_diff import lines_of
from hearth.services.fs.unified_diff import Hunk

MAX_OFFSET = 1_000  # lines that a hunk may have moved by


class Placed(NamedTuple):
    """Where a hunk was applied: its first line in the old text (1-based), how far that is from where the diff
    said, and how many lines of context at each end were ignored."""

    line: int
    offset: int
    fuzz: int


def apply(
    text: str, ends: LineEnds, hunks: Sequence[Hunk], where: str, *, fuzz: int = 0, loose: bool = False
) -> tuple[str, list[Placed]]:
    """The text after the hunks, and where they went. Raises `Conflict` for one that fits nowhere.

    Where all lines fit with their line ends, added lines come as the diff has them. Otherwise line ends are not
    compared, and added lines end as their neighbours do. `loose` takes any run of blanks for any other.
    """
    lines = lines_of(text)
    # Without context nothing shows whether the diff knows the file's line ends; only where all are CRLF is it certain
    # that LF is not meant.
    if ends is not LineEnds.CRLF or any(hunk.old for hunk in hunks):
        placed = _place(lines, hunks, 0, _same)
        if placed is not None:
            return _joined(list(_changed(lines, hunks, placed)), ends), placed
    spelled = _plain if loose else _bare
    placed = _place([spelled(line) for line in lines], hunks, fuzz, spelled)
    if placed is None:
        raise _conflict(lines, hunks, fuzz, spelled, where)
    changed = list(_changed(lines, hunks, placed, ends))
    if _keeps_open(lines, hunks[-1], placed[-1]):
        changed[-1:] = map(_bare, changed[-1:])
    return _joined(changed, ends), placed


def _joined(lines: list[str], ends: LineEnds) -> str:
    """Every line but the last must have an end, also one that was the last before."""
    end = "\r\n" if ends is LineEnds.CRLF else "\n"
    return "".join([line if line.endswith("\n") else line + end for line in lines[:-1]] + lines[-1:])


def _keeps_open(lines: list[str], last: Hunk, placed: Placed) -> bool:
    """Whether the file's last line has no end and the diff, which ends there, does not know that."""
    reaches_end = placed.line - 1 + last.length == len(lines)
    return reaches_end and bool(lines) and not lines[-1].endswith("\n") and last.old[-1:] != [_bare(lines[-1])]


def _same(line: str) -> str:
    return line


def _bare(line: str) -> str:
    return line.removesuffix("\n").removesuffix("\r")


def _plain(line: str) -> str:
    return " ".join(line.split())


def _place(lines: list[str], hunks: Sequence[Hunk], fuzz: int, spelled: Callable[[str], str]) -> list[Placed] | None:
    """Where each hunk goes; None when one of them fits nowhere."""
    placed: list[Placed] = []
    end = moved = 0
    for hunk in hunks:
        found = _find(lines, hunk, moved, end, fuzz, spelled)
        if found is None:
            return None
        placed.append(found)
        moved = found.offset
        end = found.line - 1 + hunk.length
    return placed


def _find(
    lines: list[str], hunk: Hunk, moved: int, least: int, fuzz: int, spelled: Callable[[str], str]
) -> Placed | None:
    old = [spelled(line) for line in hunk.old]
    head, tail = _context(hunk)
    for ignored in range(fuzz + 1):
        skip_head, skip_tail = min(ignored, head), min(ignored, tail)
        core = old[skip_head : len(old) - skip_tail]
        reach = MAX_OFFSET if core else 0
        if not core and old:
            break  # nothing would be left to know the place by
        for at in _nearby(hunk.first + moved, least, len(lines) - len(old), reach):
            if lines[at + skip_head : at + skip_head + len(core)] == core:
                return Placed(at + 1, at - hunk.first, max(skip_head, skip_tail))
    return None


def _context(hunk: Hunk) -> tuple[int, int]:
    """How many lines of context stand before and behind the change."""
    tags = "".join(line.tag for line in hunk.lines)
    return len(tags) - len(tags.lstrip(" ")), len(tags) - len(tags.rstrip(" "))


def _nearby(wanted: int, least: int, most: int, reach: int) -> Iterator[int]:
    for distance in range(reach + 1):
        for at in (wanted + distance, wanted - distance) if distance else (wanted,):
            if least <= at <= most:
                yield at


def _changed(
    lines: list[str], hunks: Sequence[Hunk], placed: list[Placed], ends: LineEnds | None = None
) -> Iterator[str]:
    """The new lines. Context is the file's own; with `ends`, added lines end as those they replace, or as the
    line before them."""
    at = 0
    for hunk, where in zip(hunks, placed, strict=True):
        yield from lines[at : where.line - 1]
        at = where.line - 1
        removed: list[str] = []
        for line in hunk.lines:
            if line.tag == "+":
                open_end = ends is None or not line.text.endswith("\n")
                yield line.text if open_end else _bare(line.text) + _end(lines, at, removed, ends)
                continue
            if line.tag == "-":
                removed.append(lines[at])
            else:
                removed.clear()
                yield lines[at]
            at += 1
    yield from lines[at:]


def _end(lines: list[str], at: int, removed: list[str], ends: LineEnds | None) -> str:
    if ends is not LineEnds.MIXED:
        return ends.characters if ends is LineEnds.CRLF else "\n"
    near = removed.pop(0) if removed else lines[max(at - 1, 0)]
    return "\r\n" if near.endswith("\r\n") else "\n"


def _conflict(
    lines: list[str], hunks: Sequence[Hunk], fuzz: int, spelled: Callable[[str], str], where: str
) -> Conflict:
    """Why the first hunk that fits nowhere does not."""
    compared = [spelled(line) for line in lines]
    end = moved = 0
    for number, hunk in enumerate(hunks, 1):
        found = _find(compared, hunk, moved, end, fuzz, spelled)
        if found is None:
            return _explained(
                [_bare(line) for line in lines], hunk, f"{where}, hunk {number} (line {hunk.at:,} of the diff)"
            )
        moved, end = found.offset, found.line - 1 + hunk.length
    raise AssertionError("every hunk fits")


def _explained(lines: list[str], hunk: Hunk, where: str) -> Conflict:
    new = [_bare(line) for line in hunk.new]
    for at in _nearby(hunk.first, 0, len(lines) - len(new), MAX_OFFSET if new else 0):
        if new and lines[at : at + len(new)] == new:
            message = f"{where}: what it makes stands there already, at line {at + 1:,}"
            return Conflict(message, hint="take it out of the diff", field="diff", line=at + 1)
    if not hunk.old:
        message = f"{where}: the file has no line {hunk.start:,}, only {len(lines):,}"
        return Conflict(message, field="diff", lines=len(lines))
    from hearth.services.fs.nearest import explain

    return explain("\n".join(lines), "\n".join(_bare(line) for line in hunk.old), "diff", label=where)
