"""Words in the files of a tree, or in their names."""

from __future__ import annotations

import os
from collections import Counter
from enum import StrEnum
from typing import Annotated

from hearth.content import scan
from hearth.content.matching import Matcher, Query, matcher
from hearth.content.scan import LineHit, Source
from hearth.errors import invalid
from hearth.model import Cli, Ge, Help, Items, Le, Len, PathName, State, model
from hearth.platforms.base import Kind
from hearth.runtime import Runtime
from hearth.services.fs import engines
from hearth.services.fs.globs import Globs
from hearth.services.fs.stat import MAX_PATH
from hearth.services.fs.treewalk import open_tree, shown_path
from hearth.services.fs.types import globs_of
from hearth.services.fs.walk import Budget

MAX_COUNT = 1_000


class Where(StrEnum):
    CONTENT = "content"
    NAME = "name"


@model
class SearchFiles:
    query: Annotated[str, Len(0, 4096), Cli(argument=True), Help("What to look for, as it stands.")]
    path: Annotated[
        str, Len(1, MAX_PATH), PathName(), Cli(argument=True, completes="path"), Help("A directory or file.")
    ] = "."
    in_: Annotated[Where, Help("Look into files, or at their names.")] = Where.CONTENT
    regex: Annotated[bool, Cli(names=("-E",)), Help("The query is an expression (RE2).")] = False
    ignore_case: Annotated[bool, Cli(names=("-i",)), Help("Take upper and lower case for the same.")] = False
    word: Annotated[bool, Cli(names=("-w",)), Help("Find whole words only.")] = False
    context: Annotated[int, Ge(0), Le(50), Cli(names=("-C",)), Help("Lines to show before and after.")] = 0
    globs: Annotated[
        tuple[Annotated[str, Len(1, 4096)], ...],
        Len(0, 64),
        Cli(names=("-g", "--glob")),
        Help("Which files: `*` stays in a level, `**` crosses, `!` takes out; without a slash at any depth."),
    ] = ()
    types: Annotated[
        tuple[Annotated[str, Len(1, 32)], ...],
        Len(0, 32),
        Cli(names=("-t", "--type")),
        Help("Kinds of files, such as py, js, md."),
    ] = ()
    hidden: Annotated[bool, Help("Look into names that start with a dot.")] = False
    ignored: Annotated[bool, Help("Look into what .gitignore files leave out.")] = False
    binary: Annotated[bool, Help("Look into files that are no text.")] = False
    max_count: Annotated[int, Ge(1), Le(100_000), Cli(names=("-m",)), Help("Most lines of one file.")] = MAX_COUNT
    limit: Annotated[int, Ge(1), Le(100_000), Cli(names=("-n",)), Help("Most lines in one answer.")] = 200
    max_output_bytes: Annotated[
        int | None, Ge(1_024), Le(64 * 1024 * 1024), Help("Most bytes of text; else the setting of that name.")
    ] = None
    max_file_bytes: Annotated[int, Ge(1), Le(1 << 50), Help("Leave out larger files.")] = 1 << 30
    max_entries: Annotated[int, Ge(1), Le(100_000_000), Help("Look at so many names at most.")] = 10_000_000
    timeout_ms: Annotated[int, Ge(1), Le(600_000), Help("Stop after this time with what was found.")] = 30_000


@model
class SearchMatch:
    """A line that matches; of a name, only the path."""

    path: Annotated[str, PathName(), Help("The path, as the next call can use it.")]
    line: Annotated[int | None, Help("From 1.")] = None
    column: Annotated[int | None, Help("Characters from 1; null in a line too long to count.")] = None
    offset: Annotated[int | None, Help("The match's place in the file, in bytes.")] = None
    text: Annotated[str | None, Help("The line, or the part of a long one around the match.")] = None
    cut: Annotated[bool, Help("Whether the line is longer than the text.")] = False
    before: Annotated[tuple[str, ...], Help("The lines before it, when context was asked for.")] = ()
    after: Annotated[tuple[str, ...], Help("The lines after it.")] = ()


@model
class SearchResult:
    state: State = State.COMPLETED
    path: Annotated[str, PathName(), Help("The absolute path that was searched.")]
    matches: Annotated[
        tuple[SearchMatch, ...],
        Items(("path", "line", "text", "before", "after")),
        Help("By path and line; when a bound ends the search, any of those that there are."),
    ]
    truncated: Annotated[bool, Help("Whether there may be more.")]
    stopped: Annotated[
        str | None, Help("The bound that ended it: limit, bytes, entries, time, or max_count where it was not given.")
    ] = None
    engine: Annotated[str, Help("What proposed the files: ripgrep or walk.")]
    skipped: Annotated[
        dict[str, int],
        Help("What was left out, by reason; `changed`: files that were no longer what was proposed."),
    ]


def search(runtime: Runtime, given: SearchFiles) -> SearchResult:
    """Raises `NotFound`, `OutsideRoot`, `InvalidPattern`, `RegexEngineMissing`."""
    query = Query(given.query, given.regex, given.ignore_case, given.word)
    if given.in_ is Where.CONTENT:
        _require_one_line(query)
    call = Call(runtime, given, matcher(query))
    with runtime.containment.locate(given.path) as place:
        if place.found.kind is not Kind.DIRECTORY:
            descriptor = place.open_file()
            call.look_into(descriptor, shown_path(runtime, place.path), max_count=given.max_count)
            return call.result(place.path, "walk")
    with open_tree(runtime, given.path, call.budget, hidden=given.hidden, ignored=given.ignored) as tree:
        tree.walk.prune = call.globs.prune if call.globs else None
        if given.in_ is Where.NAME:
            engines.names(tree, call)
            engine = "walk"
        else:
            engine = "ripgrep" if engines.proposed(tree, call, query) else engines.walked(tree, call)
        call.skipped += tree.walk.skipped
        return call.result(tree.place.path, engine)


