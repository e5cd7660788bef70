"""The content of files, or parts of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated

from hearth.errors import HearthError, invalid
from hearth.model import Cli, Ge, Help, Hidden, Items, Le, Len, PathName, Pattern, Raw, State, model
from hearth.runtime import Runtime
from hearth.services.fs.line_places import read_exactly
from hearth.services.fs.open_text import OpenText, border, chunks, decode, decoder_of, fed, numbered, open_text
from hearth.services.fs.parts import Part, end_border, part_of
from hearth.services.fs.stat import MAX_PATH
from hearth.services.fs.text import LineEnds

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
    offset: Annotated[int | None, Ge(0), Help("Begin at this byte; moved back to where its character begins.")] = None
    limit: Annotated[int | None, Ge(1), Help("Bytes to give at most; never half a character.")] = None
    lines: Annotated[
        str | None,
        Pattern(
            "^([1-9][0-9]{0,17}(:([1-9][0-9]{0,17})?)?|:[1-9][0-9]{0,17})$",
            'must be lines such as "10:40", "7", "100:" or ":5"',
        ),
        Help("Lines FIRST:LAST, from 1, both included."),
    ] = None
    head: Annotated[int | None, Ge(0), Le(1 << 40), Help("The first lines.")] = None
    tail: Annotated[int | None, Ge(0), Le(1 << 40), Help("The last lines.")] = None
    number: Annotated[bool, Cli(names=("-N",)), Help("Put its number before each line.")] = False
    encoding: Annotated[
        str | None, Len(1, 40), Help("What the text is stored as; else it is found out. base64 gives the bytes.")
    ] = None
    replace_invalid: Annotated[bool, Help("Show U+FFFD for bytes that are no text, instead of refusing them.")] = False
    sha256: Annotated[bool, Help("Hash the whole file, however large.")] = False


Path_ = Annotated[str | None, PathName(), Help("The absolute path, links resolved.")]
Encoding_ = Annotated[str | None, Help("What the text is stored as: utf-8, utf-16-le, cp1252, ...; or binary.")]
Guessed = Annotated[bool | None, Help("Whether the encoding is a guess by letter frequencies.")]
Bom = Annotated[bool | None, Help("Whether the file begins with a byte order mark.")]
LineEnds_ = Annotated[LineEnds | None, Help("How the lines end, as far as the beginning of the file tells.")]
Size = Annotated[int | None, Help("Bytes of the whole file.")]
Offset = Annotated[int | None, Help("The byte where this part really begins.")]
Length = Annotated[int | None, Help("The bytes of the file that this part stands for.")]
Next = Annotated[int | None, Help("The offset to go on from; null at the end of the file.")]
FirstLine = Annotated[int | None, Help("The number of the first line, where it is known.")]
Data = Annotated[str | None, Raw(), Help("The text, without the byte order mark, its line ends as they are.")]
Base64 = Annotated[str | None, Help("The bytes, where the file is no text or base64 was asked for.")]
Sha256 = Annotated[str | None, Help("Of the whole file, when it was asked for or the file was read whole.")]


@model
class FileRead:
    """One of several files."""

    state: Annotated[State, Help("Whether everything that was asked for is here.")] = State.COMPLETED
    path: Path_ = None
    encoding: Encoding_ = None
    guessed: Guessed = None
    bom: Bom = None
    line_ends: LineEnds_ = None
    size: Size = None
    offset: Offset = None
    length: Length = None
    next_offset: Next = None
    first_line: FirstLine = None
    data: Data = None
    data_base64: Base64 = None
    sha256: Sha256 = None


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
    encoding: Encoding_ = None
    guessed: Guessed = None
    bom: Bom = None
    line_ends: LineEnds_ = None
    size: Size = None
    offset: Offset = None
    length: Length = None
    next_offset: Next = None
    first_line: FirstLine = None
    data: Data = None
    data_base64: Base64 = None
    sha256: Sha256 = None
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
    by_bytes = given.offset is not None or given.limit is not None
    ways = [given.lines is not None, given.head is not None, given.tail is not None, by_bytes]
    if sum(ways) > 1:
        raise invalid("lines", "too_many", "choose one of lines, head, tail, and offset with limit")


def _read_one(runtime: Runtime, path: str, given: ReadFiles, bound: int) -> FileRead:
    with open_text(runtime, path, given) as file:
        part = part_of(file, given, bound)
        if file.form.is_binary:
            raw = read_exactly(file.descriptor, part.start, part.end - part.start)
            return _answer(runtime, file, part, given, raw, None)
        start = border(file, part.start)
        shown, end = decode(file, start, part.end, given)
        if given.number:
            first = part.first_line or file.places.number_at(start)
            shown = "".join(numbered(shown, first, file.form.line_ends))
            part = part._replace(first_line=first)
        part = part._replace(start=start, end=end, cut=part.cut or end < part.end)
        return _answer(runtime, file, part, given, b"", shown)


def _answer(runtime: Runtime, file: OpenText, part: Part, given: ReadFiles, raw: bytes, shown: str | None) -> FileRead:
    follows = part.end < file.size
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
        next_offset=part.end if follows else None,
        first_line=None if shown is None else part.first_line,
        data=shown,
        data_base64=_base64(raw) if shown is None else None,
        sha256=_sha256(runtime, file, part, given),
    )


def _base64(raw: bytes) -> str:
    from base64 import b64encode

    return b64encode(raw).decode("ascii")


def _sha256(runtime: Runtime, file: OpenText, part: Part, given: ReadFiles) -> str | None:
    whole = part.start <= file.places.begin and part.end == file.size
    if not given.sha256 and not (whole and file.size <= SMALL):
        return None
    from hearth.services.fs.digest import sha256_of

    return sha256_of(file.descriptor, runtime.cancelled)[0]


def stream(runtime: Runtime, given: ReadFiles) -> Iterator[bytes]:
    """The content as it is, in chunks: bytes unless an encoding or line numbers were asked for, then UTF-8."""
    _refuse_contradictions(given)
    paths = given.paths or (given.path or "",)
    failed: HearthError | None = None
    for path in paths:
        try:
            yield from _stream_one(runtime, path, given)
        except HearthError as error:
            if failed is not None:
                runtime.notice(f"hearth: {failed.message}")
            failed = error
    if failed is not None:
        raise failed


def _stream_one(runtime: Runtime, path: str, given: ReadFiles) -> Iterator[bytes]:
    with open_text(runtime, path, given) as file:
        part = part_of(file, given, None)
        if given.encoding == "base64":
            yield from _in_base64(chunks(file, part.start, part.end))
        elif file.form.is_binary or (given.encoding is None and not given.number):
            start = part.start if file.form.is_binary else border(file, part.start)
            yield from chunks(file, start, end_border(file, part))
        else:
            yield from _as_utf8(file, part, given)


def _in_base64(chunks: Iterable[bytes]) -> Iterator[bytes]:
    from base64 import b64encode

    held = b""
    for chunk in chunks:
        held += chunk
        ready = len(held) - len(held) % 3
        yield b64encode(held[:ready])
        held = held[ready:]
    yield b64encode(held) + b"\n"


def _as_utf8(file: OpenText, part: Part, given: ReadFiles) -> Iterator[bytes]:
    start = max(border(file, part.start), file.places.begin)
    end = end_border(file, part)
    decoder = decoder_of(file, start, given)
    line = (part.first_line or file.places.number_at(start)) if given.number else 0
    held = ""
    for chunk in chunks(file, start, end):
        shown = fed(decoder, chunk, final=False)
        if not given.number:
            yield shown.encode("utf-8")
            continue
        whole, sign, held = (held + shown).rpartition("\r" if file.form.line_ends is LineEnds.CR else "\n")
        yield "".join(numbered(whole + sign, line, file.form.line_ends)).encode("utf-8")
        line += (whole + sign).count(sign) if sign else 0
    rest = held + fed(decoder, b"", final=True)
    yield ("".join(numbered(rest, line, file.form.line_ends)) if given.number else rest).encode("utf-8")
