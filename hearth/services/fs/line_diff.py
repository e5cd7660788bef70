"""Makes a unified diff of two texts, in time that does not grow with the square of their length."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

CONTEXT = 3
# Pairs of lines between two anchors, and in all, that are compared each with each; what is beyond counts as replaced.
MAX_PAIRS = 40_000
MAX_ALL_PAIRS = 400_000
MAX_ANCHORED = 200_000  # lines of both; of longer texts only the first and the last difference are looked for


class Block(NamedTuple):
    """Old lines `start` to `end` became new lines `new_start` to `new_end`."""

    start: int
    end: int
    new_start: int
    new_end: int


def unified_diff(old: str, new: str, *, old_name: str, new_name: str) -> Iterator[str]:
    """The lines of the diff, with their ends; nothing when the texts are equal. `/dev/null` names no file."""
    one, other = lines_of(old), lines_of(new)
    groups = list(_groups(list(blocks(one, other))))
    if groups:
        yield f"--- {old_name}\n"
        yield f"+++ {new_name}\n"
    for group in groups:
        yield from _hunk(one, other, group)


def lines_of(text: str) -> list[str]:
    """The lines with their ends; only LF ends one, as in diffs."""
    *closed, last = text.split("\n")
    return [f"{line}\n" for line in closed] + ([last] if last else [])


def bounded(lines: Iterator[str], most: int) -> tuple[str, bool]:
    """The text of whole lines up to `most` characters, and whether there was more."""
    pieces: list[str] = []
    for line in lines:
        most -= len(line)
        if most < 0:
            return "".join(pieces), True
        pieces.append(line)
    return "".join(pieces), False


def blocks(one: Sequence[str], other: Sequence[str]) -> Iterator[Block]:
    """What differs, in order."""
    head = _shared(one, other)
    tail = _shared(one[head:][::-1], other[head:][::-1])
    end, new_end = len(one) - tail, len(other) - tail
    anchors = [(head - 1, head - 1), *_anchors(one, other, head, end, new_end), (end, new_end)]
    left_pairs = MAX_ALL_PAIRS
    for (left, new_left), (right, new_right) in pairwise(anchors):
        gap = Block(left + 1, right, new_left + 1, new_right)
        pairs = (gap.end - gap.start) * (gap.new_end - gap.new_start)
        if 0 < pairs <= min(left_pairs, MAX_PAIRS):
            left_pairs -= pairs
            yield from _compared(one, other, gap)
        elif gap.end > gap.start or gap.new_end > gap.new_start:
            yield gap


def _shared(one: Sequence[str], other: Sequence[str]) -> int:
    return next((n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other)))


def _anchors(one: Sequence[str], other: Sequence[str], start: int, end: int, new_end: int) -> list[tuple[int, int]]:
    """Lines that both have exactly once, as many as keep their order (Bram Cohen's patience diff)."""
    if end + new_end - 2 * start > MAX_ANCHORED:
        return []
    counts, new_counts = Counter(one[start:end]), Counter(other[start:new_end])
    place = {line: at for at, line in enumerate(other[start:new_end], start) if new_counts[line] == 1}
    pairs = [(at, place[line]) for at, line in enumerate(one[start:end], start) if counts[line] == 1 and line in place]
    piles: list[int] = []
    tops: list[int] = []
    before: list[int] = []
    for index, (_, at) in enumerate(pairs):
        pile = bisect_left(piles, at)
        before.append(tops[pile - 1] if pile else -1)
        piles[pile : pile + 1] = [at]
        tops[pile : pile + 1] = [index]
    chosen: list[tuple[int, int]] = []
    index = tops[-1] if tops else -1
    while index >= 0:
        chosen.append(pairs[index])
        index = before[index]
    return chosen[::-1]


def _compared(one: Sequence[str], other: Sequence[str], gap: Block) -> Iterator[Block]:
    """What differs between two anchors, line by line."""
    from difflib import SequenceMatcher

    start, end, new_start, new_end = gap
    matcher = SequenceMatcher(None, one[start:end], other[new_start:new_end], autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag != "equal":
            yield Block(start + a, start + b, new_start + c, new_start + d)


def _groups(found: list[Block]) -> Iterator[list[Block]]:
    """Blocks whose contexts touch belong to one hunk."""
    group: list[Block] = []
    for block in found:
        if group and block.start - group[-1].end > 2 * CONTEXT:
            yield group
            group = []
        group.append(block)
    if group:
        yield group


def _hunk(one: list[str], other: list[str], group: list[Block]) -> Iterator[str]:
    start, end = max(group[0].start - CONTEXT, 0), min(group[-1].end + CONTEXT, len(one))
    new_start = group[0].new_start - (group[0].start - start)
    new_end = group[-1].new_end + (end - group[-1].end)
    yield f"@@ -{_range(start, end)} +{_range(new_start, new_end)} @@\n"
    at = start
    for block in group:
        yield from _tagged(" ", one[at : block.start])
        yield from _tagged("-", one[block.start : block.end])
        yield from _tagged("+", other[block.new_start : block.new_end])
        at = block.end
    yield from _tagged(" ", one[at:end])


def _range(start: int, end: int) -> str:
    count = end - start
    return f"{start + bool(count)},{count}" if count != 1 else f"{start + 1}"


def _tagged(tag: str, lines: list[str]) -> Iterator[str]:
    for line in lines:
        yield f"{tag}{line}" if line.endswith("\n") else f"{tag}{line}\n\\ No newline at end of file\n"
