"""Steps that change a file where it stands: append to it, and cut an append off again."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from hashlib import sha256
from typing import TYPE_CHECKING

from hearth.errors import IsDirectory, TooLarge
from hearth.platforms.base import Kind
from hearth.services.fs import backup
from hearth.services.fs.backup import chunks, sha256_of
from hearth.services.fs.content import changed_meanwhile, write_all
from hearth.services.fs.steps import Standing, Step

if TYPE_CHECKING:
    from hearth.containment import Place
    from hearth.services.fs.mutation import Mutation
    from hearth.store.receipts import Change

PREFIX_BYTES = 1024 * 1024  # how much of the end of the old content proves that it was not changed


class Append(Step):
    """Add to the end of a file, in place; a file that does not exist is made by `Write` instead.

    The record keeps the old size, the hash of the last MiB before it, and the hash of what was added.
    """

    kind = "append"

    def __init__(self, path: str, content: bytes | Iterable[bytes], *, expected_sha256: str | None = None) -> None:
        super().__init__(path)
        self.content = (content,) if isinstance(content, bytes) else content
        self.whole_sha256: str | None = None  # of files that are small with what was added
        self.expected_sha256 = expected_sha256.lower() if expected_sha256 else None
        self._file: int | None = None
        self._staged: list[bytes] = []

    def stage(self, mutation: Mutation) -> None:  # noqa: ARG002
        self._staged = [data for data in self.content if data]

    def prepare(self, mutation: Mutation) -> bool:  # noqa: ARG002
        place = self.at
        if place.found.kind is Kind.DIRECTORY:
            raise IsDirectory(f"{place.path} is a directory", path=place.path)
        self._file = place.open_file(writable=True)
        change = self.change
        if self.expected_sha256 is not None:
            actual = sha256_of(self._file)[0]
            if actual != self.expected_sha256:
                raise changed_meanwhile(place.path, self.expected_sha256, actual)
        change.in_place = True
        change.before_size = os.lseek(self._file, 0, os.SEEK_END)
        change.before_sha256 = hash_of_end(self._file, change.before_size)
        digest = sha256()
        for data in self._staged:
            digest.update(data)
        change.after_size = change.before_size + sum(map(len, self._staged))
        change.after_sha256 = digest.hexdigest()
        if change.after_size <= PREFIX_BYTES:
            self.whole_sha256 = self._hash_whole(change.before_size)
        return bool(self._staged)

    def _hash_whole(self, size: int) -> str:
        assert self._file is not None
        digest = sha256()
        os.lseek(self._file, 0, os.SEEK_SET)
        for data in (*chunks(self._file, size), *self._staged):
            digest.update(data)
        return digest.hexdigest()

    def perform(self, mutation: Mutation) -> None:
        assert self._file is not None
        os.lseek(self._file, 0, os.SEEK_END)
        for data in self._staged:
            write_all(self._file, data)
        mutation.sync_file(self._file)
        self.discard(mutation)

    def standing(self, mutation: Mutation) -> Standing:  # noqa: ARG002
        if self.at.entry is None:
            return Standing.OTHER
        descriptor = self.at.open_file()
        try:
            return appended(descriptor, self.change)
        finally:
            os.close(descriptor)

    def revert(self, mutation: Mutation) -> None:
        assert self.change.before_size is not None
        if self.standing(mutation) in (Standing.AFTER, Standing.MIXED):
            cut(mutation, self.at, self.change.before_size)

    def discard(self, mutation: Mutation) -> None:  # noqa: ARG002
        self._close_file()

    def finish(self, mutation: Mutation) -> None:
        self.discard(mutation)

    def close(self) -> None:
        self._close_file()
        super().close()

    def _close_file(self) -> None:
        file, self._file = self._file, None  # first: to close may fail, and must not be tried again
        if file is not None:
            os.close(file)


def bounded(content: Iterable[bytes], limit: int) -> bytes:
    """What the chunks hold. Raises `TooLarge` above `limit` bytes."""
    held = bytearray()
    for data in content:
        held += data
        if len(held) > limit:
            raise TooLarge(f"no more than {limit} bytes are appended at once", limit_bytes=limit)
    return bytes(held)


def hash_of_end(descriptor: int, size: int) -> str:
    """The hash of the last MiB before offset `size`."""
    digest = sha256()
    start = max(0, size - PREFIX_BYTES)
    os.lseek(descriptor, start, os.SEEK_SET)
    for data in chunks(descriptor, size - start):
        digest.update(data)
    return digest.hexdigest()


def appended(descriptor: int, change: Change) -> Standing:
    """How much of a recorded append stands in an open file."""
    assert change.before_size is not None and change.after_size is not None
    size = os.lseek(descriptor, 0, os.SEEK_END)
    if size < change.before_size or hash_of_end(descriptor, change.before_size) != change.before_sha256:
        return Standing.OTHER
    if size == change.before_size:
        return Standing.BEFORE
    if size < change.after_size:
        return Standing.MIXED
    digest = sha256()
    os.lseek(descriptor, change.before_size, os.SEEK_SET)
    for data in chunks(descriptor):
        digest.update(data)
    if size == change.after_size and digest.hexdigest() == change.after_sha256:
        return Standing.AFTER
    return Standing.OTHER


def cut(mutation: Mutation, place: Place, size: int) -> None:
    descriptor = place.open_file(writable=True)
    try:
        os.ftruncate(descriptor, size)
        mutation.sync_file(descriptor)
    finally:
        os.close(descriptor)


class Cut(Step):
    """Take an append back: cut the file to its old size, keeping what was cut."""

    kind = "cut"

    def __init__(self, path: str, size: int = 0, *, expected: Callable[[int], bool] | None = None) -> None:
        super().__init__(path)
        self.size = size
        self.expected = expected

    def prepare(self, mutation: Mutation) -> bool:
        place, change = self.at, self.change
        change.in_place = True
        descriptor = place.open_file()
        try:
            if self.expected is not None and not self.expected(descriptor):
                raise changed_meanwhile(place.path, None, None)
            change.after_sha256 = hash_of_end(descriptor, self.size)
            change.after_size = self.size
            os.lseek(descriptor, self.size, os.SEEK_SET)
            backup.keep(
                mutation.runtime,
                change,
                descriptor,
                place.found.size - self.size,
                permanent=False,
                dry_run=mutation.dry_run,
            )
        finally:
            os.close(descriptor)
        return bool(change.before_size)

    def perform(self, mutation: Mutation) -> None:
        cut(mutation, self.at, self.size)

    def standing(self, mutation: Mutation) -> Standing:  # noqa: ARG002
        assert self.change.after_size is not None
        entry = self.at.entry
        if entry is None:
            return Standing.OTHER
        return Standing.AFTER if entry.size == self.change.after_size else Standing.BEFORE

    def revert(self, mutation: Mutation) -> None:
        if self.standing(mutation) is Standing.AFTER:
            descriptor = self.at.open_file(writable=True)
            try:
                os.lseek(descriptor, 0, os.SEEK_END)
                for data in backup.content(mutation.runtime, self.change):
                    write_all(descriptor, data)
                mutation.sync_file(descriptor)
            finally:
                os.close(descriptor)
