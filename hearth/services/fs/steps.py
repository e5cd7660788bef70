"""The steps of a change: what they share, and the small ones."""

from __future__ import annotations

import os
from collections.abc import Iterator
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar

from hearth.containment import translated
from hearth.errors import (
    AlreadyExists,
    HearthError,
    MissingParent,
    NotDirectory,
    NotEmpty,
    NotRegular,
    OutsideRoot,
    ReadOnlyRoot,
    from_os,
)
from hearth.platforms.base import Entry, Kind
from hearth.services.fs import locks
from hearth.store.receipts import Change

if TYPE_CHECKING:
    from hearth.containment import Place
    from hearth.runtime import Runtime
    from hearth.services.fs.mutation import Mutation


class Standing(StrEnum):
    """What a recorded step left, judged by what stands there."""

    BEFORE = "before"
    AFTER = "after"
    MIXED = "mixed"  # writing in place was interrupted
    OTHER = "other"  # somebody else changed it since


class Step:
    """One change to one path. The methods are called in this order; `revert` works from `change` and the disk alone,
    so that recovery can call it in another process."""

    kind: ClassVar[str]
    follow = True
    create_parents = False

    def __init__(self, path: str, *, implied: bool = False) -> None:
        self.path = path
        self.changed = False
        self.place: Place | None = None
        self.deferred = False  # its place comes to be only by the steps before it
        self.change = Change(self.kind, path, implied=implied)

    @property
    def at(self) -> Place:
        assert self.place is not None
        return self.place

    def locate(self, runtime: Runtime) -> None:
        """Walk to the place, again if need be. Raises what containment refuses."""
        self._leave()
        parents = self.create_parents or self.deferred
        self.place = runtime.containment.locate(self.path, follow=self.follow, write=True, parents=parents)
        self.change.path = self.place.path

    def locate_early(self, runtime: Runtime) -> None:
        """As `locate`, but as far as the place can be told before the steps ahead of it are done."""
        try:
            self.locate(runtime)
        except (OutsideRoot, ReadOnlyRoot):
            raise
        except HearthError:
            self._leave()

    def missing_parents(self) -> list[str]:
        """Directories that must be made first, the outermost first."""
        place = self.at
        return [os.path.join(place.directory.path, *place.parents[: depth + 1]) for depth in range(len(place.parents))]

    def stripes(self) -> Iterator[int]:
        """The locks that the step needs."""
        if (place := self.place) is not None:
            yield locks.stripe(place.directory.identity, place.parents[0] if place.parents else place.name)

    def paths(self) -> tuple[str, ...]:
        return (self.place.path if self.place is not None else self.path,)

    def moved_away(self) -> bool:
        """Look again, now that the lock is held: must the path be walked anew?"""
        if self.place is None:
            return False
        if self.at.parents:
            return True
        entry = self.at.refresh()
        return self.follow and entry is not None and entry.kind is Kind.LINK

    def stage(self, mutation: Mutation) -> None:
        """Take in what is slow to come, before any lock is held."""

    def prepare(self, mutation: Mutation) -> bool:
        """Check, and fill in `change`; False when there is nothing to do. Changes nothing that anyone sees."""
        raise NotImplementedError

    def perform(self, mutation: Mutation) -> None:
        raise NotImplementedError

    def standing(self, mutation: Mutation) -> Standing:
        raise NotImplementedError

    def is_intact(self, mutation: Mutation) -> bool:
        """Whether what the step left still stands, so that undo would take back this and nothing else."""
        return self.standing(mutation) is Standing.AFTER

    def revert(self, mutation: Mutation) -> None:
        """Bring back what was before, if this step (or a part of it) is what stands there."""
        raise NotImplementedError

    def discard(self, mutation: Mutation) -> None:
        """Remove what was staged."""

    def finish(self, mutation: Mutation) -> None:
        """Clear away, once the whole call is recorded as done."""

    def release(self) -> None:
        """Let go of directories: Windows removes none that is open. `locate` opens them again."""
        self._leave()

    def close(self) -> None:
        """Let go of everything, once the step is done with."""
        self._leave()

    def _leave(self) -> None:
        if self.place is not None:
            self.place.close()
            self.place = None

    def require_parent(self) -> None:
        if self.at.parents:
            missing = self.missing_parents()[0]
            raise MissingParent(f"{missing} does not exist any more", path=self.at.path, missing=missing)


def identity_of(entry: Entry) -> str:
    return f"{entry.identity.device}:{entry.identity.file}"


def touch(one: str, other: str) -> bool:
    """Whether two paths are the same, or one lies below the other."""
    shorter, longer = sorted((one, other), key=len)
    return longer == shorter or longer.startswith(shorter.rstrip("/\\") + os.sep)


