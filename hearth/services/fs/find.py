"""Names in a tree."""

from __future__ import annotations

from typing import Annotated

from hearth.clock import parse_timestamp, timestamp_ns
from hearth.errors import invalid
from hearth.model import Cli, Ge, Help, Items, Le, Len, PathName, State, model
from hearth.platforms.base import Entry, Kind
from hearth.runtime import Runtime
from hearth.services.fs.globs import Globs
from hearth.services.fs.stat import MAX_PATH
from hearth.services.fs.treewalk import Tree, open_tree
from hearth.services.fs.walk import MAX_DEPTH, Budget, Found


@model
class FindNames:
    globs: Annotated[
        tuple[Annotated[str, Len(1, 4096)], ...],
        Len(0, 64),
        Cli(argument=True, metavar="GLOB"),
        Help("What names to find: `*` stays in a level, `**` crosses, `!` takes out; without a slash at any depth."),
    ] = ()
    path: Annotated[
        str, Len(1, MAX_PATH), PathName(), Cli(names=("--in",), completes="path"), Help("Where to look.")
    ] = "."
    name_regex: Annotated[
        str | None, Len(1, 4096), Cli(names=("--regex",)), Help("An expression (RE2) that is found in the name.")
    ] = None
    kinds: Annotated[tuple[Kind, ...], Len(0, 6), Cli(names=("--kind",)), Help("Find these kinds only.")] = ()
    min_bytes: Annotated[int | None, Ge(0), Help("Files of at least this size.")] = None
    max_bytes: Annotated[int | None, Ge(0), Help("Files of at most this size.")] = None
    modified_after: Annotated[str | None, Len(1, 64), Help("Changed at or after this time, ISO 8601 with Z.")] = None
    modified_before: Annotated[str | None, Len(1, 64), Help("Changed before this time, ISO 8601 with Z.")] = None
    depth: Annotated[int, Ge(1), Le(MAX_DEPTH), Cli(names=("-d",)), Help("Levels to go down.")] = MAX_DEPTH
    hidden: Annotated[bool, Help("Go through names that start with a dot.")] = False
    ignored: Annotated[bool, Help("Go through what .gitignore files leave out.")] = False
    limit: Annotated[int, Ge(1), Le(100_000), Cli(names=("-n",)), Help("Most names in one answer.")] = 1_000
    max_entries: Annotated[int, Ge(1), Le(100_000_000), Help("Stop after looking at so many names.")] = 1_000_000
    timeout_ms: Annotated[int, Ge(1), Le(600_000), Help("Stop after this time with what was found.")] = 30_000


@model
class FoundName:
    """One name."""

    path: Annotated[str, PathName(), Help("The path, as the next call can use it.")]
    kind: Annotated[Kind, Help("What stands there.")]
    size: Annotated[int, Help("Bytes.")]
    modified_at: Annotated[str, Help("When the content last changed.")]


@model
class NamesFound:
    state: State = State.COMPLETED
    path: Annotated[str, PathName(), Help("The absolute path of the directory.")]
    found: Annotated[tuple[FoundName, ...], Items(("path",)), Help("The names, sorted by path.")]
    visited: Annotated[int, Help("How many names were looked at.")]
    stopped: Annotated[str | None, Help("The bound that ended it: limit, entries, time.")] = None
    skipped: Annotated[dict[str, int], Help("What was left out, by reason.")]


def find(runtime: Runtime, given: FindNames) -> NamesFound:
    """Raises `NotFound`, `NotDirectory`, `OutsideRoot`, `InvalidPattern`, `RegexEngineMissing`."""
    selects = _Selection(given, case_sensitive=runtime.host.case_sensitive)
    budget = Budget(
        runtime.clock,
        runtime.cancelled,
        timeout_ms=given.timeout_ms,
        entries=given.max_entries,
        progress=runtime.progress,
    )
    with open_tree(runtime, given.path, budget, depth=given.depth, hidden=given.hidden, ignored=given.ignored) as tree:
        tree.walk.prune = selects.globs.prune if selects.globs else None
        found = _collect(tree, selects, given.limit, budget)
        return NamesFound(
            state=State.PARTIAL if budget.stopped else State.COMPLETED,
            path=tree.place.path,
            found=tuple(found),
            visited=budget.visited,
            stopped=budget.stopped,
            skipped=dict(+tree.walk.skipped),
        )


def _collect(tree: Tree, selects: _Selection, limit: int, budget: Budget) -> list[FoundName]:
    names: list[FoundName] = []
    for found in tree.walk.run(tree.start):
        if not selects.name(found):
            continue
        if len(names) >= limit:
            budget.stopped = "limit"
            break
        try:
            entry = found.directory.entry(found.name)
        except OSError:
            tree.walk.skipped["changed"] += 1
            continue
        if selects.entry(entry):
            names.append(_found_name(tree.show(found.parts), entry))
    return names


def _found_name(path: str, entry: Entry) -> FoundName:
    return FoundName(path=path, kind=entry.kind, size=entry.size, modified_at=timestamp_ns(entry.modified_ns))


class _Selection:
    """Which names are wanted: the cheap tests first."""

    def __init__(self, given: FindNames, *, case_sensitive: bool) -> None:
        self.given = given
        self.globs = Globs(given.globs, case_sensitive=case_sensitive)
        self.after = _time_ns("modified_after", given.modified_after)
        self.before = _time_ns("modified_before", given.modified_before)
        self.matcher = None
        if given.name_regex is not None:
            from hearth.content.matching import Query, matcher

            self.matcher = matcher(Query(given.name_regex, regex=True))

    def name(self, found: Found) -> bool:
        if self.given.kinds and found.kind not in self.given.kinds:
            return False
        if not self.globs.select(found.path):
            return False
        return self.matcher is None or self.matcher.find(found.name.encode("utf-8", "surrogateescape"), 0) is not None

    def entry(self, entry: Entry) -> bool:
        given = self.given
        if (given.min_bytes, given.max_bytes) != (None, None):
            most = entry.size if given.max_bytes is None else given.max_bytes
            if entry.kind is not Kind.FILE or not (given.min_bytes or 0) <= entry.size <= most:
                return False
        if self.after is not None and entry.modified_ns < self.after:
            return False
        return self.before is None or entry.modified_ns < self.before


def _time_ns(field: str, text: str | None) -> int | None:
    if text is None:
        return None
    try:
        return parse_timestamp(text) * 1_000_000
    except ValueError as error:
        raise invalid(field, "wrong_form", f"must be a time such as 2026-01-31T12:00:00Z: {error}") from None
