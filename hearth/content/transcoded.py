"""A text of any encoding, read in order as UTF-8, with the way back to its own bytes."""

from __future__ import annotations

import codecs
import os
from collections import deque

from hearth.errors import Encoding

BLOCK = 1 << 16
REMEMBERED = 8 << 20  # bytes of UTF-8 whose places are still known: more than any look at a line


class Transcoded:
    """`start` is where a character begins, behind the mark. Bytes that are no text of the encoding stay in their place
    and match nothing; in UTF-16 and UTF-32 they are refused where even their width is wrong."""

    def __init__(self, descriptor: int, encoding: str, start: int) -> None:
        self._descriptor = descriptor
        self._encoding = encoding
        self._errors = "surrogatepass" if encoding.startswith(("utf-16", "utf-32")) else "surrogateescape"
        self._decoder = codecs.getincrementaldecoder(encoding)(self._errors)
        self._next = start
        self._count = 0  # bytes of UTF-8 so far
        self._blocks: deque[tuple[int, int, bytes]] = deque()

    def read(self) -> bytes:
        """The next bytes of UTF-8; none at the end. Raises `Encoding`."""
        while True:
            begins = self._next - len(self._decoder.getstate()[0])
            os.lseek(self._descriptor, self._next, os.SEEK_SET)
            raw = os.read(self._descriptor, BLOCK)
            self._next += len(raw)
            data = self._decoded(raw).encode("utf-8", "surrogatepass")
            if data or not raw:
                break
        self._blocks.append((self._count, begins, data))
        self._count += len(data)
        while self._count - self._blocks[0][0] > REMEMBERED and len(self._blocks) > 1:
            self._blocks.popleft()
        return data

    def _decoded(self, raw: bytes) -> str:
        try:
            return self._decoder.decode(raw)
        except UnicodeDecodeError as error:
            raise Encoding(
                f"the content is not {self._encoding}: {error.reason}",
                hint="name the encoding",
                encoding=self._encoding,
            ) from None

    def place(self, at: int) -> int:
        """Where in the content stands the character whose UTF-8 begins at `at`."""
        for count, begins, data in reversed(self._blocks):
            if count <= at:
                text = data[: at - count].decode("utf-8", "surrogatepass")
                return begins + len(text.encode(self._encoding, self._errors))
        raise AssertionError("the place was left behind long ago")
