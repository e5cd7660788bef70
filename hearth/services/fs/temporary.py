"""Files that stand beside the target until they are renamed over it, and what finds them after a crash.

Each process notes where it makes one in a journal of its own in the data directory. A journal whose process is
dead names what is left to remove.
"""

from __future__ import annotations

import contextlib
import json
import os
from threading import Lock
from typing import TYPE_CHECKING

from hearth.errors import from_data_dir
from hearth.identifiers import ulid

if TYPE_CHECKING:
    from hearth.platforms.base import Directory, Host

SUFFIX = ".hearth-tmp"
PARKED_SUFFIX = ".hearth-gone"  # of what was there before: it may have to come back, so it is cleared away last
FOLDER = "temporary"
KEEP_BYTES = 64 * 1024
_JOURNAL_FLAGS = (
    os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_TRUNC | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
)


class Journal:
    """Where this process makes temporary names. Made with the first one, emptied whenever none is left."""

    def __init__(self, host: Host, data_dir: str, owner: str) -> None:
        self._data_dir = data_dir
        self._folder = os.path.join(data_dir, FOLDER)
        self._path = os.path.join(self._folder, owner)
        self._host = host
        self._descriptor: int | None = None
        self._open = 0
        self._size = 0
        self._lock = Lock()

    def note(self, directory: str, name: str) -> None:
        # Escapes keep names whose bytes are not UTF-8.
        line = json.dumps([directory, name]).encode("ascii") + b"\n"
        with self._lock:
            try:
                self._write(line)
            except OSError as error:
                raise from_data_dir(error, self._data_dir) from error
            self._open += 1

    def _write(self, line: bytes) -> None:
        if self._descriptor is None:
            self._host.make_private_directory(self._folder)
            self._descriptor = os.open(self._path, _JOURNAL_FLAGS, 0o600)
        try:
            written = os.write(self._descriptor, line)
            while written < len(line):  # a disk that is nearly full takes a part first
                written += os.write(self._descriptor, line[written:])
        except OSError:
            os.ftruncate(self._descriptor, self._size)
            raise
        self._size += written

    def settle(self) -> None:
        """One noted name is gone."""
        with self._lock:
            self._open -= 1
            if self._open == 0 and self._size > KEEP_BYTES and self._descriptor is not None:
                os.ftruncate(self._descriptor, 0)
                self._size = 0

    def close(self) -> None:
        with self._lock:
            if self._descriptor is not None:
                os.close(self._descriptor)
                self._descriptor = None
                if self._open == 0:
                    with contextlib.suppress(OSError):
                        os.unlink(self._path)


class Temporary:
    """A new file under a name of its own in an open directory."""

    def __init__(self, journal: Journal, directory: Directory, name: str, *, mode: int, milliseconds: int) -> None:
        self._journal = journal
        self.directory = directory
        self.name = temporary_name(name, milliseconds)
        journal.note(directory.path, self.name)
        self.exists = True
        self.descriptor: int | None = None
        try:
            self.descriptor = directory.create_file(self.name, mode)
        except BaseException:
            self.settle()
            raise

    @property
    def open(self) -> int:
        assert self.descriptor is not None
        return self.descriptor

    def settle(self) -> None:
        """It was renamed into place."""
        if self.exists:
            self.exists = False
            self._journal.settle()

    def close(self) -> None:
        descriptor, self.descriptor = self.descriptor, None  # first: to close may fail, and must not be tried again
        if descriptor is not None:
            os.close(descriptor)

    def remove(self) -> None:
        self.close()
        if self.exists:
            with contextlib.suppress(FileNotFoundError):
                self.directory.remove_file(self.name)
            self.settle()


def temporary_name(name: str, milliseconds: int, suffix: str = SUFFIX) -> str:
    """A hidden name that tells what it is for; long names are cut to stay within the file system's limit."""
    return f".{name[:40]}.{ulid(milliseconds)}{suffix}"


def noted(folder: str, journal: str) -> list[tuple[str, str]]:
    """Directories and names in a journal. Lines that are none are left out: the last may be cut off, and where the
    power went away a file system may have lengthened the file and not yet filled it."""
    with open(os.path.join(folder, journal), "rb") as file:
        lines = file.read().split(b"\n")[:-1]
    return [noted for line in lines if (noted := _noted(line)) is not None]


def _noted(line: bytes) -> tuple[str, str] | None:
    try:
        directory, name = json.loads(line)
    except (ValueError, TypeError):
        return None
    return (directory, name) if isinstance(directory, str) and isinstance(name, str) else None
