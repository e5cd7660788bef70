"""Processes on Linux and macOS that outlive the one that starts them."""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Mapping, Sequence

from hearth.platforms.background import set_long_log_aside

_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC


def start_background(words: Sequence[str], environment: Mapping[str, str], log: str) -> int:
    """As `Host.start_background`."""
    set_long_log_aside(log)
    output = os.open(log, _APPEND, 0o600)
    try:
        child = subprocess.Popen(
            list(words),
            cwd="/",
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    finally:
        os.close(output)
    # Its end is taken note of where this process lives longer, or a zombie would stay. A shell that puts it into the
    # background and goes away would do that too, but its SIGINT would be ignored, and that of all that it starts.
    threading.Thread(target=child.wait, name=f"reap {child.pid}", daemon=True).start()
    return child.pid
