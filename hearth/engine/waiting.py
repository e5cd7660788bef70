"""Waiting for something that is in the database, rung by whoever changes it."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from hearth.engine import presence
from hearth.errors import Cancelled

if TYPE_CHECKING:
    import sqlite3

    from hearth.runtime import Runtime

T = TypeVar("T")
SLOW_LOOK_S = 5.0  # for rings that did not come, and workers that died


def wait_until(
    runtime: Runtime, look: Callable[[sqlite3.Connection], T | None], seconds: float | None, *, starts: bool = True
) -> T | None:
    """What `look` finds, as soon as it finds something; None after `seconds`. With `starts` there is a worker for as
    long as it takes, or as soon as the system lets one start. Raises `Cancelled` when the call is taken back."""
    deadline = None if seconds is None else time.monotonic() + seconds
    told = False
    with contextlib.ExitStack() as stack:
        bell = stack.enter_context(contextlib.closing(runtime.host.make_bell(runtime.bells)))
        stack.enter_context(runtime.cancelled.calls(lambda: _ring(runtime)))
        while True:
            bell.clear()
            with runtime.store.read() as view:
                found = look(view)
            if found is not None:
                return found
            if runtime.cancelled.is_set():
                raise Cancelled("the call was cancelled")
            left = SLOW_LOOK_S if deadline is None else min(SLOW_LOOK_S, deadline - time.monotonic())
            if left <= 0:
                return None
            if starts and not _has_worker(runtime, tells=not told):
                told = True
            runtime.host.wait_any([bell.waitable], left)


def _has_worker(runtime: Runtime, *, tells: bool) -> bool:
    """Whether there is a worker, or one was started. Where that fails, such as for want of processes, it is tried
    again: what is waited for may come from elsewhere, and room for a process may, too."""
    try:
        presence.ensure_worker(runtime, ring=False)
    except OSError as error:
        if tells:
            runtime.notice(f"hearth: no worker could be started, which is tried again: {error.strerror}")
        return False
    return True


def _ring(runtime: Runtime) -> None:
    runtime.host.ring(runtime.bells)
