"""A text file, open: its form, its characters, its bytes."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Event
from typing import NamedTuple, Protocol

from hearth.content import text
from hearth.content.line_places import LinePlaces, read_exactly
from hearth.content.text import BINARY, LineEnds, TextForm
from hearth.errors import Encoding

CHUNK = 1 << 20
MARGIN = 1 << 16  # where a character border is looked for


class WantedPart(Protocol):
    """Which part of a content to give: fields of an input. At most one of lines, head, tail, and offset with limit is
    there."""

    @property
    def offset(self) -> int | None: ...
    @property
    def limit(self) -> int | None: ...
    @property
    def lines(self) -> str | None: ...
    @property
    def head(self) -> int | None: ...
    @property
    def tail(self) -> int | None: ...


class Wanted(WantedPart, Protocol):
    """And how to give it."""

    @property
    def number(self) -> bool: ...
    @property
    def encoding(self) -> str | None: ...
    @property
    def replace_invalid(self) -> bool: ...


class OpenText(NamedTuple):
    """An open file, and how its text is stored."""

    descriptor: int
    path: str
    size: int
    form: TextForm
    places: LinePlaces


def open_text(descriptor: int, path: str, size: int, encoding: str | None, cancelled: Event) -> OpenText:
    """An open file as text of an encoding, or, with None, of the one that it seems to have; "base64" stands for
    bytes. `path` is for messages. Raises `InvalidInput` for what is no encoding, `OSError`."""
    form = _form(read_exactly(descriptor, 0, text.SAMPLE_BYTES), size, encoding)
    return OpenText(descriptor, path, size, form, LinePlaces(descriptor, size, form, cancelled))


def _form(sample: bytes, size: int, encoding: str | None) -> TextForm:
    whole = size <= len(sample)
    if encoding is None:
        return text.detect(sample, whole=whole)
    if encoding == "base64":
        return TextForm(BINARY, False, LineEnds.NONE)
    encoding, _ = text.named(encoding)
    mark = text.mark_of(encoding)
    bom = bool(mark) and sample.startswith(mark)
    shown = text.Decoder(encoding, errors="replace").feed(sample[len(mark) if bom else 0 :])
    return TextForm(encoding, bom, text.line_ends(shown, whole=whole))


def border(file: OpenText, at: int) -> int:
    """Where the character begins that the byte `at` belongs to; the whole file begins at 0, mark included."""
    begin = file.places.begin
    if at <= begin:
        return at if at in (0, begin) else 0
    base = max(begin, at - MARGIN)
    base -= (base - begin) % 4
    window = read_exactly(file.descriptor, base, at - base + 4)
    return base + text.character_start(window, at - base, file.form.encoding, base=base - begin)


def decode(file: OpenText, start: int, end: int, given: Wanted) -> tuple[str, int]:
    """The text from a character border to the last whole character before `end`, but at least one."""
    after_mark = max(start, file.places.begin)
    raw = read_exactly(file.descriptor, after_mark, end - after_mark)
    decoder = decoder_of(file, after_mark, given)
    shown = fed(decoder, raw, final=end >= file.size)
    while not shown and raw and decoder.offset < file.size and end < file.size:
        more = read_exactly(file.descriptor, end, 1)
        end += 1
        shown = fed(decoder, more, final=end >= file.size)
    return shown, max(decoder.offset, min(end, after_mark))


def decoder_of(file: OpenText, offset: int, given: Wanted) -> text.Decoder:
    return text.Decoder(file.form.encoding, offset=offset, errors="replace" if given.replace_invalid else "strict")


def fed(decoder: text.Decoder, raw: bytes, *, final: bool) -> str:
    try:
        return decoder.feed(raw, final=final)
    except Encoding as error:
        error.hint = "name the encoding, take the bytes with encoding base64, or pass replace_invalid"
        raise


def numbered(shown: str, first: int, ends: LineEnds) -> Iterator[str]:
    end = "\r" if ends is LineEnds.CR else "\n"
    pieces = shown.split(end)
    last = pieces.pop()
    for number, line in enumerate(pieces, first):
        yield f"{number:6}\t{line}{end}"
    if last:
        yield f"{first + len(pieces):6}\t{last}"


def chunks(file: OpenText, start: int, end: int) -> Iterator[bytes]:
    position = start
    # A file that grew since, or one of /proc without a size, is given to its end.
    while piece := read_exactly(file.descriptor, position, CHUNK if end >= file.size else min(CHUNK, end - position)):
        yield piece
        position += len(piece)
