"""What a directory holds."""

from __future__ import annotations

from typing import Annotated

from hearth.clock import timestamp_ns
from hearth.model import Cli, Ge, Help, Items, Le, Len, PathName, State, model
from hearth.platforms.base import Entry, Kind
from hearth.runtime import Runtime
from hearth.services.fs import cursor
from hearth.services.fs.globs import Globs
from hearth.services.fs.stat import MAX_PATH
from hearth.services.fs.treewalk import Tree, open_tree
from hearth.services.fs.walk import Budget, Found


@model
class ListDirectory:
    path: Annotated[str, Len(1, MAX_PATH), PathName(), Cli(argument=True, completes="path"), Help("A directory.")] = "."
    depth: Annotated[int, Ge(1), Le(256), Cli(names=("-d",)), Help("Levels to show; 1 is the directory alone.")] = 1
    globs: Annotated[
        tuple[Annotated[str, Len(1, 4096)], ...],
        Len(0, 64),
        Cli(names=("-g", "--glob")),
        Help("Show what matches: `*` stays in a level, `**` crosses, `!` takes out; without a slash any name."),
    ] = ()
    kinds: Annotated[tuple[Kind, ...], Len(0, 6), Cli(names=("--kind",)), Help("Show these kinds only.")] = ()
    hidden: Annotated[bool, Help("Show names that start with a dot.")] = True
    ignored: Annotated[bool, Help("Show what .gitignore files leave out.")] = True
    limit: Annotated[int, Ge(1), Le(100_000), Cli(names=("-n",)), Help("Most entries in one answer.")] = 1_000
    cursor: Annotated[str | None, Len(1, 65_536), Help("Go on where the answer with this next_cursor ended.")] = None
    totals: Annotated[bool, Help("Count and add up everything below the depth, not only this page.")] = False
    timeout_ms: Annotated[int, Ge(1), Le(600_000), Help("Stop after this time with what was found.")] = 30_000


@model
class Listed:
    """One entry."""

    path: Annotated[str, PathName(), Help("The path, as the next call can use it.")]
    name: Annotated[str, PathName(), Help("The last component.")]
    kind: Annotated[Kind, Help("What stands there.")]
    size: Annotated[int, Help("Bytes.")]
    modified_at: Annotated[str, Help("When the content last changed.")]
    mode: Annotated[str, Help("Permission bits, octal.")]
    target: Annotated[str | None, PathName(), Help("What the link holds.")] = None


@model
class Totals:
    files: Annotated[int, Help("How many regular files.")]
    directories: Annotated[int, Help("How many directories.")]
    others: Annotated[int, Help("How many links, FIFOs, sockets and devices.")]
    bytes: Annotated[int, Help("Sizes of the files, added up.")]


@model
class DirectoryListing:
    """Entries, sorted: a directory before what is in it."""

    state: State = State.COMPLETED
    path: Annotated[str, PathName(), Help("The absolute path of the directory.")]
    entries: Annotated[
        tuple[Listed, ...], Items(("kind", "size", "modified_at", "path")), Help("What it holds, by name.")
    ]
    totals: Annotated[Totals | None, Help("Of everything that the filters choose, when it was asked for.")] = None
    skipped: Annotated[dict[str, int], Help("What was left out, by reason.")]
    next_cursor: Annotated[str | None, Help("Where the next page begins; null at the end.")] = None


def list_directory(runtime: Runtime, given: ListDirectory) -> DirectoryListing:
    """Raises `NotFound`, `NotDirectory`, `OutsideRoot`, `InvalidPattern`."""
    budget = Budget(runtime.clock, runtime.cancelled, timeout_ms=given.timeout_ms, progress=runtime.progress)
    after = cursor.decode(given.cursor)
    globs = Globs(given.globs, case_sensitive=runtime.host.case_sensitive)
    with open_tree(runtime, given.path, budget, depth=given.depth, hidden=given.hidden, ignored=given.ignored) as tree:
        tree.walk.prune = globs.prune if globs else None
        page = _Page(tree, given, globs)
        page.fill(() if given.totals else after, after)
        return page.listing()


class _Page:
    """The entries of one answer, and the totals of all."""

    def __init__(self, tree: Tree, given: ListDirectory, globs: Globs) -> None:
        self.tree = tree
        self.given = given
        self.globs = globs
        self.entries: list[Listed] = []
        self.counts = {"files": 0, "directories": 0, "others": 0, "bytes": 0}
        self.last: tuple[str, ...] = ()
        self.more = False

    def fill(self, start: tuple[str, ...], after: tuple[str, ...]) -> None:
        for found in self.tree.walk.run(self.tree.start, start):
            if not self._selects(found):
                continue
            full = len(self.entries) >= self.given.limit
            if full and not self.given.totals:
                self.more = True
                return
            entry = self._look(found)
            if entry is None:
                continue
            self._count(entry)
            if found.parts <= after:
                continue
            if full:
                self.more = True
            else:
                self._add(found, entry)

    def _selects(self, found: Found) -> bool:
        return (not self.given.kinds or found.kind in self.given.kinds) and self.globs.select(found.path)

    def _look(self, found: Found) -> Entry | None:
        try:
            return found.directory.entry(found.name)
        except OSError:
            self.tree.walk.skipped["changed"] += 1
            return None

    def _count(self, entry: Entry) -> None:
        names = {Kind.FILE: "files", Kind.DIRECTORY: "directories"}
        self.counts[names.get(entry.kind, "others")] += 1
        self.counts["bytes"] += entry.size if entry.kind is Kind.FILE else 0

    def _add(self, found: Found, entry: Entry) -> None:
        self.last = found.parts
        self.entries.append(
            Listed(
                path=self.tree.show(found.parts),
                name=found.name,
                kind=entry.kind,
                size=entry.size,
                modified_at=timestamp_ns(entry.modified_ns),
                mode=f"{entry.mode:04o}",
                target=_target(found) if entry.kind is Kind.LINK else None,
            )
        )

    def listing(self) -> DirectoryListing:
        stopped = self.more or self.tree.walk.budget.stopped is not None
        return DirectoryListing(
            state=State.PARTIAL if stopped else State.COMPLETED,
            path=self.tree.place.path,
            entries=tuple(self.entries),
            totals=Totals(**self.counts) if self.given.totals else None,
            skipped=dict(+self.tree.walk.skipped),
            next_cursor=cursor.encode(self.last) if stopped and self.last else None,
        )


def _target(found: Found) -> str | None:
    try:
        return found.directory.read_link(found.name)
    except OSError:
        return None