class MakeDirectory(Step):
    """Make a directory; `implied` when something else needs it, so that an existing one will do."""

    kind = "mkdir"

    def __init__(
        self,
        path: str,
        *,
        mode: int | None = None,
        parents: bool = False,
        existing_ok: bool = False,
        implied: bool = False,
    ) -> None:
        super().__init__(path, implied=implied)
        self.create_parents = parents
        self.existing_ok = existing_ok or implied
        self._mode = mode

    def prepare(self, mutation: Mutation) -> bool:
        entry = self.at.entry
        if entry is not None:
            if self.existing_ok and entry.kind is Kind.DIRECTORY:
                return False
            raise AlreadyExists(f"{self.at.path} exists already", path=self.at.path, kind=str(entry.kind))
        if not mutation.dry_run:
            self.require_parent()
        self.change.after_mode = self._mode
        return True

    def perform(self, mutation: Mutation) -> None:
        place = self.at
        try:
            place.directory.make_directory(place.name)
        except FileExistsError as error:
            there = place.refresh()
            if self.existing_ok and there is not None and there.kind is Kind.DIRECTORY:
                return  # undo leaves it alone unless it is empty
            raise AlreadyExists(f"{place.path} was made by somebody else meanwhile", path=place.path) from error
        if self._mode is not None:
            place.directory.set_mode(place.name, self._mode)
        mutation.sync(place.directory)

    def standing(self, mutation: Mutation) -> Standing:  # noqa: ARG002
        entry = self.at.entry
        if entry is None:
            return Standing.BEFORE
        return Standing.AFTER if entry.kind is Kind.DIRECTORY else Standing.OTHER

    def revert(self, mutation: Mutation) -> None:
        if self.standing(mutation) is Standing.AFTER:
            try:
                self.at.directory.remove_directory(self.at.name)
            except OSError as error:
                if not isinstance(from_os(error, self.at.path), NotEmpty):
                    raise
                return  # somebody else uses it by now
            mutation.sync(self.at.directory)


class RemoveDirectory(Step):
    """Remove an empty directory; an implied one stays when it is not empty."""

    kind = "rmdir"
    follow = False

    def prepare(self, mutation: Mutation) -> bool:  # noqa: ARG002
        place = self.at
        entry = place.entry
        if entry is None and self.change.implied:
            return False
        if place.found.kind is not Kind.DIRECTORY:
            raise NotDirectory(f"{place.path} is no directory", path=place.path)
        if not is_empty(place):
            if self.change.implied:
                return False
            raise NotEmpty(f"{place.path} is not empty", path=place.path)
        self.change.before_mode = place.found.mode
        return True

    def perform(self, mutation: Mutation) -> None:
        place = self.at
        try:
            place.directory.remove_directory(place.name)
        except OSError as error:
            raise from_os(error, place.path) from error
        mutation.sync(place.directory)

    def standing(self, mutation: Mutation) -> Standing:  # noqa: ARG002
        return Standing.AFTER if self.at.entry is None else Standing.BEFORE

    def revert(self, mutation: Mutation) -> None:
        if self.standing(mutation) is Standing.AFTER:
            place = self.at
            place.directory.make_directory(place.name)
            if self.change.before_mode is not None:
                place.directory.set_mode(place.name, self.change.before_mode)
            mutation.sync(place.directory)


def is_empty(place: Place) -> bool:
    """Whether the directory at a place has no entries."""
    directory = place.open_directory()
    try:
        with translated(place.path):
            return next(directory.scan(), None) is None
    finally:
        directory.close()


class SetMode(Step):
    """Set the permission bits of a file or directory."""

    kind = "mode"

    def __init__(self, path: str, mode: int = 0) -> None:
        super().__init__(path)
        self.mode = mode

    def new_mode(self, entry: Entry) -> int:  # noqa: ARG002
        """The bits to set, seen from what stands there."""
        return self.mode

    def prepare(self, mutation: Mutation) -> bool:  # noqa: ARG002
        entry = self.at.found
        if entry.kind not in (Kind.FILE, Kind.DIRECTORY):
            raise NotRegular(f"{self.at.path} is a {entry.kind}", path=self.at.path, kind=str(entry.kind))
        self.change.before_mode = entry.mode
        self.change.after_mode = self.new_mode(entry)
        return self.change.before_mode != self.change.after_mode

    def perform(self, mutation: Mutation) -> None:  # noqa: ARG002
        assert self.change.after_mode is not None
        self.at.directory.set_mode(self.at.name, self.change.after_mode)

    def standing(self, mutation: Mutation) -> Standing:  # noqa: ARG002
        entry = self.at.entry
        if entry is not None and entry.mode == self.change.after_mode:
            return Standing.AFTER
        return Standing.BEFORE if entry is not None and entry.mode == self.change.before_mode else Standing.OTHER

    def revert(self, mutation: Mutation) -> None:
        if self.standing(mutation) is Standing.AFTER and self.change.before_mode is not None:
            self.at.directory.set_mode(self.at.name, self.change.before_mode)
