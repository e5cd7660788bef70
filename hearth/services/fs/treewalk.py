"""A directory, opened to walk over what is below it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from hearth.containment import Place
from hearth.errors import NotDirectory, from_os
from hearth.platforms.base import Directory, Kind
from hearth.runtime import Runtime
from hearth.services.fs import ignore
from hearth.services.fs.walk import MAX_DEPTH, Budget, Walk


@dataclass(slots=True)
class Tree:
    """An open directory with the walk that is to go over it."""

    place: Place
    start: Directory
    walk: Walk
    shown: str  # what stands before the relative paths of answers

    def show(self, parts: tuple[str, ...]) -> str:
        """The path of an entry, as the next call can use it."""
        separator = "\\" if self.place.host.name == "windows" else "/"
        return self.shown + separator.join(parts)


@contextmanager
def open_tree(
    runtime: Runtime, path: str, budget: Budget, *, depth: int = MAX_DEPTH, hidden: bool, ignored: bool
) -> Iterator[Tree]:
    """The directory at `path` and a walk over it. Raises `NotFound`, `NotDirectory`, `PermissionDenied`,
    `OutsideRoot`."""
    with runtime.containment.locate(path) as place:
        if place.found.kind is not Kind.DIRECTORY:
            raise NotDirectory(f"{place.path} is a {place.found.kind}, not a directory", path=place.path)
        start = place.open_directory()
        try:
            _require_readable(start, place.path)
            walk = Walk(runtime.containment, place.root, budget, depth=depth)
            walk.hidden, walk.ignored = hidden, ignored
            if not ignored:
                walk.ignore, walk.above = ignore.above_place(runtime.containment, place)
            yield Tree(place, start, walk, shown_prefix(runtime, place.path))
        finally:
            start.close()


def _require_readable(directory: Directory, path: str) -> None:
    """What is left out below is counted, but to see nothing of what was asked for is a failure."""
    try:
        next(iter(directory.scan()), None)
    except OSError as error:
        raise from_os(error, path) from error


def shown_prefix(runtime: Runtime, path: str) -> str:
    """What a directory's entries are shown behind: relative to where relative paths start, when they lie there."""
    host = runtime.host
    separator = "\\" if host.name == "windows" else "/"
    base_anchor, base = host.parts(runtime.base)
    anchor, parts = host.parts(path)
    if host.same_name(anchor, base_anchor) and parts[: len(base)] == base:
        return "".join(part + separator for part in parts[len(base) :])
    return path.rstrip(separator) + separator


def shown_path(runtime: Runtime, path: str) -> str:
    """A file's path as `shown_prefix` has it."""
    separator = "\\" if runtime.host.name == "windows" else "/"
    return shown_prefix(runtime, path).rstrip(separator)
