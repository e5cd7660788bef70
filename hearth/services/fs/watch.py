"""What changes in a tree."""

from __future__ import annotations

import os
from collections.abc import Iterator
from enum import StrEnum
from itertools import islice
from typing import Annotated

from hearth.containment import translated
from hearth.errors import Cancelled
from hearth.model import Cli, Ge, Help, Hidden, Items, Le, Len, PathName, State, model
from hearth.platforms.base import Directory, Kind
from hearth.runtime import Runtime
from hearth.services.fs import ignore
from hearth.services.fs.globs import Globs
from hearth.services.fs.handles import Handles
from hearth.services.fs.stat import MAX_PATH
from hearth.services.fs.treewalk import Tree, open_tree
from hearth.services.fs.walk import Budget

USUAL_TIMEOUT_MS = 30_000
USUAL_COUNT = 1_000
GATHER_MS = 200  # changes this near together are told together, so that a save is one change


class What(StrEnum):
    """What happened to a path."""

    ADDED = "added"
    MODIFIED = "modified"
    DELETED = "deleted"


_CHANGES = {1: What.ADDED, 2: What.MODIFIED, 3: What.DELETED}  # watchfiles.Change


@model
class WatchTree:
    path: Annotated[
        str, Len(1, MAX_PATH), PathName(), Cli(argument=True, completes="path"), Help("A directory or file.")
    ] = "."
    globs: Annotated[
        tuple[Annotated[str, Len(1, 4096)], ...],
        Len(0, 64),
        Cli(names=("-g", "--glob")),
        Help("Which paths: `*` stays in a level, `**` crosses, `!` takes out; without a slash at any depth."),
    ] = ()
    hidden: Annotated[bool, Help("Watch names that start with a dot, too.")] = False
    ignored: Annotated[bool, Help("Watch what .gitignore files leave out, too.")] = False
    count: Annotated[
        int | None, Ge(1), Le(100_000), Cli(names=("-n",)), Help("End after so many changes; 1,000 in one answer.")
    ] = None
    timeout_ms: Annotated[
        int | None, Ge(1), Le(86_400_000), Help("End after this time; 30 s in one answer, never at the shell.")
    ] = None


@model
class Change:
    """One change."""

    change: Annotated[What, Help("What happened.")]
    path: Annotated[str, PathName(), Help("The path, as the next call can use it.")]
    kind: Annotated[Kind | None, Help("What stands there now.")] = None


@model
class ChangesSeen:
    """What changed while the call watched."""

    state: State = State.COMPLETED
    path: Annotated[str, PathName(), Help("The absolute path that was watched.")]
    changes: Annotated[tuple[Change, ...], Items(("change", "path")), Help("In the order in which they were seen.")]
    stopped: Annotated[str, Hidden(), Help("What ended it: count or time.")]


def watch(runtime: Runtime, given: WatchTree) -> ChangesSeen:
    """Raises `NotFound`, `OutsideRoot`, `InvalidPattern`, `Cancelled`."""
    count = given.count or USUAL_COUNT
    changes = tuple(islice(_changes(runtime, given, given.timeout_ms or USUAL_TIMEOUT_MS), count))
    return ChangesSeen(
        path=runtime.containment.absolute(given.path),
        changes=changes,
        stopped="count" if len(changes) == count else "time",
    )


def stream(runtime: Runtime, given: WatchTree) -> Iterator[Change]:
    """Changes as they come."""
    return islice(_changes(runtime, given, given.timeout_ms), given.count)


def _changes(runtime: Runtime, given: WatchTree, timeout_ms: int | None) -> Iterator[Change]:
    globs = Globs(given.globs, case_sensitive=runtime.host.case_sensitive)
    budget = Budget(runtime.clock, runtime.cancelled, timeout_ms=timeout_ms)
    with runtime.containment.locate(given.path) as place:
        only = None if place.found.kind is Kind.DIRECTORY else place.name
        folder = place.path if only is None else os.path.dirname(place.path)
    with open_tree(runtime, folder, budget, hidden=given.hidden, ignored=given.ignored) as tree:
        # The watcher of macOS tells real paths only.
        real = runtime.host.real_path(tree.place.path)
        sieve = _Sieve(tree, real, globs, only)
        for batch in _batches(runtime, real, budget, recursive=only is None):
            yield from sieve.through(batch)


def _batches(runtime: Runtime, folder: str, budget: Budget, *, recursive: bool) -> Iterator[list[tuple[int, str]]]:
    from watchfiles._rust_notify import RustNotify

    with translated(folder):
        notify = RustNotify([folder], False, False, 300, recursive, True)
    try:
        while budget.allows():
            left = budget.remaining_s()
            seen = notify.watch(GATHER_MS, 50, 0 if left is None else max(1, round(left * 1000)), runtime.cancelled)
            if seen == "signal":
                raise KeyboardInterrupt
            if seen == "stop":
                raise Cancelled("the call was cancelled")
            if not isinstance(seen, str):
                yield sorted(seen, key=lambda change: (change[1], change[0]))
    finally:
        notify.close()


class _Sieve:
    """Lets through what lies in the tree itself: the system's watcher looks behind links, and knows no bounds."""

    def __init__(self, tree: Tree, real: str, globs: Globs, only: str | None) -> None:
        self.tree = tree
        self.above = len(tree.place.host.parts(real)[1])
        self.globs = globs
        self.only = only

    def through(self, batch: list[tuple[int, str]]) -> Iterator[Change]:
        with Handles(self.tree) as handles:
            for number, path in batch:
                parts = self.tree.place.host.parts(path)[1][self.above :]
                directory = handles.directory(parts[:-1]) if parts else None
                if directory is not None and self._wants(handles, parts, directory):
                    yield Change(change=_CHANGES[number], path=self.tree.show(parts), kind=_kind(directory, parts[-1]))

    def _wants(self, handles: Handles, parts: tuple[str, ...], directory: Directory) -> bool:
        if self.only is not None:
            return parts == (self.only,)
        walk = self.tree.walk
        if not walk.hidden and any(part.startswith(".") for part in parts):
            return False
        if not walk.ignored and (".git" in parts or self._is_ignored(handles, parts, directory)):
            return False
        return self.globs.select("/".join(parts))

    def _is_ignored(self, handles: Handles, parts: tuple[str, ...], directory: Directory) -> bool:
        above = self.tree.walk.above
        here = self.tree.walk.ignore
        for depth in range(len(parts)):
            folder = handles.directory(parts[:depth])
            if folder is None:
                return True
            here = ignore.of_directory(folder, ignore.present(folder), here, len(above) + depth)
            is_directory = depth + 1 < len(parts) or _kind(directory, parts[-1]) is Kind.DIRECTORY
            if here is not None and here.ignores(above + parts[: depth + 1], is_directory=is_directory):
                return True
        return False


def _kind(directory: Directory, name: str) -> Kind | None:
    try:
        return directory.entry(name).kind
    except OSError:
        return None
