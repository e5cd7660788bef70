"""Bells: how one process tells others, at once, that there is something to look at."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from typing import Protocol

# Nothing else in the folder is touched. The rest of a name is random: a bell is never taken for an earlier one.
PREFIX = "bell-"
_RANDOM_BYTES = 16


class Bell(Protocol):
    """What a process waits on until anybody rings in its folder. It is gone with its process, however that ends.

    One ring and a thousand are the same: who hears it clears the bell first and looks then, so that what changes
    while it looks rings again."""

    name: str | None  # in its folder; None of one that nobody can ring
    waitable: int  # for `Host.wait_any`; POSIX: a descriptor, Windows: a handle; -1 once closed

    def clear(self) -> None:
        """Forget what has rung so far."""

    def close(self) -> None:
        """Take it out of its folder; a second time does nothing."""


def refuse_closed(waitables: Sequence[int]) -> None:
    # -1 is no descriptor, but on Windows a handle of this very process.
    if min(waitables, default=0) < 0:
        raise OSError(errno.EBADF, "one of the things to wait for is closed")


def new_name() -> str:
    return f"{PREFIX}{os.urandom(_RANDOM_BYTES).hex()}"


def is_name(name: str) -> bool:
    """Whether an entry of the folder is called as bells are."""
    digits = name.removeprefix(PREFIX)
    return len(name) - len(digits) == len(PREFIX) and len(digits) == 2 * _RANDOM_BYTES and digits.isalnum()
