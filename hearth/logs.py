"""The log: lines to standard error when asked for, warnings to a file of bounded size in the data directory.

Own code rather than `logging`, whose import costs more than most commands and whose rotating file breaks when
several processes write it: here every line is one append, and the rotation is taken under a lock.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from hearth.clock import Clock, timestamp

if TYPE_CHECKING:
    from hearth.platforms.base import Host

DIRECTORY = "logs"
FILE_NAME = "hearth.log"
MAX_BYTES = 1024 * 1024
KEPT = 2  # rotated files beside the current one
MAX_LINE = 4_000
_RANK = {"debug": 10, "info": 20, "warning": 30}


class Log:
    """Takes lines by level. Secrets are taken out; control characters are escaped; nothing here ever fails a call."""

    def __init__(
        self,
        host: Host | None = None,
        data_dir: str | None = None,
        *,
        level: str | None = None,
        show: Callable[[str], None] | None = None,
        clock: Clock | None = None,
    ) -> None:
        """`level` is from which on lines go to `show` and to the file; without it the file gets warnings only."""
        self._host = host
        self._data_dir = data_dir
        self._show = show if level else None
        self._rank = _RANK[level or "warning"]
        self._clock = clock or Clock()

    def debug(self, text: str) -> None:
        if self._rank <= 10:
            self._write("debug", text)

    def info(self, text: str) -> None:
        if self._rank <= 20:
            self._write("info", text)

    def warning(self, text: str) -> None:
        self._write("warning", text)

    def _write(self, level: str, text: str) -> None:
        from hearth.secrets import redact

        shown = _one_line(redact(text[: 4 * MAX_LINE]))[:MAX_LINE]
        if self._show is not None:
            self._show(f"hearth: {level}: {shown}")
        if self._host is not None and self._data_dir is not None:
            line = f"{timestamp(self._clock.now_ms())} {os.getpid()} {level} {shown}\n"
            # A full disk or a read-only directory must not fail what is being logged.
            with contextlib.suppress(OSError):
                self._append(self._host, self._data_dir, line.encode("utf-8", "replace"))

    def _append(self, host: Host, data_dir: str, line: bytes) -> None:
        data_dir = host.unbounded(data_dir)
        if not os.path.isdir(data_dir):
            return  # nothing was stored yet; a log is no reason to start
        directory = os.path.join(data_dir, DIRECTORY)
        host.make_private_directory(directory)
        path = os.path.join(directory, FILE_NAME)
        # Opened for each line: on Windows a file that any process keeps open cannot be renamed.
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
        try:
            os.write(descriptor, line)
            size = os.fstat(descriptor).st_size
        finally:
            os.close(descriptor)
        if size > MAX_BYTES:
            _rotate(host, path)


def _rotate(host: Host, path: str) -> None:
    from hearth.errors import Locked

    with contextlib.suppress(Locked), host.lock(f"{path}.lock", 0):
        # Another process may have rotated just before.
        if os.path.getsize(path) > MAX_BYTES:
            for number in range(KEPT, 0, -1):
                older = f"{path}.{number - 1}" if number > 1 else path
                if os.path.exists(older):
                    os.replace(older, f"{path}.{number}")


def _one_line(text: str) -> str:
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
