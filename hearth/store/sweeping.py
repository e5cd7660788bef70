"""What lies in the data directory beside the database: how old it is, how large, and away with it.

The trash holds what people had, with any links and modes: it is walked by open directories, and no link is followed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hearth.platforms.base import Kind

if TYPE_CHECKING:
    from hearth.platforms.base import Directory, Host


def names_older(host: Host, folder: str, before: float) -> list[str]:
    """The names in a folder that were last changed before a time in seconds since 1970; none without the folder."""
    with _opened(host, folder) as directory:
        if directory is None:
            return []
        found = sorted(name for name, _ in directory.scan())
        return [name for name in found if _changed(directory, name) < before]


def _changed(directory: Directory, name: str) -> float:
    try:
        return directory.entry(name).modified_ns / 1e9
    except FileNotFoundError:
        return float("inf")


def size(host: Host, folder: str, name: str) -> int:
    """Bytes of the files under a name; what goes meanwhile counts nothing."""
    with _opened(host, folder) as directory:
        return 0 if directory is None else _size(directory, name)


def _size(directory: Directory, name: str) -> int:
    total = 0
    with contextlib.suppress(OSError):
        entry = directory.entry(name)
        if entry.kind is not Kind.DIRECTORY:
            return entry.size
        with contextlib.closing(directory.open_directory(name)) as inside:
            total = sum(_size(inside, each) for each, _ in inside.scan())
    return total


def remove(host: Host, folder: str, name: str) -> None:
    """Remove what stands under a name, and all below; what cannot go stays for the next time."""
    with contextlib.suppress(OSError), _opened(host, folder) as directory:
        if directory is not None:
            _remove(directory, name)


def _remove(directory: Directory, name: str) -> None:
    if directory.entry(name).kind is not Kind.DIRECTORY:
        _remove_file(directory, name)
        return
    with contextlib.suppress(OSError):
        directory.set_mode(name, 0o700)
    with contextlib.closing(directory.open_directory(name)) as inside:
        for each in [each for each, _ in inside.scan()]:
            _remove(inside, each)
    directory.remove_directory(name)


def _remove_file(directory: Directory, name: str) -> None:
    try:
        directory.remove_file(name)
    except PermissionError:
        # Windows removes nothing that has the read-only attribute.
        directory.set_mode(name, 0o600)
        directory.remove_file(name)


@contextlib.contextmanager
def _opened(host: Host, folder: str) -> Iterator[Directory | None]:
    try:
        directory = host.open_root(folder)
    except (FileNotFoundError, NotADirectoryError):
        yield None
        return
    with contextlib.closing(directory):
        yield directory
