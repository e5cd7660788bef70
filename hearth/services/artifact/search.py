"""Search an artifact."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import closing
from typing import Annotated

from hearth import artifacts
from hearth.content.line_places import read_exactly
from hearth.content.matching import Query, matcher, quick_matcher
from hearth.content.occurrences import Bytes, Step, of_bytes, of_lines
from hearth.content.open_text import OpenText, border
from hearth.content.text import BINARY, MARKS, SAMPLE_BYTES
from hearth.errors import Cancelled
from hearth.model import Cli, Ge, Help, Items, Le, Len, State, model
from hearth.runtime import Runtime
from hearth.services.artifact.entry import Id
from hearth.services.artifact.read import opened
from hearth.store.artifacts import Artifact

AROUND = 80  # characters of a preview on each side of the match
SHOWN = 160  # characters of the match itself
LINE_START = 1 << 16  # how far before an offset the beginning of its line is looked for


@model
class SearchArtifact:
    id: Id
    query: Annotated[str, Len(1, 4_096), Cli(argument=True), Help("What to look for, as it stands.")]
    regex: Annotated[
        bool, Cli(names=("-E",)), Help("The query is an expression (RE2), which looks at one line at a time.")
    ] = False
    ignore_case: Annotated[bool, Cli(names=("-i",)), Help("Take upper and lower case for the same.")] = False
    word: Annotated[bool, Cli(names=("-w",)), Help("Find whole words only.")] = False
    encoding: Annotated[
        str | None, Len(1, 40), Help("What the text is stored as; else UTF-8, or as its mark says.")
    ] = None
    offset: Annotated[int | None, Ge(0), Help("Begin at this byte.")] = None
    limit: Annotated[int, Ge(1), Le(1_000), Cli(names=("-n",)), Help("Most matches in one answer.")] = 50
    timeout_ms: Annotated[int, Ge(1), Le(600_000), Help("Stop after this time with what was found.")] = 30_000


@model
class ArtifactMatch:
    """A place in an artifact, in bytes."""

    offset: Annotated[int, Help("Where it begins, as read and range take it.")]
    length: Annotated[int, Help("How long it is.")]
    preview: Annotated[str, Help("The match and up to 80 characters on each side; of a long match its beginning.")]


@model
class ArtifactSearched:
    state: Annotated[State, Help("Partial: a limit or the time ended it.")] = State.COMPLETED
    id: Annotated[str, Help("The artifact's whole id.")]
    matches: Annotated[
        tuple[ArtifactMatch, ...], Items(columns=("offset", "preview")), Help("In order; none overlaps another.")
    ]
    size: Annotated[int, Help("Bytes of the whole artifact.")]
    encoding: Annotated[str, Help("What its text was taken for.")]
    stopped: Annotated[str | None, Help("The bound that ended it: limit, time.")] = None
    next_offset: Annotated[int | None, Help("The offset to go on from; null when all was searched.")] = None


def search(runtime: Runtime, given: SearchArtifact) -> ArtifactSearched:
    """Raises `NotFound`, `ArtifactMissing`, `ArtifactDamaged`, `InvalidPattern`, `RegexEngineMissing`."""
    artifact = artifacts.get(runtime, given.id)
    query = Query(given.query, given.regex, given.ignore_case, given.word)
    if given.regex:
        matcher(query)  # a wrong expression is refused whatever the artifact holds
    with opened(runtime, artifact, _encoding(runtime, artifact, given)) as file:
        found, stopped, reached = _collect(runtime, file, _steps(runtime, artifact, file, query, given), given)
    return ArtifactSearched(
        state=State.PARTIAL if stopped else State.COMPLETED,
        id=artifact.id,
        matches=tuple(found),
        size=artifact.size,
        encoding=file.form.encoding,
        stopped=stopped,
        next_offset=reached if stopped else None,
    )


def _collect(
    runtime: Runtime, file: OpenText, steps: Generator[Step, None, None], given: SearchArtifact
) -> tuple[list[ArtifactMatch], str | None, int]:
    """The matches, the bound that ended it, and how far it came."""
    deadline = runtime.clock.monotonic() + given.timeout_ms / 1000
    found: list[ArtifactMatch] = []
    reached = given.offset or 0
    with closing(steps):
        for step in steps:
            if step.offset is not None and len(found) == given.limit:
                return found, "limit", reached
            if step.offset is not None:
                found.append(_match(file, step.offset, step.length))
            reached = step.reached
            runtime.progress(f"{reached:,} bytes")
            if runtime.cancelled.is_set():
                raise Cancelled("the call was cancelled")
            if runtime.clock.monotonic() >= deadline and reached < file.size:
                return found, "time", reached
    if runtime.cancelled.is_set():
        raise Cancelled("the call was cancelled")
    return found, None, reached


def _encoding(runtime: Runtime, artifact: Artifact, given: SearchArtifact) -> str | None:
    """What the text is taken for; None where its marks and its NULs may tell more than UTF-8."""
    named = given.encoding or artifact.encoding
    if named is not None:
        return "base64" if named == BINARY else named
    with artifacts.opened(runtime, artifact) as descriptor:
        head = os.read(descriptor, SAMPLE_BYTES)
    return None if b"\0" in head or head.startswith(tuple(mark for mark, _ in MARKS)) else "utf-8"


def _steps(
    runtime: Runtime, artifact: Artifact, file: OpenText, query: Query, given: SearchArtifact
) -> Generator[Step, None, None]:
    encoding, begin = file.form.encoding, file.places.begin
    wide = {"utf-16": 2, "utf-32": 4}.get(encoding[:6])
    plain = not (query.regex or query.ignore_case or query.word)
    start = max(begin, border(file, min(given.offset or 0, file.size)))
    if plain and wide:
        return of_bytes(file.descriptor, query.text.encode(encoding, "surrogatepass"), start, width=wide, begin=begin)
    if encoding not in ("utf-8", "ascii", BINARY):
        from hearth.content.transcoded import Transcoded

        return of_lines(Transcoded(file.descriptor, encoding, _line_start(file, start)), quick_matcher(query), start)
    start = given.offset or 0
    if plain:
        return _literal(runtime, artifact, file, query.text.encode("utf-8", "surrogateescape"), start, given)
    return of_lines(Bytes(file.descriptor, _line_start(file, start)), quick_matcher(query), start)


def _literal(
    runtime: Runtime, artifact: Artifact, file: OpenText, wanted: bytes, start: int, given: SearchArtifact
) -> Generator[Step, None, None]:
    from hearth.content.scouting import of_bytes_quickly

    with artifacts.opened(runtime, artifact) as other:
        seconds = given.timeout_ms / 1000
        yield from of_bytes_quickly(
            file.descriptor, other, file.size, wanted, start, seconds=seconds, cancelled=runtime.cancelled
        )


def _line_start(file: OpenText, offset: int) -> int:
    """Where the line of an offset begins, as far as it is near."""
    near = max(file.places.begin, offset - LINE_START)
    near = near if file.form.is_binary else border(file, near)
    before = read_exactly(file.descriptor, near, offset - near)
    end = "\n".encode("utf-8" if file.form.is_binary else file.form.encoding)
    at = before.rfind(end)
    while at >= 0 and (near + at - file.places.begin) % len(end):
        at = before.rfind(end, 0, at + len(end) - 1)
    return near if at < 0 else near + at + len(end)


def _match(file: OpenText, offset: int, length: int) -> ArtifactMatch:
    before = _text(file, max(file.places.begin, offset - 4 * AROUND), offset)[-AROUND:]
    inside = _text(file, offset, offset + min(length, 4 * SHOWN))[:SHOWN]
    after = _text(file, offset + length, min(file.size, offset + length + 4 * AROUND))[:AROUND]
    whole = length <= 4 * SHOWN
    return ArtifactMatch(offset=offset, length=length, preview=before + inside + (after if whole else ""))


def _text(file: OpenText, start: int, end: int) -> str:
    """The characters between two places; one that is cut by them is left out, or at the beginning is whole."""
    if file.form.is_binary:
        return read_exactly(file.descriptor, start, end - start).decode("utf-8", "replace")
    start, end = border(file, start), border(file, end) if end < file.size else end
    return read_exactly(file.descriptor, start, end - start).decode(file.form.encoding, "replace")
