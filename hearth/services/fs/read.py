"""The content of files, or parts of it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Annotated, NamedTuple

from hearth.containment import translated
from hearth.errors import Encoding, HearthError, invalid
from hearth.model import Cli, Ge, Help, Hidden, Items, Le, Len, PathName, Pattern, Raw, State, model
from hearth.runtime import Runtime
from hearth.services.fs import text
from hearth.services.fs.line_places import LinePlaces, read_exactly
from hearth.services.fs.stat import MAX_PATH
from hearth.services.fs.text import BINARY, LineEnds, TextForm

SMALL = 1 << 20  # a file up to this size that is read whole is hashed unasked
CHUNK = 1 << 20
MARGIN = 1 << 16  # where a character border is looked for


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


class _Opened(NamedTuple):
    """An open file, and how its text is stored."""

    descriptor: int
    path: str
    size: int
    form: TextForm
    places: LinePlaces


@contextmanager
def _open(runtime: Runtime, path: str, given: ReadFiles) -> Iterator[_Opened]:
    with runtime.containment.locate(path) as place:
        descriptor = place.open_file()
        where = place.path
    try:
        with translated(where):
            size = runtime.host.entry_of(descriptor, where).size
            form = _form(read_exactly(descriptor, 0, text.SAMPLE_BYTES), size, given)
            yield _Opened(descriptor, where, size, form, LinePlaces(descriptor, size, form, runtime.cancelled))
    finally:
        os.close(descriptor)


def _form(sample: bytes, size: int, given: ReadFiles) -> TextForm:
    whole = size <= len(sample)
    if given.encoding is None:
        return text.detect(sample, whole=whole)
    if given.encoding == "base64":
        return TextForm(BINARY, False, LineEnds.NONE)
    encoding, _ = text.named(given.encoding)
    mark = text.mark_of(encoding)
    bom = bool(mark) and sample.startswith(mark)
    shown = text.Decoder(encoding, errors="replace").feed(sample[len(mark) if bom else 0 :])
    return TextForm(encoding, bom, text.line_ends(shown, whole=whole))


class _Part(NamedTuple):
    """What to give of a file: the bytes from `start` to `end`; `cut` when a bound ended it too early."""

    start: int
    end: int
    cut: bool
    first_line: int | None


def _part(file: _Opened, given: ReadFiles, bound: int | None) -> _Part:
    """The part that was asked for, of at most `bound` bytes."""
    if given.tail is not None:
        return _tail(file, given.tail, bound)
    if given.head is not None or given.lines is not None:
        first, last = (1, given.head) if given.head is not None else _numbers(given.lines or "")
        return _lines(file, first, last, bound)
    start = min(given.offset or 0, file.size)
    end = file.size if given.limit is None else min(file.size, start + given.limit)
    end = end if bound is None else min(end, start + bound)
    return _Part(start, end, end < file.size, 1 if start <= file.places.begin else None)


def _tail(file: _Opened, count: int, bound: int | None) -> _Part:
    lowest = file.places.begin if bound is None else max(file.places.begin, file.size - bound)
    start = min(file.places.tail(count, lowest), file.size) if count else file.size
    cut = start == lowest > file.places.begin and file.places.tail(count, max(0, lowest - MARGIN)) < lowest
    return _Part(start, file.size, cut, None)


def _numbers(lines: str) -> tuple[int, int | None]:
    first, colon, last = lines.partition(":")
    if not colon:
        return int(first), int(first)
    numbers = int(first or 1), int(last) if last else None
    if numbers[1] is not None and numbers[1] < numbers[0]:
        raise invalid("lines", "wrong_form", "the last line must not stand before the first")
    return numbers


def _lines(file: _Opened, first: int, last: int | None, bound: int | None) -> _Part:
    start = file.places.after(file.places.begin, first - 1, file.size)
    # One byte more than is given tells whether the bound cut something.
    stop = file.size if bound is None else min(file.size, start + bound + 1)
    end = stop if last is None else file.places.after(start, last - first + 1, stop)
    cut = bound is not None and end - start > bound
    return _Part(start, start + bound if cut and bound is not None else end, cut, first)


def _read_one(runtime: Runtime, path: str, given: ReadFiles, bound: int) -> FileRead:
    with _open(runtime, path, given) as file:
        part = _part(file, given, bound)
        if file.form.is_binary:
            raw = read_exactly(file.descriptor, part.start, part.end - part.start)
            return _answer(runtime, file, part, given, raw, None)
        start = _border(file, part.start)
        shown, end = _decode(file, start, part.end, given)
        if given.number:
            first = part.first_line or file.places.number_at(start)
            shown = "".join(_numbered(shown, first, file.form.line_ends))
            part = part._replace(first_line=first)
        part = part._replace(start=start, end=end, cut=part.cut or end < part.end)
        return _answer(runtime, file, part, given, b"", shown)


def _answer(runtime: Runtime, file: _Opened, part: _Part, given: ReadFiles, raw: bytes, shown: str | None) -> FileRead:
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


def _sha256(runtime: Runtime, file: _Opened, part: _Part, given: ReadFiles) -> str | None:
    whole = part.start <= file.places.begin and part.end == file.size
    if not given.sha256 and not (whole and file.size <= SMALL):
        return None
    from hearth.services.fs.digest import sha256_of

    return sha256_of(file.descriptor, runtime.cancelled)[0]


def _border(file: _Opened, at: int) -> int:
    """Where the character begins that the byte `at` belongs to; the whole file begins at 0, mark included."""
    begin = file.places.begin
    if at <= begin:
        return at if at in (0, begin) else 0
    base = max(begin, at - MARGIN)
    base -= (base - begin) % 4
    window = read_exactly(file.descriptor, base, at - base + 4)
    return base + text.character_start(window, at - base, file.form.encoding, base=base - begin)


def _decode(file: _Opened, start: int, end: int, given: ReadFiles) -> tuple[str, int]:
    """The text from a character border to the last whole character before `end`, but at least one."""
    after_mark = max(start, file.places.begin)
    raw = read_exactly(file.descriptor, after_mark, end - after_mark)
    decoder = _decoder(file, after_mark, given)
    shown = _fed(decoder, raw, final=end >= file.size)
    while not shown and raw and decoder.offset < file.size and end < file.size:
        more = read_exactly(file.descriptor, end, 1)
        end += 1
        shown = _fed(decoder, more, final=end >= file.size)
    return shown, max(decoder.offset, min(end, after_mark))


def _decoder(file: _Opened, offset: int, given: ReadFiles) -> text.Decoder:
    return text.Decoder(file.form.encoding, offset=offset, errors="replace" if given.replace_invalid else "strict")


def _fed(decoder: text.Decoder, raw: bytes, *, final: bool) -> str:
    try:
        return decoder.feed(raw, final=final)
    except Encoding as error:
        error.hint = "name the encoding, take the bytes with encoding base64, or pass replace_invalid"
        raise


def _numbered(shown: str, first: int, ends: LineEnds) -> Iterator[str]:
    end = "\r" if ends is LineEnds.CR else "\n"
    pieces = shown.split(end)
    last = pieces.pop()
    for number, line in enumerate(pieces, first):
        yield f"{number:6}\t{line}{end}"
    if last:
        yield f"{first + len(pieces):6}\t{last}"


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
    with _open(runtime, path, given) as file:
        part = _part(file, given, None)
        if given.encoding == "base64":
            yield from _in_base64(_chunks(file, part.start, part.end))
        elif file.form.is_binary or (given.encoding is None and not given.number):
            start = part.start if file.form.is_binary else _border(file, part.start)
            yield from _chunks(file, start, _end_border(file, part))
        else:
            yield from _as_utf8(file, part, given)


def _end_border(file: _Opened, part: _Part) -> int:
    return part.end if file.form.is_binary or part.end >= file.size else _border(file, part.end)


def _chunks(file: _Opened, start: int, end: int) -> Iterator[bytes]:
    position = start
    # A file that grew since, or one of /proc without a size, is given to its end.
    while piece := read_exactly(file.descriptor, position, CHUNK if end >= file.size else min(CHUNK, end - position)):
        yield piece
        position += len(piece)


def _in_base64(chunks: Iterable[bytes]) -> Iterator[bytes]:
    from base64 import b64encode

    held = b""
    for chunk in chunks:
        held += chunk
        ready = len(held) - len(held) % 3
        yield b64encode(held[:ready])
        held = held[ready:]
    yield b64encode(held) + b"\n"


def _as_utf8(file: _Opened, part: _Part, given: ReadFiles) -> Iterator[bytes]:
    start = max(_border(file, part.start), file.places.begin)
    end = _end_border(file, part)
    decoder = _decoder(file, start, given)
    line = (part.first_line or file.places.number_at(start)) if given.number else 0
    held = ""
    for chunk in _chunks(file, start, end):
        shown = _fed(decoder, chunk, final=False)
        if not given.number:
            yield shown.encode("utf-8")
            continue
        whole, sign, held = (held + shown).rpartition("\r" if file.form.line_ends is LineEnds.CR else "\n")
        yield "".join(_numbered(whole + sign, line, file.form.line_ends)).encode("utf-8")
        line += (whole + sign).count(sign) if sign else 0
    rest = held + _fed(decoder, b"", final=True)
    yield ("".join(_numbered(rest, line, file.form.line_ends)) if given.number else rest).encode("utf-8")
