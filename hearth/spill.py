"""Keeps what a program prints: a little in memory, more in a body on the disk, memory flat for any amount.

All of it counts, also what is above the bound of what is kept; that is read and dropped, so that the program goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple, Self

from hearth.errors import NoSpace
from hearth.platforms.processes import Stream

if TYPE_CHECKING:
    from hearth.store.blobs import Blobs, Body, BodyWriter


RESERVE_BYTES = 256 * 1024 * 1024  # of a disk are left free, or one part of
RESERVE_PARTS = 100
LOOK_EVERY_BYTES = 32 * 1024 * 1024


class Bounds(NamedTuple):
    """Most bytes: in memory for one call, of each end of what went to the disk, and kept at all."""

    inline: int
    preview: int
    kept: int


class Kept(NamedTuple):
    """One output. `data` is all of it where it is small; else `body` holds it, whose ends are at hand."""

    size: int  # all that was printed
    data: bytes | None
    body: Body | None
    truncated: bool  # the body lacks what came after the bound

    @property
    def head(self) -> bytes:
        return self.data if self.body is None and self.data is not None else self._body.head

    @property
    def tail(self) -> bytes:
        """The end, where it is not part of the head."""
        behind_head = self._body.size - len(self._body.head) if self.body is not None else 0
        return self._body.tail[-behind_head:] if behind_head else b""

    @property
    def _body(self) -> Body:
        assert self.body is not None
        return self.body


class _Spool:
    """One output on its way."""

    def __init__(self) -> None:
        self.size = 0
        self.held = bytearray()
        self.writer: BodyWriter | None = None
        self.kept = 0

    def take(self, data: bytes | memoryview) -> None:
        self.kept += len(data)
        if self.writer is not None:
            self.writer.write(data)
        else:
            self.held += data


class Capture:
    """The outputs of one program. A block: what is on the disk stays only if it ends without an error."""

    def __init__(self, blobs: Callable[[], Blobs], bounds: Bounds, *, merged: bool = False) -> None:
        """`blobs` is asked when something does not fit in memory. `merged` also keeps both outputs together, in the
        order in which they came."""
        self._blobs = blobs
        self._bounds = bounds
        self._stack = ExitStack()
        self._unlooked = 0
        self._spools = {stream: _Spool() for stream in Stream}
        self._merged = _Spool() if merged else None

    def deliver(self, stream: Stream, data: bytes) -> None:
        """Take a piece of output. Raises `OSError` when the disk does not take it."""
        self._take(self._spools[stream], data)
        if self._merged is not None:
            self._take(self._merged, data)

    def _take(self, spool: _Spool, data: bytes) -> None:
        spool.size += len(data)
        room = self._bounds.kept - sum(each.kept for each in self._spools_beside(spool))
        if room > 0:
            spool.take(data if len(data) <= room else memoryview(data)[:room])
            if spool.writer is not None:
                self._leave_room(len(data))
            if self._in_memory() > self._bounds.inline:
                self._spill(max(self._all(), key=lambda each: len(each.held)))

    def _spools_beside(self, spool: _Spool) -> tuple[_Spool, ...]:
        """Those that share a bound: stdout and stderr, and their mixture for itself."""
        return (spool,) if spool is self._merged else tuple(self._spools.values())

    def _in_memory(self) -> int:
        return sum(len(spool.held) for spool in self._all())

    def _all(self) -> list[_Spool]:
        return [*self._spools.values(), *([self._merged] if self._merged else [])]

    def _spill(self, spool: _Spool) -> None:
        spool.writer = self._stack.enter_context(self._blobs().writer(sync=False, keep_bytes=self._bounds.preview))
        self._leave_room(LOOK_EVERY_BYTES)
        spool.writer.write(bytes(spool.held))
        spool.held = bytearray()

    def _leave_room(self, written: int) -> None:
        """Raise `NoSpace` before the disk is full, which would stop more than this call."""
        self._unlooked += written
        if self._unlooked >= LOOK_EVERY_BYTES:
            self._unlooked = 0
            free, total = self._blobs().disk()
            if free < min(RESERVE_BYTES, total // RESERVE_PARTS):
                raise NoSpace(f"only {free:,} bytes are left on the disk, too few to keep more output")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    def kept(self, stream: Stream) -> Kept:
        """What was kept of an output, once the block has ended."""
        return self._result(self._spools[stream])

    def kept_merged(self) -> Kept | None:
        """What was kept of both together, if that was asked for."""
        return self._result(self._merged) if self._merged is not None else None

    def _result(self, spool: _Spool) -> Kept:
        body = spool.writer.body if spool.writer is not None else None
        data = bytes(spool.held) if body is None else None
        return Kept(spool.size, data, body, spool.kept < spool.size)
