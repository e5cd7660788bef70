"""Steps that change the content of one file: write it whole, append to it, cut it back."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING

from hearth.containment import translated
from hearth.errors import AlreadyExists, CannotKeepOwner, Conflict, IsDirectory, from_os
from hearth.platforms.base import Kind
from hearth.services.fs import backup
from hearth.services.fs.backup import chunks, sha256_of
from hearth.services.fs.steps import Standing, Step
from hearth.settings import HardLinks

if TYPE_CHECKING:
    from hearth.containment import Place
    from hearth.services.fs.mutation import Mutation
    from hearth.services.fs.temporary import Temporary

ABSENT = "absent"
Edit = Callable[[bytes], bytes]


class Write(Step):
    """Give a file new content, whole, or make it.

    `content` is bytes, or chunks that are staged before the lock is taken; `edit` makes the content from what stands
    there, under the lock, so that two edits of one file never lose one. `expected_sha256` is 64 hex of any case, or
    "absent"; `keep_like` gives a new file the metadata of an open one, `mode` its permission bits; `permanent` does
    without backup and undo where the old content is too large for one.
    """

    kind = "write"

    def __init__(
        self,
        path: str,
        content: bytes | Iterable[bytes] | None = None,
        *,
        edit: Edit | None = None,
        expected_sha256: str | None = None,
        create_only: bool = False,
        create_parents: bool = False,
        permanent: bool = False,
        keep_like: int | None = None,
        mode: int | None = None,
    ) -> None:
        super().__init__(path)
        self.content = content
        self.edit = edit
        self.expected_sha256 = expected_sha256.lower() if expected_sha256 else None
        self.create_only = create_only
        self.create_parents = create_parents
        self.permanent = permanent
        self.keep_like = keep_like
        self.mode = mode
        self.created = False
        self._temporary: Temporary | None = None
        self._home: Place | None = None  # keeps the staged file's directory open when the place is walked anew
        self._old: int | None = None

    # Staging: what is slow to come (a pipe, a large copy) is taken in before anyone has to wait for a lock.

    def stage(self, mutation: Mutation) -> None:
        if self.content is None or isinstance(self.content, bytes):
            return
        if self.at.entry is not None and (self.create_only or self.expected_sha256 == ABSENT):
            raise AlreadyExists(f"{self.at.path} exists already", path=self.at.path)
        if mutation.dry_run:
            self._measure(self.content)
            return
        mode = 0o666 if self.at.entry is None else 0o600
        self._temporary = mutation.temporary(self.at.directory.duplicate(), self.at.name, mode)
        self._measure(self.content, self._temporary.open)

    def _measure(self, content: Iterable[bytes], descriptor: int | None = None) -> None:
        digest, size = sha256(), 0
        for data in content:
            digest.update(data)
            size += len(data)
            if descriptor is not None:
                write_all(descriptor, data)
        self.change.after_sha256, self.change.after_size = digest.hexdigest(), size

    def prepare(self, mutation: Mutation) -> bool:
        place = self.at
        if place.entry is None:
            self._check(None)
            self.created = True
            if not mutation.dry_run:
                self.require_parent()
            self._make(mutation, b"")
            return True
        if self.create_only:
            raise AlreadyExists(f"{place.path} exists already", path=place.path)
        if place.entry.kind is Kind.DIRECTORY:
            raise IsDirectory(f"{place.path} is a directory", path=place.path)
        old = self._read_old(mutation)
        self._check(self.change.before_sha256)
        self._make(mutation, old)
        return self.change.after_sha256 != self.change.before_sha256

    def _check(self, actual: str | None) -> None:
        wanted = self.expected_sha256
        if wanted is None or wanted == (actual or ABSENT):
            return
        raise changed_meanwhile(self.at.path, wanted, actual)

    def _read_old(self, mutation: Mutation) -> bytes:
        """Note and back up what stands there; the bytes themselves when an edit needs them."""
        place, change = self.at, self.change
        entry = place.found
        change.before_mode = entry.mode
        change.in_place = entry.links > 1 and mutation.settings.hard_links is HardLinks.IN_PLACE
        self._old = place.open_file(writable=change.in_place)
        backup.keep(mutation.runtime, change, self._old, entry.size, permanent=self.permanent, dry_run=mutation.dry_run)
        if entry.links > 1 and not change.in_place:
            mutation.warnings.append(
                f"{place.path} had {entry.links} names; the other {entry.links - 1} keep the old content"
            )
        if self.edit is None:
            return b""
        if change.backup is not None:
            return change.backup
        os.lseek(self._old, 0, os.SEEK_SET)
        return b"".join(chunks(self._old))

    def _make(self, mutation: Mutation, old: bytes) -> None:
        """Stage the new content beside the target, with the metadata that it has to have."""
        content = self.edit(old) if self.edit is not None else self.content
        if isinstance(content, bytes):
            self.change.after_sha256, self.change.after_size = sha256(content).hexdigest(), len(content)
            if self.change.after_sha256 == self.change.before_sha256 or mutation.dry_run:
                return
            place = self.at
            mode = 0o666 if place.entry is None else 0o600
            self._temporary = mutation.temporary(place.directory.duplicate(), place.name, mode)
            write_all(self._temporary.open, content)
        if self._temporary is not None:
            self._keep_metadata(mutation, self._temporary.open)
            mutation.unsynced.append(self._temporary.open)

    def _keep_metadata(self, mutation: Mutation, new: int) -> None:
        source = self._old if self._old is not None else self.keep_like
        if source is None or self.change.in_place:
            if self.mode is not None and self._temporary is not None:
                self._temporary.directory.set_mode(self._temporary.name, self.mode)
            return
        try:
            mutation.host.copy_metadata(source, new)
        except CannotKeepOwner as error:
            if self._old is None:
                return  # a copy belongs to whoever made it
            if mutation.settings.hard_links is not HardLinks.IN_PLACE:
                raise CannotKeepOwner(f"{self.at.path}: {error.message}", path=self.at.path) from error
            self._close_old()
            self._old = self.at.open_file(writable=True)
            self.change.in_place = True

    def perform(self, mutation: Mutation) -> None:
        assert self._temporary is not None
        if self.change.in_place:
            assert self._old is not None
            self._refuse_changed()
            os.lseek(self._temporary.open, 0, os.SEEK_SET)
            overwrite(mutation, self._old, chunks(self._temporary.open))
            self._drop_temporary()
            self._close_old()
            return
        self._temporary.close()
        if self._old is not None:
            self._refuse_changed()
        self._close_old()
        place = self.at
        try:
            mutation.rename(
                self._temporary.directory, self._temporary.name, place.directory, place.name, replace=not self.created
            )
        except FileExistsError as error:
            raise Conflict(
                f"{place.path} was made by somebody else meanwhile", path=place.path, expected_sha256=ABSENT
            ) from error
        except OSError as error:
            raise from_os(error, place.path) from error
        self._temporary.settle()
        self._drop_temporary()
        mutation.sync(place.directory)

    def _refuse_changed(self) -> None:
        """Somebody without our locks may have written since the file was read."""
        seen = self.at.found
        now = self.at.refresh()
        if now is None or (now.identity, now.size, now.modified_ns) != (seen.identity, seen.size, seen.modified_ns):
            raise changed_meanwhile(self.at.path, self.change.before_sha256, None)

    def standing(self, mutation: Mutation) -> Standing:  # noqa: ARG002
        actual = content_of(self.at)
        if actual == self.change.after_sha256:
            return Standing.AFTER
        if actual == self.change.before_sha256:
            return Standing.BEFORE
        return Standing.MIXED if self.change.in_place and actual is not None else Standing.OTHER

    def revert(self, mutation: Mutation) -> None:
        standing = self.standing(mutation)
        if standing not in (Standing.AFTER, Standing.MIXED):
            return
        place = self.at
        if self.change.before_sha256 is None:
            place.directory.remove_file(place.name)
        elif self.change.in_place:
            self._restore_in_place(mutation)
        else:
            self._restore(mutation)
        mutation.sync(place.directory)

    def _restore_in_place(self, mutation: Mutation) -> None:
        descriptor = self.at.open_file(writable=True)
        try:
            overwrite(mutation, descriptor, backup.content(mutation.runtime, self.change))
        finally:
            os.close(descriptor)

    def _restore(self, mutation: Mutation) -> None:
        place = self.at
        current = place.open_file()
        temporary = mutation.temporary(place.directory.duplicate(), place.name, 0o600)
        try:
            for data in backup.content(mutation.runtime, self.change):
                write_all(temporary.open, data)
            mutation.host.copy_metadata(current, temporary.open)
            mutation.sync_file(temporary.open)
            temporary.close()
            os.close(current)
            current = -1
            mutation.rename(temporary.directory, temporary.name, place.directory, place.name, replace=True)
            temporary.settle()
        finally:
            if current >= 0:
                os.close(current)
            temporary.remove()
            temporary.directory.close()

    def discard(self, mutation: Mutation) -> None:  # noqa: ARG002
        self._drop_temporary()
        self._close_old()

    def finish(self, mutation: Mutation) -> None:
        self.discard(mutation)

    def close(self) -> None:
        with suppress(OSError):
            self._drop_temporary()
        self._close_old()
        super().close()

    def _drop_temporary(self) -> None:
        temporary, self._temporary = self._temporary, None
        if temporary is not None:
            try:
                temporary.remove()
            finally:
                temporary.directory.close()

    def _close_old(self) -> None:
        old, self._old = self._old, None
        if old is not None:
            os.close(old)


def changed_meanwhile(path: str, expected: str | None, actual: str | None) -> Conflict:
    return Conflict(
        f"{path} is not what was expected",
        hint="read it again and decide anew",
        path=path,
        expected_sha256=expected,
        actual_sha256=actual,
    )


def content_of(place: Place) -> str | None:
    """The hash of the file at a place; None when nothing stands there, and what stands there if it is no file."""
    entry = place.entry and place.refresh()
    if entry is None or entry.kind is not Kind.FILE:
        return None if entry is None else str(entry.kind)
    descriptor = place.open_file()
    try:
        with translated(place.path):
            return sha256_of(descriptor)[0]
    finally:
        os.close(descriptor)


def write_all(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def overwrite(mutation: Mutation, descriptor: int, content: Iterable[bytes]) -> None:
    """Write into an open file from its beginning, and cut what is left of the old content."""
    os.lseek(descriptor, 0, os.SEEK_SET)
    for data in content:
        write_all(descriptor, data)
    os.ftruncate(descriptor, os.lseek(descriptor, 0, os.SEEK_CUR))
    mutation.sync_file(descriptor)
