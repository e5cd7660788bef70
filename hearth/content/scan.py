"""Lines of an open file that match, with what stands around them, in bounded memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple, Protocol

from hearth.content.matching import Matcher
from hearth.content.text import MARKS

HEAD = 1 << 16  # what tells whether a file is text
BLOCK = 1 << 20
MAX_LINE = 4 << 20  # of a longer line, so much is looked at at once
OVERLAP = 1 << 16  # between two looks at one line, so that no match is cut in two
MAX_WIDE = 64 << 20  # UTF-16 and UTF-32 are decoded whole
CONTEXT = 1 << 16  # how far around a line its neighbours are looked for


class Source(Protocol):
    """Bytes that can be read anywhere."""

    def read_at(self, offset: int, length: int) -> bytes: ...


class FileBytes(NamedTuple):
    descriptor: int

    def read_at(self, offset: int, length: int) -> bytes:
        os.lseek(self.descriptor, offset, os.SEEK_SET)
        return os.read(self.descriptor, length)


class TextBytes:
    """A text of two or four bytes a character, as UTF-8."""

    def __init__(self, data: bytes, encoding: str) -> None:
        from hearth.content.text import mark_of

        self.data = data
        self._encoding = encoding
        self._known = (0, len(mark_of(encoding)))

    def read_at(self, offset: int, length: int) -> bytes:
        return self.data[offset : offset + length]

    def place_of(self, offset: int) -> int:
        """Where in the file stands what stands at `offset` of the UTF-8."""
        # Matches come in order, so each is counted from the one before.
        known, place = self._known
        assert known <= offset
        text = self.data[known:offset].decode("utf-8", "surrogatepass")
        place += len(text.encode(self._encoding, "surrogatepass"))
        self._known = (offset, place)
        return place


class LineHit(NamedTuple):
    """A line that matches. `start` is where it begins in the source, or where the look at a very long one began."""

    number: int
    start: int
    line: bytes
    match: tuple[int, int]
    whole: bool  # whether it begins there


class Binary(Exception):
    """The file is no text."""


class Wide(Exception):
    """The file is UTF-16 or UTF-32 and too large to decode."""


def open_source(descriptor: int, *, binary: bool) -> tuple[Source, bytes]:
    """The text of an open file, and its first bytes. Raises `Binary`, `Wide`."""
    source = FileBytes(descriptor)
    head = os.read(descriptor, HEAD)
    encoding = next((name for mark, name in MARKS if head.startswith(mark) and name != "utf-8"), None)
    if encoding is not None:
        text = _decoded(source, encoding)
        return text, text.read_at(0, HEAD)
    if not binary and b"\0" in head:
        raise Binary
    return source, head


def _decoded(source: FileBytes, encoding: str) -> TextBytes:
    from hearth.content.text import mark_of

    position = len(mark_of(encoding))
    pieces = []
    while piece := source.read_at(position, BLOCK):
        pieces.append(piece)
        position += len(piece)
        if position > MAX_WIDE:
            raise Wide
    text = b"".join(pieces).decode(encoding, "replace")
    return TextBytes(text.encode("utf-8", "surrogatepass"), encoding)


def hits(source: Source, head: bytes, matcher: Matcher, *, start: int = 0, number: int = 1) -> Iterator[LineHit | None]:
    """The lines that match, from the line `number` that begins at `start`; None after each block, so that a caller
    can look at the clock. `head` is what stands at the beginning of the source."""
    buffer = source.read_at(start, BLOCK) if start else head
    final = len(buffer) < (BLOCK if start else HEAD)
    base, skipping, whole = start, False, True
    while True:
        if skipping:  # the rest of a very long line that was found already
            gone = buffer.find(b"\n") + 1
            skipping, number = not gone, number + bool(gone)
            whole, gone = bool(gone), gone or len(buffer)
            buffer, base = buffer[gone:], base + gone
        part = buffer[: _usable(buffer, final=final)]
        found = None
        for found in _in_block(part, matcher):
            yield found._replace(number=number + found.number, start=base + found.start, whole=whole or found.start > 0)
        number += part.count(b"\n")
        if final:
            return
        yield None
        kept = 0
        if part:
            whole = part.endswith(b"\n")
            skipping = not whole and found is not None
            kept = 0 if whole or skipping else OVERLAP
        buffer, base = buffer[len(part) - kept :], base + len(part) - kept
        more = source.read_at(base + len(buffer), BLOCK)
        buffer, final = buffer + more, not more


def _usable(buffer: bytes, *, final: bool) -> int:
    """How much can be looked at: whole lines, or a piece of a very long one."""
    lines = buffer.rfind(b"\n") + 1
    return len(buffer) if final or (not lines and len(buffer) >= MAX_LINE) else lines


def _in_block(block: bytes, matcher: Matcher) -> Iterator[LineHit]:
    """The lines of a block that match; numbers and places counted from its beginning."""
    position, number, counted = 0, 0, 0
    while position < len(block):
        at = matcher.find(block, position)
        if at is None or at >= len(block):
            return
        start = block.rfind(b"\n", 0, at) + 1
        end = block.find(b"\n", at)
        end = len(block) if end < 0 else end
        line = block[start:end].removesuffix(b"\r")
        number += block.count(b"\n", counted, start)
        counted = start
        match = matcher.in_line(line)
        if match is not None:
            yield LineHit(number, start, line, match, True)
        position = end + 1


def around(source: Source, hit: LineHit, before: int, after: int) -> tuple[list[bytes], list[bytes]]:
    """The lines before and after a hit, as far as they stand near it."""
    start = max(0, hit.start - CONTEXT)
    above = source.read_at(start, hit.start - start).split(b"\n")[:-1] if before and hit.start else []
    if start and above:
        del above[0]  # cut by the window
    below: list[bytes] = []
    if after:
        end = hit.start + len(hit.line)
        window = source.read_at(end, CONTEXT)
        rest = window.split(b"\n")[1:]
        below = rest[:-1] if not rest or not rest[-1] or len(window) == CONTEXT else rest
    clean = [line.removesuffix(b"\r") for line in above[-before:]] if before else []
    return clean, [line.removesuffix(b"\r") for line in below[:after]]
