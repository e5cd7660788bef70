"""What is kept of a run's outputs, to be read anywhere: each by itself, or both in the order in which they came.

There are two ways to count. An offset of what was printed stays the same for ever, whatever is left out later; an
index counts the bytes that are kept, as if nothing had been between them.
"""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple, Protocol

from hearth.content.line_places import read_exactly
from hearth.engine.outputs import Gap, Outputs
from hearth.platforms.processes import Stream

LINE_BYTES = 4_096  # where the end of a line is looked for


class Moved(Exception):
    """The bytes were taken out of the file while they were read; look anew."""


class Source(Protocol):
    """Where an output stands."""

    def read(self, start: int, length: int) -> bytes:
        """Raises `Moved`."""


class BodySource:
    """A stored output, which nothing changes."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def read(self, start: int, length: int) -> bytes:
        return read_exactly(self._descriptor, start, length)


class FileSource:
    """The file of a program that may print on, of whose middle more may be taken out at any time."""

    def __init__(self, outputs: Outputs, stream: Stream, descriptor: int) -> None:
        self._outputs = outputs
        self._stream = stream
        self._descriptor = descriptor

    def read(self, start: int, length: int) -> bytes:
        data = read_exactly(self._descriptor, start, length)
        # What was noted before the hole was made is seen now, if the hole was there when these bytes were read; the
        # notes of a file that was removed may be gone, too.
        gap = self._outputs.gap(self._stream)
        if (gap and gap.start < start + len(data) and start < gap.end) or not os.fstat(self._descriptor).st_nlink:
            raise Moved
        return data

    def now(self) -> Printed:
        """What there is."""
        size = os.fstat(self._descriptor).st_size
        return Printed(size, self._outputs.gap(self._stream), self)


class Printed(NamedTuple):
    """One output. `size` bytes were printed, of which those of `gap` are not kept."""

    size: int
    gap: Gap | None
    source: Source
    is_file: bool = True  # offsets are places in the source, also behind the gap
    artifact: str | None = None


def stored(descriptor: int, size: int, printed: int, artifact: str) -> Printed:
    """An output whose body has `size` bytes. Of a longer one the middle is missing."""
    missing = max(0, printed - size)
    gap = Gap(size // 2, size // 2 + missing) if missing else None
    return Printed(size + missing, gap, BodySource(descriptor), is_file=False, artifact=artifact)


class Piece(NamedTuple):
    """Bytes that follow each other, at the offset `at` of what was printed."""

    at: int
    stream: Stream
    source: Source
    start: int
    length: int


def pieces(stream: Stream, printed: Printed, start: int = 0, end: int | None = None) -> Iterator[Piece]:
    """What is kept of a part of an output."""
    gap = printed.gap or Gap(printed.size, printed.size)
    end = printed.size if end is None else end
    for first, last in ((0, gap.start), (gap.end, printed.size)):
        at, stop = max(first, start), min(last, end)
        if at < stop:
            place = at if printed.is_file or at < gap.end else at - (gap.end - gap.start)
            yield Piece(at, stream, printed.source, place, stop - at)


class Transcript:
    """Pieces one after the other."""

    def __init__(self, given: Sequence[Piece], printed: int) -> None:
        """`printed` bytes there were in all."""
        self.pieces = tuple(given)
        self.printed = printed
        *self._begins, self.size = accumulate((piece.length for piece in given), initial=0)

    def read(self, index: int, length: int) -> bytes:
        """Bytes from an index on, fewer at the end only. Raises `Moved`."""
        return b"".join(piece.source.read(piece.start, piece.length) for piece in self.part(index, index + length))

    def part(self, start: int, end: int) -> Iterator[Piece]:
        """The pieces from one index to another."""
        for begin, piece in zip(self._begins, self.pieces, strict=True):
            first, last = max(start - begin, 0), min(end - begin, piece.length)
            if first < last:
                yield piece._replace(at=piece.at + first, start=piece.start + first, length=last - first)

    def index_of(self, offset: int) -> int:
        """The index of an offset; of one that is not kept that of what follows."""
        for begin, piece in zip(self._begins, self.pieces, strict=True):
            if offset < piece.at + piece.length:
                return begin + max(0, offset - piece.at)
        return self.size

    def offset_of(self, index: int) -> int:
        """The offset of what stands at an index."""
        if index >= self.size:
            return self.printed
        number = bisect_right(self._begins, index) - 1
        return self.pieces[number].at + index - self._begins[number]

    def run_around(self, index: int) -> tuple[int, int]:
        """The indices between which nothing is missing and `index` stands."""
        first = last = min(max(bisect_right(self._begins, index) - 1, 0), len(self.pieces) - 1)
        while first > 0 and self._joins(first):
            first -= 1
        while last + 1 < len(self.pieces) and self._joins(last + 1):
            last += 1
        if not self.pieces:
            return 0, 0
        return self._begins[first], self._begins[last] + self.pieces[last].length

    def _joins(self, number: int) -> bool:
        before = self.pieces[number - 1]
        return before.at + before.length == self.pieces[number].at


def alone(stream: Stream, printed: Printed) -> Transcript:
    return Transcript(tuple(pieces(stream, printed)), printed.size)


def together(outputs: Mapping[Stream, Printed], order: Sequence[tuple[int, int]]) -> Transcript:
    """Both outputs in one. `order` holds how much of stdout and of stderr there was at one time after the other; what
    came between two of these times is stdout first."""
    made: list[Piece] = []
    at, done = 0, dict.fromkeys(outputs, 0)
    ends = {stream: printed.size for stream, printed in outputs.items()}
    for sizes in (*(dict(zip(Stream, each, strict=True)) for each in order), ends):
        for stream, printed in outputs.items():
            end = min(sizes[stream], printed.size)
            end = end if sizes is ends else _line_end(stream, printed, done[stream], end)
            if end > done[stream]:
                shift = at - done[stream]
                made += (each._replace(at=each.at + shift) for each in pieces(stream, printed, done[stream], end))
                at += end - done[stream]
                done[stream] = end
    return Transcript(made, at)


def _line_end(stream: Stream, printed: Printed, start: int, end: int) -> int:
    """Where the last whole line before `end` ends, so that no other output comes between; `end` in a very long one."""
    near = list(pieces(stream, printed, max(start, end - LINE_BYTES), end))
    if not near:
        return end
    found = near[-1].source.read(near[-1].start, near[-1].length).rfind(b"\n")
    if found >= 0:
        return near[-1].at + found + 1
    return start if end - start < LINE_BYTES else end
