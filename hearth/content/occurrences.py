"""All places of something in an open content of any size, in bounded memory.

Each function yields steps: a match, or how far it has come, so that a caller can look at the clock in between. Places
are bytes of the content; no match overlaps the one before it.
"""

from __future__ import annotations

import os
from collections.abc import Generator, Iterator
from typing import NamedTuple, Protocol

from hearth.content.matching import Matcher

BLOCK = 1 << 20
MAX_LINE = 4 << 20  # of a longer line, so much is looked at at once
OVERLAP = 1 << 16  # between two looks at one line, so that no match up to this size is cut in two
BEFORE = 64  # bytes that an expression sees before the place from which its matches count


class Step(NamedTuple):
    """A match of `length` bytes at `offset`; or without one, that all before `reached` was looked at."""

    reached: int
    offset: int | None = None
    length: int = 0


class Reader(Protocol):
    """Bytes in order, and where in the content they stand."""

    def read(self) -> bytes: ...

    def place(self, at: int) -> int:
        """The place in the content of the byte `at`, counted from the first that was read."""


class Bytes:
    """The content as it is, from an offset on."""

    def __init__(self, descriptor: int, start: int) -> None:
        self._descriptor = descriptor
        self._start = self._next = start

    def read(self) -> bytes:
        os.lseek(self._descriptor, self._next, os.SEEK_SET)
        data = os.read(self._descriptor, BLOCK)
        self._next += len(data)
        return data

    def place(self, at: int) -> int:
        return self._start + at


def of_bytes(
    descriptor: int, wanted: bytes, start: int, *, width: int = 1, begin: int = 0
) -> Generator[Step, None, None]:
    """Where bytes stand from `start` on, only at every `width`-th byte from `begin` on."""
    keep = len(wanted) - 1
    buffer = bytearray(keep + BLOCK)
    view = memoryview(buffer)
    base, filled = start, 0  # where the buffer stands, and how much of it is left over from before
    least = start
    while True:
        os.lseek(descriptor, base + filled, os.SEEK_SET)
        data = os.read(descriptor, BLOCK)
        if not data:
            return
        end = filled + len(data)
        view[filled:end] = data
        at = buffer.find(wanted, max(0, least - base), end)
        while at >= 0:
            if (base + at - begin) % width == 0:
                least = base + at + len(wanted)
                yield Step(least, base + at, len(wanted))
                at = buffer.find(wanted, at + len(wanted), end)
            else:
                at = buffer.find(wanted, at + 1, end)
        kept = min(keep, end)
        view[:kept] = bytes(view[end - kept : end])
        base, filled = base + end - kept, kept
        yield Step(max(least, base))


def of_lines(reader: Reader, matcher: Matcher, least: int) -> Generator[Step, None, None]:
    """The matches in each line of UTF-8 that begin at `least` or behind it, a place in the content."""
    buffer, base, final = b"", 0, False
    while not final:
        more = reader.read()
        buffer, final = buffer + more, not more
        lines = buffer.rfind(b"\n") + 1
        cut = not final and not lines and len(buffer) >= MAX_LINE
        part = buffer if final or cut else buffer[:lines]
        stop = len(part) - OVERLAP if cut else len(part) + 1  # what begins behind it is for the next look
        for start, end in _matches(part, matcher, stop):
            offset = reader.place(base + start)
            if offset >= least:
                least = max(reader.place(base + end), offset + 1)
                yield Step(least, offset, reader.place(base + end) - offset)
        if not part:
            continue
        if cut:
            least = max(least, reader.place(base + stop))
        kept = OVERLAP + BEFORE if cut else 0
        buffer, base = buffer[len(part) - kept :], base + len(part) - kept
        yield Step(max(least, reader.place(base + kept)) if not cut else least)


def _matches(part: bytes, matcher: Matcher, stop: int) -> Iterator[tuple[int, int]]:
    """The matches in the lines of `part` that begin before `stop`."""
    position = 0
    while position < len(part):
        at = matcher.find(part, position)
        if at is None or at >= len(part):
            return
        start = part.rfind(b"\n", 0, at) + 1
        end = part.find(b"\n", at)
        end = len(part) if end < 0 else end
        for first, last in matcher.spans(part[start:end].removesuffix(b"\r")):
            if start + first >= stop:
                return
            yield start + first, start + last
        position = end + 1
