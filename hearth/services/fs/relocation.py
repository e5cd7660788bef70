"""Steps that take what stands under a name as a whole: move it, copy it, remove it for good.

What is removed with undo is moved into the data directory: `trash:<receipt>/<position>` is its path there.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from hearth.containment import Place, Root
from hearth.errors import AlreadyExists, BackupMissing, BackupTooLarge, Conflict, MissingParent, from_os, invalid
from hearth.platforms.base import Directory, Entry, Host, Kind
from hearth.services.fs import backup, locks, tree
from hearth.services.fs.content import changed_meanwhile, content_of, write_all
from hearth.services.fs.steps import Standing, Step, identity_of
from hearth.services.fs.temporary import PARKED_SUFFIX
from hearth.store import receipts
from hearth.store.receipts import TRASH

if TYPE_CHECKING:
    from hearth.runtime import Runtime
    from hearth.services.fs.mutation import Mutation

FRESH = TRASH  # a move to here goes to the trash of its own receipt


def is_trash(path: str) -> bool:
    return path.startswith(TRASH)


def trash_folder(runtime: Runtime, receipt: str) -> str:
    return os.path.join(runtime.data_dir, "trash", receipt)


def _trash_place(runtime: Runtime, path: str) -> Place:
    receipt, _, position = path.removeprefix(TRASH).partition("/")
    folder = trash_folder(runtime, receipt)
    runtime.host.make_private_directory(folder)
    place = Place(Root(folder), runtime.host.open_root(folder), position, path, None, runtime.host)
    place.refresh()
    return place


def _way_round(kind: Kind, *, may_replace: bool) -> str | None:
    """What the caller may have meant whose target exists."""
    if kind is Kind.DIRECTORY:
        return "end the target with / to put it into the directory"
    return "pass --overwrite (overwrite: true) to replace it" if may_replace and kind is Kind.FILE else None


class Move(Step):
    """Give what stands at `path` the place `to`; with `overwrite` a file there is replaced, and backed up.

    Either end may lie in the trash; `to=FRESH` is the trash of this call. `expected` is the hash of a file or the
    fingerprint of a tree. Above fs.backup_max_bytes nothing goes to the trash: `BackupTooLarge`. `rewrites` are hashes
    of what else may stand at the target and be what was moved.
    """

    kind = "move"
    follow = False

    def __init__(
        self,
        path: str,
        to: str,
        *,
        overwrite: bool = False,
        expected: str | None = None,
        create_parents: bool = False,
    ) -> None:
        super().__init__(path)
        self.to = to
        self.overwrite = overwrite
        self.expected = expected.lower() if expected else None
        self.create_parents = create_parents
        self.target: Place | None = None
        self.entries = 0
        self.rewrites: set[str | None] = set()
        self._renames_case = False
        self._parked: tuple[Directory, str] | None = None

    def locate(self, runtime: Runtime) -> None:
        self._leave()
        self.place = _trash_place(runtime, self.path) if is_trash(self.path) else self._walk(runtime, self.path, False)
        self.change.path = self.place.path
        if self.to == FRESH:
            return
        if is_trash(self.to):
            self.target = _trash_place(runtime, self.to)
        else:
            self.target = self._walk(runtime, self.to, self.create_parents)
        self.change.other = self.target.path

    def _walk(self, runtime: Runtime, path: str, parents: bool) -> Place:
        return runtime.containment.locate(path, follow=False, write=True, parents=parents or self.deferred)

    @property
    def size(self) -> int:
        return self.change.after_size or 0

    @property
    def destination(self) -> Place:
        assert self.target is not None
        return self.target

    def missing_parents(self) -> list[str]:
        place = self.target
        if place is None:
            return []
        return [os.path.join(place.directory.path, *place.parents[: depth + 1]) for depth in range(len(place.parents))]

    def _ends(self) -> list[Place]:
        return [place for place in (self.place, self.target) if place is not None and not is_trash(place.path)]

    def stripes(self) -> Iterator[int]:
        for place in self._ends():
            yield locks.stripe(place.directory.identity, place.parents[0] if place.parents else place.name)

    def paths(self) -> tuple[str, ...]:
        ends = ((self.place, self.path), (self.target, self.to))
        named = [place.path if place is not None else path for place, path in ends]
        return tuple(path for path in named if not is_trash(path))

    def moved_away(self) -> bool:
        for place in self._ends():
            place.refresh()
        return self.target is not None and bool(self.target.parents)

    def prepare(self, mutation: Mutation) -> bool:
        place = self.at
        if place.entry is None and is_trash(place.path):
            raise BackupMissing(f"what was removed from {self.to} is not in the trash any more", path=self.to)
        entry = place.found
        refuse_root(place)
        self.change.identity = identity_of(entry)
        self.change.after_mode = entry.mode
        self._check_content(mutation, entry)
        if self.to == FRESH:
            if not mutation.dry_run:
                self.target = _trash_place(mutation.runtime, f"{TRASH}{mutation.id}/{mutation.next_position()}")
                self.to = self.change.other = self.target.path
            return True
        self._check_target(mutation, entry)
        return not self._is_same(self.destination.entry, entry) or self._renames_case

    def _check_content(self, mutation: Mutation, entry: Entry) -> None:
        """Measure what goes to or comes from the trash, and compare it with what was expected."""
        if self.to != FRESH and self.expected is None:
            self.change.after_size = entry.size if entry.kind is Kind.FILE else None
            return
        limit = mutation.settings.backup_max_bytes if self.to == FRESH else None
        place = self.at
        measured = tree.measure(place.directory, place.name, limit=limit)
        self.entries, self.change.after_size = measured.entries, measured.size
        if limit is not None and measured.size > limit:
            raise BackupTooLarge(f"{place.path} holds more than {limit} bytes", path=place.path, limit_bytes=limit)
        actual = content_of(place) if entry.kind is Kind.FILE else measured.fingerprint
        self.change.after_sha256 = actual
        if self.expected not in (None, actual):
            raise changed_meanwhile(place.path, self.expected, actual)

    def _check_target(self, mutation: Mutation, entry: Entry) -> None:
        target = self.destination
        if target.parents and not mutation.dry_run:
            raise MissingParent(f"{self.missing_parents()[0]} does not exist", path=target.path)
        refuse_inside_itself(mutation.host, self.at, target)
        there = target.entry
        if there is None:
            return
        if self._is_same(there, entry):
            self._renames_case = target.name != self.at.name
            return
        if not self.overwrite or there.kind is not Kind.FILE or entry.kind is not Kind.FILE:
            hint = _way_round(there.kind, may_replace=entry.kind is Kind.FILE)
            raise AlreadyExists(f"{target.path} exists already", hint=hint, path=target.path, kind=str(there.kind))
        self.change.before_mode = there.mode
        old = target.open_file()
        try:
            backup.keep(mutation.runtime, self.change, old, there.size, permanent=False, dry_run=mutation.dry_run)
        finally:
            os.close(old)

    def _is_same(self, there: Entry | None, entry: Entry) -> bool:
        return there is not None and there.identity == entry.identity

    def perform(self, mutation: Mutation) -> None:
        replace = self.change.before_sha256 is not None or self._renames_case
        try:
            self._relocate(mutation, self.at, self.destination, replace=replace)
        except FileExistsError as error:
            path = self.destination.path
            raise Conflict(
                f"{path} was made by somebody else meanwhile", path=path, expected_sha256="absent"
            ) from error
        except OSError as error:
            raise from_os(error, self.at.path) from error

    def _relocate(self, mutation: Mutation, source: Place, target: Place, *, replace: bool) -> None:
        try:
            mutation.rename(source.directory, source.name, target.directory, target.name, replace=replace)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            self._transfer(mutation, source, target, replace=replace)
        mutation.sync(target.directory, source.directory)

    def _transfer(self, mutation: Mutation, source: Place, target: Place, *, replace: bool) -> None:
        """Across file systems: a whole copy first, then the source disappears at once."""
        copied = mutation.note_temporary(target.directory, target.name)
        try:
            tree.copy(mutation, source.directory, source.name, target.directory, copied)
            self._note_identity(mutation, identity_of(target.directory.entry(copied)))
            mutation.rename(target.directory, copied, target.directory, target.name, replace=replace)
        except BaseException:
            tree.remove(target.directory, copied)
            raise
        mutation.sync(target.directory)
        parked = mutation.note_temporary(source.directory, source.name, PARKED_SUFFIX)
        mutation.rename(source.directory, source.name, source.directory, parked, replace=False)
        self._parked = (source.directory.duplicate(), parked)

    def _note_identity(self, mutation: Mutation, identity: str) -> None:
        """Recovery has to know the copy from whatever else may come to stand there."""
        self.change.identity = identity
        if mutation.receipt is not None:
            with mutation.runtime.store.write(durable=mutation.settings.sync) as tx:
                receipts.set_identity(tx, mutation.receipt.seq, self.change.position, identity)

    def standing(self, mutation: Mutation) -> Standing:  # noqa: ARG002
        there, here = self.destination.entry, self.at.entry
        if there is not None and identity_of(there) == self.change.identity:
            return Standing.MIXED if here is not None and here.identity != there.identity else Standing.AFTER
        if here is not None:
            return Standing.BEFORE
        is_rewritten = there is not None and content_of(self.destination) in self.rewrites
        return Standing.AFTER if is_rewritten else Standing.OTHER

    def is_intact(self, mutation: Mutation) -> bool:  # noqa: ARG002
        # What was moved may have been written since; moving it back loses nothing of that.
        return self.destination.entry is not None and self.at.entry is None

    def revert(self, mutation: Mutation) -> None:
        standing = self.standing(mutation)
        if standing is Standing.MIXED:  # copied to another file system, and the source is still there
            remove_at_once(mutation, self.destination)
        elif standing is Standing.AFTER:
            self._relocate(mutation, self.destination, self.at, replace=False)
        else:
            return
        if self.change.before_sha256 is not None:
            self._restore_overwritten(mutation)

    def _restore_overwritten(self, mutation: Mutation) -> None:
        target = self.destination
        temporary = mutation.temporary(target.directory, target.name, self.change.before_mode or 0o600)
        try:
            for data in backup.content(mutation.runtime, self.change):
                write_all(temporary.open, data)
            mutation.sync_file(temporary.open)
            temporary.close()
            if self.change.before_mode is not None:
                target.directory.set_mode(temporary.name, self.change.before_mode)
            mutation.rename(target.directory, temporary.name, target.directory, target.name, replace=False)
            temporary.settle()
        finally:
            temporary.remove()
        mutation.sync(target.directory)

    def finish(self, mutation: Mutation) -> None:
        self.discard(mutation)

    def discard(self, mutation: Mutation) -> None:
        if self._parked is not None:
            directory, name = self._parked
            self._parked = None
            try:
                clear_away(mutation, directory, name)
            finally:
                directory.close()
        _drop_empty_trash(mutation.runtime, self.change.path, self.change.other)

    def _leave(self) -> None:
        super()._leave()
        if self.target is not None:
            self.target.close()
            self.target = None


def know_rewrites(steps: Sequence[Step]) -> None:
    """Tell each move what later steps of its call made of the file: its new content, and the old one once that is
    taken back, are files of their own, so the identity of what was moved is gone."""
    rewritten: dict[str, set[str | None]] = {}
    for step in reversed(steps):
        change = step.change
        if step.kind == "write":
            rewritten.setdefault(change.path, set()).update((change.before_sha256, change.after_sha256))
        elif isinstance(step, Move) and change.other is not None:
            step.rewrites = rewritten.get(change.other, set())


class Copy(Step):
    """Make a tree or a link a second time, under a name that is free. (A single file is copied by `Write`.)"""

    kind = "copy"
    follow = False

    def __init__(self, source: str, path: str, *, create_parents: bool = False) -> None:
        super().__init__(path)
        self.source_path = source
        self.create_parents = create_parents
        self.entries = 0
        self.source: Place | None = None
        self._copied: str | None = None

    def locate(self, runtime: Runtime) -> None:
        super().locate(runtime)
        if self.source_path:  # recovery knows the target only
            self.source = runtime.containment.locate(self.source_path, follow=False)
            self.change.other = self.source.path

    def paths(self) -> tuple[str, ...]:
        return (self.at.path,) if self.source is None else (self.at.path, self.source.path)

    def prepare(self, mutation: Mutation) -> bool:
        place, source = self.at, self.source
        assert source is not None
        if place.entry is not None:
            kind = place.entry.kind
            hint = _way_round(kind, may_replace=False)
            raise AlreadyExists(f"{place.path} exists already", hint=hint, path=place.path, kind=str(kind))
        _ = source.found
        refuse_root(source)
        refuse_inside_itself(mutation.host, source, place)
        measured = tree.measure(source.directory, source.name)
        self.entries, self.change.after_size = measured.entries, measured.size
        if mutation.dry_run:
            return True
        self.require_parent()
        self._copied = mutation.note_temporary(place.directory, place.name)
        tree.copy(mutation, source.directory, source.name, place.directory, self._copied)
        self.change.identity = identity_of(place.directory.entry(self._copied))
        self.change.after_sha256 = tree.measure(place.directory, self._copied).fingerprint
        return True

    def perform(self, mutation: Mutation) -> None:
        place = self.at
        assert self._copied is not None
        try:
            mutation.rename(place.directory, self._copied, place.directory, place.name, replace=False)
        except FileExistsError as error:
            raise Conflict(f"{place.path} was made by somebody else meanwhile", path=place.path) from error
        mutation.settle_temporary()
        self._copied = None
        mutation.sync(place.directory)

    def standing(self, mutation: Mutation) -> Standing:  # noqa: ARG002
        entry = self.at.entry
        if entry is None:
            return Standing.BEFORE
        return Standing.AFTER if identity_of(entry) == self.change.identity else Standing.OTHER

    def is_intact(self, mutation: Mutation) -> bool:
        place = self.at
        return (
            self.standing(mutation) is Standing.AFTER
            and tree.measure(place.directory, place.name).fingerprint == self.change.after_sha256
        )

    def revert(self, mutation: Mutation) -> None:
        if self.standing(mutation) is Standing.AFTER:
            remove_at_once(mutation, self.at)

    def discard(self, mutation: Mutation) -> None:
        if self._copied is not None and self.place is not None:
            name, self._copied = self._copied, None
            clear_away(mutation, self.place.directory, name)

    def _leave(self) -> None:
        super()._leave()
        if self.source is not None:
            self.source.close()
            self.source = None


class Remove(Step):
    """Remove for good, without undo: under another name first, so that it is gone whole or not at all."""

    kind = "remove"
    follow = False

    def __init__(self, path: str, *, expected: str | None = None) -> None:
        super().__init__(path)
        self.expected = expected.lower() if expected else None
        self.entries = 0
        self._parked = ""

    @property
    def size(self) -> int:
        return self.change.before_size or 0

    def prepare(self, mutation: Mutation) -> bool:
        place = self.at
        entry = place.found
        refuse_root(place)
        measured = tree.measure(place.directory, place.name)
        self.entries, self.change.before_size = measured.entries, measured.size
        self.change.before_mode = entry.mode
        self.change.identity = identity_of(entry)
        if self.expected is not None:
            actual = content_of(place)
            if actual != self.expected:
                raise changed_meanwhile(place.path, self.expected, actual)
        if not mutation.dry_run:
            self._parked = mutation.note_temporary(place.directory, place.name, PARKED_SUFFIX)
            self.change.other = os.path.join(place.directory.path, self._parked)
        return True

    def perform(self, mutation: Mutation) -> None:
        place = self.at
        try:
            mutation.rename(place.directory, place.name, place.directory, self._parked, replace=False)
        except OSError as error:
            raise from_os(error, place.path) from error
        mutation.sync(place.directory)

    def standing(self, mutation: Mutation) -> Standing:  # noqa: ARG002
        entry = self.at.entry
        here = entry is not None and identity_of(entry) == self.change.identity
        return Standing.BEFORE if here else Standing.AFTER

    def revert(self, mutation: Mutation) -> None:
        if self.standing(mutation) is Standing.AFTER and self.change.other is not None:
            place = self.at
            parked = os.path.basename(self.change.other)
            mutation.rename(place.directory, parked, place.directory, place.name, replace=False)

    def discard(self, mutation: Mutation) -> None:
        if self._parked:
            self._parked = ""
            mutation.settle_temporary()

    def release(self) -> None:
        if not self._parked:  # what is parked is cleared away by this directory
            super().release()

    def finish(self, mutation: Mutation) -> None:
        clear_away(mutation, self.at.directory, self._parked)
        self._parked = ""


def refuse_root(place: Place) -> None:
    if place.name == ".":
        raise invalid("path", "is_root", f"{place.path} is a root, which stays where it is")


def refuse_inside_itself(host: Host, source: Place, target: Place) -> None:
    if is_trash(source.path) or is_trash(target.path):
        return
    anchor, parts = host.parts(source.path)
    other_anchor, other = host.parts(target.path)
    if host.same_name(anchor, other_anchor) and len(other) > len(parts) and all(map(host.same_name, parts, other)):
        raise invalid("to", "inside_itself", f"{target.path} lies inside {source.path}")


def remove_at_once(mutation: Mutation, place: Place) -> None:
    """Make something disappear whole, then clear it away."""
    parked = mutation.note_temporary(place.directory, place.name)
    mutation.rename(place.directory, place.name, place.directory, parked, replace=False)
    clear_away(mutation, place.directory, parked)
    mutation.sync(place.directory)


def clear_away(mutation: Mutation, directory: Directory, name: str) -> None:
    """Remove something that nobody sees any more; what resists stays in the journal, for recovery."""
    try:
        tree.remove(directory, name)
    except OSError as error:
        mutation.warnings.append(f"{os.path.join(directory.path, name)} could not be removed yet: {error.strerror}")
        return
    mutation.settle_temporary()


def _drop_empty_trash(runtime: Runtime, *paths: str | None) -> None:
    for path in paths:
        if path is not None and is_trash(path):
            with suppress(OSError):
                os.rmdir(trash_folder(runtime, path.removeprefix(TRASH).partition("/")[0]))
