"""Settles what killed processes left, before a call tells what became of changes."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from hearth.errors import HearthError
from hearth.store import receipts

if TYPE_CHECKING:
    from hearth.runtime import Runtime


def settle_if_any(runtime: Runtime) -> None:
    """Settle receipts that are open while their process is gone. What cannot be settled stays open, and where none
    is open, what changes files is not even loaded."""
    with runtime.store.read() as tx:
        is_any = bool(receipts.open_ones(tx))
    if is_any:
        from hearth.services.fs import recovery

        with contextlib.suppress(HearthError, OSError):
            recovery.settle_now_and_then(runtime)
