"""Content-addressed bodies: `<data_dir>/blobs/ab/cdef...`, named by the sha256 of what they hold.

A body is written before the row that names it, and equal ones are shared. `hearth gc` removes one that no row names
and that nobody stored for a while; storing it again renews it, and wins against a removal at any instant.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import BinaryIO, NamedTuple

from hearth.errors import BackupMissing, from_data_dir, from_os, is_about
from hearth.platforms.base import Host

CHUNK_BYTES = 1024 * 1024
NEW = "new"  # the folder of what is being written
_GONE = ".gone"
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOINHERIT", 0)

_READ_FLAGS = os.O_RDONLY | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOINHERIT", 0)


class Body(NamedTuple):
    """What was stored: its name, its size in bytes, and its first and last bytes where they were asked for."""

    sha256: str
    size: int
    head: bytes
    tail: bytes


class Kept(NamedTuple):
    """A body on the disk. `touched` is when it was last stored, in seconds since 1970."""

    sha256: str
    size: int
    touched: float


class BodyWriter:
    """Takes a body piece by piece; `body` is there once the writing is over."""

    def __init__(self, file: BinaryIO, keep_bytes: int) -> None:
        self._file = file
        self._keep = keep_bytes
        self._digest = sha256()
        self._head = self._tail = b""
        self._size = 0
        self.body: Body | None = None

    def write(self, data: bytes | memoryview) -> None:
        self._digest.update(data)
        self._size += len(data)
        self._file.write(data)
        if self._keep:
            self._head += bytes(data[: self._keep - len(self._head)])
            self._tail = (self._tail + bytes(data[-self._keep :]))[-self._keep :]

    def finish(self) -> Body:
        self._file.flush()
        self.body = Body(self._digest.hexdigest(), self._size, self._head, self._tail)
        return self.body


class Blobs:
    """The bodies of a data directory."""

    def __init__(self, host: Host, data_dir: str) -> None:
        self._host = host
        # The names are 70 characters longer than the data directory's, which Windows' plain paths may have no room for.
        self._folder = host.unbounded(os.path.join(data_dir, "blobs"))

    @contextlib.contextmanager
    def writer(self, *, sync: bool, keep_bytes: int = 0) -> Iterator[BodyWriter]:
        """A new body, stored when the block ends without an error; else nothing stays. `keep_bytes` of its
        beginning and end are told. Raises `NoSpace` and what else an `OSError` means."""
        with self._translated():
            temporary = self._new_name()
            try:
                with open(os.open(temporary, _FLAGS, 0o600), "wb") as file:
                    writer = BodyWriter(file, keep_bytes)
                    yield writer
                    body = writer.finish()
                    if sync:
                        self._host.sync_file(file.fileno())
                self._place(temporary, body, sync=sync)
            finally:
                with contextlib.suppress(FileNotFoundError):
                    os.remove(temporary)

    def store(self, chunks: Iterable[bytes], *, sync: bool) -> Body:
        """Store what the chunks hold."""
        with self.writer(sync=sync) as writer:
            for chunk in chunks:
                writer.write(chunk)
        assert writer.body is not None
        return writer.body

    def _new_name(self) -> str:
        folder = os.path.join(self._folder, NEW)
        if not os.path.isdir(folder):
            self._host.make_private_directory(folder)
        return os.path.join(folder, os.urandom(16).hex())

    def _place(self, temporary: str, body: Body, *, sync: bool) -> None:
        target = self._path(body.sha256)
        if _renewed(target, body.size):
            return
        shard = os.path.dirname(target)
        is_new_shard = not os.path.isdir(shard)
        if is_new_shard:
            self._host.make_private_directory(shard)
        _renew(temporary)
        try:
            os.replace(temporary, target)
        except PermissionError:
            # Windows: somebody already reads the equal body that another process placed just before.
            if not _renewed(target, body.size):
                raise
        if sync:
            self._sync(shard)
            if is_new_shard:
                self._sync(self._folder)

    def _sync(self, folder: str) -> None:
        with contextlib.closing(self._host.open_root(folder)) as directory:
            directory.sync()

    def open(self, name: str) -> int:
        """A descriptor of a body, to be read anywhere in it. Raises `BackupMissing`."""
        with _missing(name):
            return os.open(self._path(name), _READ_FLAGS)

    def disk(self) -> tuple[int, int]:
        """Bytes that are free for this user on the bodies' disk, and all of its bytes."""
        from shutil import disk_usage

        with self._translated():
            found = disk_usage(self._folder)
            return found.free, found.total

    def size(self, name: str) -> int:
        """The size of a body. Raises `BackupMissing`."""
        with _missing(name):
            return os.stat(self._path(name)).st_size

    def chunks(self, name: str, start: int = 0, length: int | None = None) -> Iterator[bytes]:
        """A body, or `length` bytes of it from `start` on, in pieces of at most 1 MiB. Raises `BackupMissing`."""
        with _missing(name), open(self._path(name), "rb", buffering=0) as file:
            file.seek(start)
            left = length
            while left is None or left > 0:
                data = file.read(CHUNK_BYTES if left is None else min(CHUNK_BYTES, left))
                if not data:
                    return
                left = None if left is None else left - len(data)
                yield data

    def verified(self, name: str) -> Iterator[bytes]:
        """A whole body in pieces. Raises `BackupMissing`, after the last piece, when it is not what its name says:
        what was made of the pieces may be used only once they have all come."""
        digest = sha256()
        for data in self.chunks(name):
            digest.update(data)
            yield data
        if digest.hexdigest() != name:
            raise BackupMissing(f"the stored content {name[:12]} is damaged", sha256=name)

    def verify(self, name: str) -> int:
        """Read a whole body; its size. Raises `BackupMissing`."""
        return sum(map(len, self.verified(name)))

    def kept(self) -> Iterator[Kept]:
        """Every body on the disk, in no order. What a killed removal left half gone comes back first."""
        for shard in self._shards():
            for entry in _entries(shard):
                if entry.name.endswith(_GONE):
                    with contextlib.suppress(OSError):
                        os.rename(entry.path, entry.path.removesuffix(_GONE))
            for entry in _entries(shard):
                with contextlib.suppress(FileNotFoundError):
                    found = os.stat(entry.path)
                    yield Kept(os.path.basename(shard) + entry.name, found.st_size, found.st_mtime)

    def remove(self, name: str, *, untouched_since: float) -> bool:
        """Remove a body unless somebody stored it again since then; whether it is gone."""
        path = self._path(name)
        gone = path + _GONE
        try:
            os.rename(path, gone)
            # Only now is it sure that no writer renews it: one that comes later finds nothing and places its own.
            if os.stat(gone).st_mtime < untouched_since:
                os.remove(gone)
                return True
            os.replace(gone, path)
        except (FileNotFoundError, PermissionError):  # PermissionError: Windows, while it is read
            pass
        return False

    def _shards(self) -> list[str]:
        return sorted(entry.path for entry in _entries(self._folder) if len(entry.name) == 2)

    def _path(self, name: str) -> str:
        if len(name) != 64 or not set(name) <= set("0123456789abcdef"):
            raise BackupMissing(f"{name!r} is not the name of stored content")
        return os.path.join(self._folder, name[:2], name[2:])

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            if error.filename is not None and not is_about(error, self._folder):
                raise from_os(error, os.fsdecode(error.filename)) from error  # what was to be stored cannot be read
            raise from_data_dir(error, os.path.dirname(self._folder)) from error


def _renew(path: str) -> None:
    """Make a body as young as this moment, by the clock that rows are dated by: the system's own stamp may lag behind
    it by a tick, and on a network by any time."""
    now = time.time_ns()
    os.utime(path, ns=(now, now))


def _renewed(path: str, size: int) -> bool:
    """Whether an equal body is there, which is then as young as a new one."""
    try:
        _renew(path)
        return os.stat(path).st_size == size
    except FileNotFoundError:
        return False


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return list(found)
    except (FileNotFoundError, NotADirectoryError):
        return []


@contextlib.contextmanager
def _missing(name: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise BackupMissing(f"the stored content {name[:12]} is gone: {error.strerror}", sha256=name) from error