def _require_one_line(query: Query) -> None:
    """Lines are looked at one by one, so that what reaches over an end of line would silently never be found."""
    is_long = "\n" in query.text
    if query.regex and not is_long:
        import re

        without_classes = re.sub(r"\\\\|\[\^?\]?(?:\\.|[^\]])*\]", "", query.text)
        is_long = "\\n" in without_classes
    if is_long:
        hint = "search for one line of it, with --context for the lines around"
        raise invalid(
            "query", "wrong_form", "reaches over an end of line, and one line is looked at at a time", hint=hint
        )


class Call:
    """What one call found so far, and how much it may still find."""

    def __init__(self, runtime: Runtime, given: SearchFiles, look_for: Matcher) -> None:
        self.runtime = runtime
        self.given = given
        self.matcher = look_for
        case_sensitive = runtime.host.case_sensitive
        self.type_globs = globs_of(given.types)
        self.globs = Globs(given.globs, case_sensitive=case_sensitive)
        self.types = Globs(self.type_globs, case_sensitive=case_sensitive)
        self.budget = Budget(
            runtime.clock,
            runtime.cancelled,
            timeout_ms=given.timeout_ms,
            entries=given.max_entries,
            progress=runtime.progress,
        )
        self.bytes_left = 0
        self.matches: list[SearchMatch] = []
        self.skipped: Counter[str] = Counter()
        self.start_again()

    def start_again(self) -> None:
        """Forget what was found."""
        self.bytes_left = self.given.max_output_bytes or self.runtime.settings.max_output_bytes
        self.matches.clear()
        self.skipped.clear()

    def selects(self, path: str) -> bool:
        return self.globs.select(path) and self.types.select(path)

    def add(self, match: SearchMatch) -> bool:
        """Keep a match; whether there is room for more."""
        if len(self.matches) >= self.given.limit:
            self.budget.stopped = "limit"
            return False
        self.bytes_left -= _weight(match)
        if self.bytes_left < 0 and self.matches:
            self.budget.stopped = "bytes"
            return False
        self.matches.append(match)
        return True

    def add_name(self, path: str) -> bool:
        """Keep a name; whether there is room for more."""
        return self.add(SearchMatch(path=path))

    def look_into(self, descriptor: int, path: str, *, max_count: int, line: int = 1, offset: int = 0) -> int:
        """Take the matches of an open file from a line on, close it, and say how many there were."""
        try:
            if self.runtime.host.entry_of(descriptor, path).size > self.given.max_file_bytes:
                self.skipped["too_large"] += 1
                return -1
            return self._take(descriptor, path, max_count, line, offset)
        except scan.Binary:
            self.skipped["binary"] += 1
        except scan.Wide:
            self.skipped["too_large"] += 1
        except OSError:
            self.skipped["unreadable"] += 1
        finally:
            os.close(descriptor)
        return -1

    def _take(self, descriptor: int, path: str, max_count: int, line: int, offset: int) -> int:
        source, head = scan.open_source(descriptor, binary=self.given.binary)
        if isinstance(source, scan.TextBytes):
            line, offset = 1, 0  # what was proposed counts bytes of another encoding
        count = 0
        for hit in scan.hits(source, head, self.matcher, start=offset, number=line):
            if not self.budget.allows():
                break
            if hit is None:
                continue
            if count == max_count:
                self.skipped["max_count"] += 1
                break
            if not self.add(_match(path, source, hit, self.given.context)):
                break
            count += 1
        return count

    def result(self, path: str, engine: str) -> SearchResult:
        stopped = self.budget.stopped
        if stopped is None and self.skipped["max_count"] and self.given.max_count == MAX_COUNT:
            stopped = "max_count"  # which nobody asked for
        return SearchResult(
            state=State.PARTIAL if stopped else State.COMPLETED,
            path=path,
            matches=tuple(sorted(self.matches, key=lambda match: (match.path, match.line or 0))),
            truncated=stopped is not None,
            stopped=stopped,
            engine=engine,
            skipped=dict(+self.skipped),
        )


def _weight(match: SearchMatch) -> int:
    return sum(map(len, (match.path, match.text or "", *match.before, *match.after))) + 64


MAX_TEXT = 500  # characters of a line, as bytes at first


def _match(path: str, source: Source, hit: LineHit, context: int) -> SearchMatch:
    start = hit.match[0]
    offset = hit.start + start
    before, after = scan.around(source, hit, context, context) if context else ([], [])
    first = 0 if len(hit.line) <= MAX_TEXT else max(0, min(start - MAX_TEXT // 4, len(hit.line) - MAX_TEXT))
    return SearchMatch(
        path=path,
        line=hit.number,
        column=len(_text(hit.line[:start])) + 1 if hit.whole and start < scan.OVERLAP else None,
        offset=source.place_of(offset) if isinstance(source, scan.TextBytes) else offset,
        text=_text(_whole_characters(hit.line, first, first + MAX_TEXT)),
        cut=len(hit.line) > MAX_TEXT or not hit.whole,
        before=tuple(_text(_whole_characters(line, 0, MAX_TEXT)) for line in before),
        after=tuple(_text(_whole_characters(line, 0, MAX_TEXT)) for line in after),
    )


def _whole_characters(line: bytes, start: int, end: int) -> bytes:
    """A part of a line of UTF-8 whose borders are those of characters."""
    while start and start < len(line) and line[start] & 0xC0 == 0x80:
        start += 1
    while end < len(line) and end > start and line[end] & 0xC0 == 0x80:
        end -= 1
    return line[start:end]


def _text(line: bytes) -> str:
    return line.decode("utf-8", "replace")
