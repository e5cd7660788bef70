"""What processes that outlive the one that starts them have in common on every system."""

from __future__ import annotations

import contextlib
import os

LOG_BYTES = 1024 * 1024


def set_long_log_aside(log: str) -> None:
    """Begin a new log once one is longer than `LOG_BYTES`; the old one stays, as `<log>.1`, until the next time."""
    with contextlib.suppress(OSError):
        if os.stat(log).st_size > LOG_BYTES:
            os.replace(log, f"{log}.1")
