"""Writing hearth's own settings files, whole or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from hearth.configuration.load import user_directory
from hearth.errors import from_os
from hearth.platforms.base import Host

LOCK_TIMEOUT_MS = 10_000


@contextlib.contextmanager
def locked(host: Host) -> Iterator[None]:
    """One change of settings at a time, over all processes of this user. Raises `Locked`."""
    directory = user_directory(host)
    try:
        host.make_private_directory(directory)
    except OSError as error:
        raise from_os(error, directory) from error
    with host.lock(os.path.join(directory, "lock"), LOCK_TIMEOUT_MS):
        yield


def replace_file(host: Host, path: str, content: bytes, *, private: bool = False) -> None:
    """Put a file in place of the old one in one step; a link's target is written, the mode stays."""
    target = os.path.realpath(path)
    try:
        _replace(host, target, content, 0o600 if private else 0o666)
    except OSError as error:
        raise from_os(error, path) from error


def _replace(host: Host, target: str, content: bytes, mode: int) -> None:
    temporary = f"{target}.{os.getpid()}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)
    descriptor = os.open(temporary, flags, mode)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            host.sync_file(file.fileno())
        with contextlib.suppress(FileNotFoundError):
            os.chmod(temporary, os.stat(target).st_mode & 0o777)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
