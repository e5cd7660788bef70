"""The content of files, or parts of it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from hearth.containment import translated
from hearth.content import excerpt as excerpts
from hearth.content.excerpt import Excerpt
from hearth.content.open_text import OpenText, open_text
from hearth.errors import HearthError, SomeFailed, invalid
from hearth.model import Cli, Help, Hidden, Items, Len, PathName, State, model
from hearth.runtime import Runtime
from hearth.services.fs.stat import MAX_PATH

SMALL = 1 << 20  # a file up to this size that is read whole is hashed unasked


@model
class ReadFiles:
    path: Annotated[
        str | None, Len(1, MAX_PATH), PathName(), Cli(argument=True, more="paths", completes="path"), Help("A file.")
    ] = None
    paths: Annotated[
        tuple[Annotated[str, Len(1, MAX_PATH)], ...],
        Len(0, 64),
        PathName(),
        Cli(hidden=True),
        Help("Several files, instead of path."),
    ] = ()
    offset: excerpts.FromOffset = None
    limit: excerpts.MostBytes = None
    lines: excerpts.Lines = None
    head: excerpts.Head = None
    tail: excerpts.Tail = None
    number: excerpts.Number = False
    encoding: excerpts.AsEncoding = None
    replace_invalid: excerpts.ReplaceInvalid = False
    sha256: Annotated[bool, Help("Hash the whole file, however large.")] = False


Path_ = Annotated[str | None, PathName(), Help("The absolute path, links resolved.")]


@model
class FileRead:
    """One of several files."""

    state: Annotated[State, Help("Whether everything that was asked for is here.")] = State.COMPLETED
    path: Path_ = None
    encoding: excerpts.Encoding_ = None
    guessed: excerpts.Guessed = None
    bom: excerpts.Bom = None
    line_ends: excerpts.LineEnds_ = None
    size: excerpts.Size = None
    offset: excerpts.Offset = None
    length: excerpts.Length = None
    next_offset: excerpts.Next = None
    first_line: excerpts.FirstLine = None
    data: excerpts.Data = None
    data_base64: excerpts.Base64 = None
    sha256: excerpts.Sha256 = None


@model
class ReadFailure:
    """A file that could not be read."""

    path: Annotated[str, PathName(), Help("As it was given.")]
    code: Annotated[str, Help("The error's code.")]
    message: Annotated[str, Help("What is wrong.")]


@model
class FilesRead:
    """One file flat, several in `files`. `partial`: cut by a bound, or more follows behind an offset or limit."""

    state: State = State.COMPLETED
    path: Path_ = None
    encoding: excerpts.Encoding_ = None
    guessed: excerpts.Guessed = None
    bom: excerpts.Bom = None
    line_ends: excerpts.LineEnds_ = None
    size: excerpts.Size = None
    offset: excerpts.Offset = None
    length: excerpts.Length = None
    next_offset: excerpts.Next = None
    first_line: excerpts.FirstLine = None
    data: excerpts.Data = None
    data_base64: excerpts.Base64 = None
    sha256: excerpts.Sha256 = None
    files: Annotated[tuple[FileRead, ...], Items(), Help("The files, when several paths were given.")] = ()
    errors: Annotated[tuple[ReadFailure, ...], Hidden(), Help("Those that could not be read.")] = ()


def read(runtime: Runtime, given: ReadFiles) -> FilesRead:
    """Raises `NotFound`, `OutsideRoot`, `IsDirectory`, `NotRegular`, `Encoding`; of several files each on its own."""
    _refuse_contradictions(given)
    left = runtime.settings.max_output_bytes
    if not given.paths:
        one = _read_one(runtime, given.path or "", given, left)
        return FilesRead(**{name: getattr(one, name) for name in FileRead.__slots__})  # type: ignore[attr-defined]
    files: list[FileRead] = []
    errors: list[ReadFailure] = []
    for path in given.paths:
        try:
            files.append(_read_one(runtime, path, given, left))
        except HearthError as error:
            errors.append(ReadFailure(path=path, code=error.code, message=error.message))
        else:
            left -= files[-1].length or 0
    cut = errors or any(file.state is State.PARTIAL for file in files)
    return FilesRead(state=State.PARTIAL if cut else State.COMPLETED, files=tuple(files), errors=tuple(errors))


def _refuse_contradictions(given: ReadFiles) -> None:
    if (given.path is None) is (not given.paths):
        raise invalid("path", "missing", "give one path, or paths")
    excerpts.refuse_contradictions(given)


def _read_one(runtime: Runtime, path: str, given: ReadFiles, bound: int) -> FileRead:
    with _opened(runtime, path, given) as file:
        return _answer(runtime, file, excerpts.excerpt(file, given, bound), given)


@contextmanager
def _opened(runtime: Runtime, path: str, given: ReadFiles) -> Iterator[OpenText]:
    with runtime.containment.locate(path) as place:
        descriptor = place.open_file()
        where = place.path
    try:
        with translated(where):
            size = runtime.host.entry_of(descriptor, where).size
            yield open_text(descriptor, where, size, given.encoding, runtime.cancelled)
    finally:
        os.close(descriptor)


def _answer(runtime: Runtime, file: OpenText, part: Excerpt, given: ReadFiles) -> FileRead:
    return FileRead(
        state=State.PARTIAL if part.cut else State.COMPLETED,
        path=file.path,
        encoding=file.form.encoding,
        guessed=file.form.guessed,
        bom=file.form.bom,
        line_ends=file.form.line_ends,
        size=file.size,
        offset=part.start,
        length=part.end - part.start,
        next_offset=part.end if part.end < file.size else None,
        first_line=part.first_line,
        data=part.shown,
        data_base64=part.base64,
        sha256=_sha256(runtime, file, part, given),
    )


def _sha256(runtime: Runtime, file: OpenText, part: Excerpt, given: ReadFiles) -> str | None:
    whole = part.start <= file.places.begin and part.end == file.size
    if not given.sha256 and not (whole and file.size <= SMALL):
        return None
    from hearth.content.digest import sha256_of

    return sha256_of(file.descriptor, runtime.cancelled)[0]


def stream(runtime: Runtime, given: ReadFiles) -> Iterator[bytes]:
    """The content as it is, in chunks: bytes unless an encoding or line numbers were asked for, then UTF-8."""
    _refuse_contradictions(given)
    paths = given.paths or (given.path or "",)
    failed: list[HearthError] = []
    for path in paths:
        try:
            yield from _stream_one(runtime, path, given)
        except HearthError as error:
            if len(paths) == 1:
                raise
            runtime.notice(f"hearth: {error.message}")
            failed.append(error)
    if failed:
        raise SomeFailed(
            f"{len(failed)} of {len(paths)} files could not be read", codes=[error.code for error in failed]
        )


def _stream_one(runtime: Runtime, path: str, given: ReadFiles) -> Iterator[bytes]:
    with _opened(runtime, path, given) as file:
        yield from excerpts.pieces(file, given)
