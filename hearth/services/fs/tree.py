"""Whole trees by open directories: measured, copied, removed. Links are taken as links, special files refused."""

from __future__ import annotations

import os
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from hearth.errors import Cancelled, CannotKeepOwner, NotRegular, OutsideRoot
from hearth.platforms.base import Kind
from hearth.services.fs.backup import chunks

if TYPE_CHECKING:
    from hearth.platforms.base import Directory
    from hearth.services.fs.mutation import Mutation


@dataclass(slots=True)
class Measure:
    """What a tree holds. `fingerprint` changes with any name, kind, size or time of change below it; the name of the
    top itself does not count."""

    entries: int = 0
    size: int = 0
    hash: Any = field(default_factory=sha256)

    @property
    def fingerprint(self) -> str:
        return str(self.hash.hexdigest())


def measure(directory: Directory, name: str, *, limit: int | None = None) -> Measure:
    """Measure what stands under a name; ends early once `limit` bytes are passed."""
    found = Measure()
    _measure(directory, name, "", found, limit)
    return found


def _measure(directory: Directory, name: str, shown: str, found: Measure, limit: int | None) -> None:
    entry = directory.entry(name)
    found.entries += 1
    line = f"{shown}\0{entry.kind}"
    if entry.kind is Kind.FILE:
        found.size += entry.size
        line += f"\0{entry.size}\0{entry.modified_ns}"
    elif entry.kind is Kind.LINK:
        line += f"\0{directory.read_link(name)}"
    found.hash.update(line.encode("utf-8", "surrogatepass") + b"\n")
    if entry.kind is not Kind.DIRECTORY or (limit is not None and found.size > limit):
        return
    inside = directory.open_directory(name)
    try:
        for each in sorted(each for each, _ in inside.scan()):
            _measure(inside, each, f"{shown}/{each}", found, limit)
    finally:
        inside.close()


def copy(mutation: Mutation, source: Directory, name: str, target: Directory, new_name: str) -> None:
    """Copy what stands under a name, with modes, owners where possible, and attributes."""
    if mutation.runtime.cancelled.is_set():
        raise Cancelled("the call was taken back")
    entry = source.entry(name)
    if entry.kind is Kind.FILE:
        _copy_file(mutation, source, name, target, new_name)
    elif entry.kind is Kind.LINK:
        target.make_link(new_name, source.read_link(name), directory=False)
    elif entry.kind is Kind.DIRECTORY:
        old = source.open_directory(name)
        try:
            if not _is_private(mutation, old):
                _copy_directory(mutation, old, target, new_name)
                target.set_mode(new_name, entry.mode)
        finally:
            old.close()
    else:
        path = os.path.join(source.path, name)
        raise NotRegular(f"{path} is a {entry.kind}, which cannot be copied", path=path, kind=str(entry.kind))


def _copy_file(mutation: Mutation, source: Directory, name: str, target: Directory, new_name: str) -> None:
    old = source.open_file(name)
    try:
        new = target.create_file(new_name, 0o600)
        try:
            for data in chunks(old):
                view = memoryview(data)
                while view:
                    view = view[os.write(new, view) :]
            with suppress(CannotKeepOwner):  # a copy belongs to whoever made it
                mutation.host.copy_metadata(old, new)
            mutation.sync_file(new)
        finally:
            os.close(new)
    finally:
        os.close(old)


def _is_private(mutation: Mutation, directory: Directory) -> bool:
    """Whether it is hearth's own data, which stays out of copies."""
    try:
        mutation.runtime.containment.owner_of(directory, mutation.runtime.roots[0])
    except OutsideRoot:
        return True
    return False


def _copy_directory(mutation: Mutation, old: Directory, target: Directory, new_name: str) -> None:
    target.make_directory(new_name, 0o700)
    new = target.open_directory(new_name)
    try:
        for each, _ in old.scan():
            copy(mutation, old, each, new, each)
        mutation.sync(new)
    finally:
        new.close()


def remove(directory: Directory, name: str) -> None:
    """Remove what stands under a name, with all below it; nothing there is fine."""
    try:
        entry = directory.entry(name)
        if entry.kind is not Kind.DIRECTORY:
            directory.remove_file(name)
            return
        if entry.mode & 0o700 != 0o700:
            with suppress(OSError):  # our own directory, which denies us what removing needs
                directory.set_mode(name, 0o700)
        inside = directory.open_directory(name)
        try:
            for each in [each for each, _ in inside.scan()]:
                remove(inside, each)
        finally:
            inside.close()
        directory.remove_directory(name)
    except FileNotFoundError:
        return
