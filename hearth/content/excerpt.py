"""A part of a text or of bytes, as every family answers it: what may be asked for, and what is told about it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, NamedTuple

from hearth.content.line_places import read_exactly
from hearth.content.open_text import OpenText, Wanted, WantedPart, border, chunks, decode, decoder_of, fed, numbered
from hearth.content.parts import Part, end_border, part_of
from hearth.content.text import LineEnds
from hearth.errors import invalid
from hearth.model import Cli, Ge, Help, Le, Len, Pattern, Raw

# What an input asks for.

FromOffset = Annotated[int | None, Ge(0), Help("Begin at this byte; moved back to where its character begins.")]
MostBytes = Annotated[int | None, Ge(1), Help("Bytes to give at most; never half a character.")]
Lines = Annotated[
    str | None,
    Pattern(
        "^([1-9][0-9]{0,17}(:([1-9][0-9]{0,17})?)?|:[1-9][0-9]{0,17})$",
        'must be lines such as "10:40", "7", "100:" or ":5"',
    ),
    Help("Lines FIRST:LAST, from 1, both included."),
]
Head = Annotated[int | None, Ge(0), Le(1 << 40), Help("The first lines.")]
Tail = Annotated[int | None, Ge(0), Le(1 << 40), Help("The last lines.")]
Number = Annotated[bool, Cli(names=("-N",)), Help("Put its number before each line.")]
AsEncoding = Annotated[
    str | None, Len(1, 40), Help("What the text is stored as; else it is found out. base64 gives the bytes.")
]
ReplaceInvalid = Annotated[bool, Help("Show U+FFFD for bytes that are no text, instead of refusing them.")]

# What an answer tells.

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


class Excerpt(NamedTuple):
    """The bytes from `start` to `end`, as text in `shown`, else in `raw`. `cut`: a bound ended it too early."""

    start: int
    end: int
    cut: bool
    first_line: int | None
    shown: str | None
    raw: bytes

    @property
    def base64(self) -> str | None:
        return _base64(self.raw) if self.shown is None else None


def refuse_contradictions(given: WantedPart) -> None:
    """Raise `InvalidInput` where several parts are asked for at once."""
    by_bytes = given.offset is not None or given.limit is not None
    ways = [given.lines is not None, given.head is not None, given.tail is not None, by_bytes]
    if sum(ways) > 1:
        raise invalid("lines", "too_many", "choose one of lines, head, tail, and offset with limit")


def excerpt(file: OpenText, given: Wanted, bound: int) -> Excerpt:
    """The part that was asked for, of about `bound` bytes at most. Raises `Encoding`, `InvalidInput`, `Cancelled`."""
    part = part_of(file, given, bound)
    if file.form.is_binary:
        raw = read_exactly(file.descriptor, part.start, part.end - part.start)
        return Excerpt(part.start, part.end, part.cut, None, None, raw)
    start = border(file, part.start)
    shown, end = decode(file, start, part.end, given)
    first = part.first_line
    if given.number:
        first = first or file.places.number_at(start)
        shown = "".join(numbered(shown, first, file.form.line_ends))
    return Excerpt(start, end, part.cut or end < part.end, first, shown, b"")


def _base64(raw: bytes) -> str:
    from base64 import b64encode

    return b64encode(raw).decode("ascii")


def pieces(file: OpenText, given: Wanted) -> Iterator[bytes]:
    """The part that was asked for, whole, however long: bytes as they are unless an encoding or line numbers were
    asked for, then UTF-8. Raises `Encoding`, `InvalidInput`, `Cancelled`."""
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


def _as_utf8(file: OpenText, part: Part, given: Wanted) -> Iterator[bytes]:
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
