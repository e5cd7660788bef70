"""Passing outputs of jobs on to a shell, as exact bytes."""

from __future__ import annotations

from hearth.engine.transcript import Moved, Piece
from hearth.platforms.processes import Stream
from hearth.runtime import Runtime

CHUNK_BYTES = 256 * 1024


def pass_on(runtime: Runtime, piece: Piece, *, as_one: bool) -> int:
    """How many bytes went to the shell's own stdout or stderr, or both to stdout `as_one`: fewer than there are when
    the rest was taken out meanwhile, or the call back."""
    assert runtime.live is not None
    done = 0
    while done < piece.length and not runtime.cancelled.is_set():
        try:
            data = piece.source.read(piece.start + done, min(CHUNK_BYTES, piece.length - done))
        except Moved:
            break
        if not data:
            break
        runtime.live(Stream.STDOUT if as_one else piece.stream, data)
        done += len(data)
    return done
