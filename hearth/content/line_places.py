"""Where the lines of an open text begin, found in blocks from either end."""

from __future__ import annotations

import os
import sys
from array import array
from threading import Event

from hearth.content.text import LineEnds, TextForm
from hearth.errors import Cancelled

BLOCK = 1 << 20
BACKWARD_BLOCK = 1 << 16
_CODES = {2: "H", 4: "I"}  # array's unsigned types of two and four bytes


def read_exactly(descriptor: int, offset: int, length: int) -> bytes:
    """The bytes from `offset` on, fewer at the end of the file only."""
    os.lseek(descriptor, offset, os.SEEK_SET)
    pieces = []
    while length > 0 and (piece := os.read(descriptor, min(length, BLOCK))):
        pieces.append(piece)
        length -= len(piece)
    return b"".join(pieces)


class LinePlaces:
    """Offsets in an open file of a form. A line ends with LF, in a text of the old Macintosh with CR."""

    def __init__(self, descriptor: int, size: int, form: TextForm, cancelled: Event) -> None:
        self._descriptor = descriptor
        self._size = size
        self._cancelled = cancelled
        self._end = ("\r" if form.line_ends is LineEnds.CR else "\n").encode(
            "ascii" if form.is_binary else form.encoding
        )
        self._width = len(self._end)
        self.begin = len(form.mark)

    def after(self, start: int, count: int, stop: int) -> int:
        """The offset behind the next `count` lines from `start` on, at most `stop`."""
        position = start
        while count > 0 and position < stop:
            block = self._block(position, min(BLOCK, stop - position))
            if not block:
                return position
            found = self._count(block)
            if found >= count:
                return position + self._behind(block, count)
            count -= found
            position += len(block)
        return min(position, stop)

    def tail(self, count: int, lowest: int) -> int:
        """The offset where the last `count` lines begin, at least `lowest`."""
        # The end of the last line is no line of its own.
        closed = self._block(max(self.begin, self._size - self._width), self._width) == self._end
        wanted = count + closed
        position = self._size - (self._size - self.begin) % self._width
        while position > lowest:
            start = max(lowest, position - BACKWARD_BLOCK)
            start += (start - self.begin) % self._width
            block = self._block(start, position - start)
            found = self._count(block)
            if found >= wanted:
                return start + self._behind(block, found - wanted + 1)
            wanted -= found
            if start >= position:
                break
            position = start
        return lowest

    def number_at(self, offset: int) -> int:
        """The number, from 1, of the line that `offset` stands in."""
        number, position = 1, self.begin
        while position < offset and (block := self._block(position, min(BLOCK, offset - position))):
            number += self._count(block)
            position += len(block)
        return number

    def _block(self, offset: int, length: int) -> bytes:
        if self._cancelled.is_set():
            raise Cancelled("the call was cancelled")
        return read_exactly(self._descriptor, offset, length)

    def _units(self, block: bytes) -> tuple[array[int], int]:
        whole = len(block) - len(block) % self._width
        return array(_CODES[self._width], block[:whole]), int.from_bytes(self._end, sys.byteorder)

    def _count(self, block: bytes) -> int:
        if self._width == 1:
            return block.count(self._end)
        units, end = self._units(block)
        return units.count(end)

    def _behind(self, block: bytes, number: int) -> int:
        """The index in `block` behind the line end `number`, from 1."""
        if self._width == 1:
            return len(block) - len(block.split(self._end, number)[number])
        units, end = self._units(block)
        at = -1
        for _ in range(number):
            at = units.index(end, at + 1)
        return (at + 1) * self._width
