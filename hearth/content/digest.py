"""SHA-256 of open files, in bounded memory."""

from __future__ import annotations

import os
from threading import Event

from hearth.errors import Cancelled

CHUNK = 1 << 20


def sha256_of(descriptor: int, cancelled: Event | None = None) -> tuple[str, int]:
    """The lower-case hex digest of a whole file from its beginning, and how many bytes that were. The descriptor's
    position moves to the end. Raises `Cancelled`."""
    import hashlib

    made, size = hashlib.sha256(), 0
    buffer = bytearray(CHUNK)
    os.lseek(descriptor, 0, os.SEEK_SET)
    with open(descriptor, "rb", buffering=0, closefd=False) as file:
        while count := file.readinto(buffer):
            made.update(memoryview(buffer)[:count])
            size += count
            if cancelled is not None and cancelled.is_set():
                raise Cancelled("the call was cancelled")
    return made.hexdigest(), size
