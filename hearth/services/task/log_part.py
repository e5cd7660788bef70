"""The part of an output that is asked for, as text that tells where it stood."""

from __future__ import annotations

from threading import Event
from typing import Annotated, NamedTuple

from hearth.content.line_places import LinePlaces
from hearth.content.open_text import OpenText
from hearth.content.parts import Part, part_of
from hearth.content.printed import Note, text_of
from hearth.content.text import LineEnds, TextForm
from hearth.engine.transcript import Transcript
from hearth.errors import Cancelled
from hearth.model import Help, model


class Asked(NamedTuple):
    """Lines, or bytes by their offset in what was printed."""

    offset: int | None = None
    limit: int | None = None
    lines: str | None = None
    head: int | None = None
    tail: int | None = None


class Reading(NamedTuple):
    """How outputs are read: in an encoding that was stated, else UTF-8 or the console's."""

    stated: str | None
    console: str | None
    cancelled: Event


@model
class LogFacts:
    """Where a text of an output stood. Offsets count all that was printed."""

    size_bytes: Annotated[int, Help("All that was printed so far, in bytes.")]
    dropped: Annotated[int, Help("Bytes of the middle that are not kept, of too long an output.")]
    offset: Annotated[int, Help("The byte where the text really begins.")]
    length: Annotated[int, Help("The bytes that it stands for.")]
    next_offset: Annotated[int | None, Help("The offset to go on from; null at the end of an output that is over.")]
    first_line: Annotated[int | None, Help("The number of the first line, where it is known.")]
    encoding: Annotated[str | None, Help("How the text was read; null for what is no text.")]
    encoding_note: Annotated[Note | None, Help("Why the text is not exactly what was printed.")]
    artifact: Annotated[str | None, Help("The artifact that holds what is kept, once the run has ended.")]


class LogPart(NamedTuple):
    text: str
    facts: LogFacts
    cut: bool  # a bound ended it too early, or something is missing behind it


class _Places(LinePlaces):
    """Where the lines of a transcript begin, told as indices."""

    def __init__(self, transcript: Transcript, form: TextForm, cancelled: Event) -> None:
        super().__init__(-1, transcript.size, form, cancelled)
        self._transcript = transcript

    def _block(self, offset: int, length: int) -> bytes:
        if self._cancelled.is_set():
            raise Cancelled("the call was cancelled")
        return self._transcript.read(offset, length)


def indices(transcript: Transcript, asked: Asked, reading: Reading, bound: int | None) -> Part:
    """Which bytes are meant, as indices. Raises `Moved`, `Cancelled`, `InvalidInput`."""
    form = TextForm(reading.stated or "utf-8", False, LineEnds.LF)
    file = OpenText(-1, "", transcript.size, form, _Places(transcript, form, reading.cancelled))
    index = None if asked.offset is None else transcript.index_of(asked.offset)
    return part_of(file, asked._replace(offset=index), bound)


def log_part(
    transcript: Transcript, asked: Asked, reading: Reading, bound: int, *, grows: bool, artifact: str | None = None
) -> LogPart:
    """The part that is asked for, of about `bound` bytes at most, up to where something is missing. Raises as
    `indices`."""
    start, end, cut, first_line = indices(transcript, asked, reading, bound)
    low, high = transcript.run_around(start if asked.tail is None else end - 1)
    cut = cut or start < low or end > high
    start, end = max(start, low), min(end, high)
    while True:
        data = transcript.read(start, end - start)
        more = grows or end < transcript.size
        found = text_of(data, stated=reading.stated, console=reading.console, starts_late=start > low, ends_early=more)
        if found.text or not found.held or end >= high:
            break
        end += 1  # at least a character, or who goes on from here would never get on
    begin = transcript.offset_of(start)
    stop = begin + len(data) - found.held
    facts = LogFacts(
        size_bytes=transcript.printed,
        dropped=transcript.printed - transcript.size,
        offset=begin + found.skipped,
        length=len(data) - found.held - found.skipped,
        next_offset=stop if stop < transcript.printed or grows else None,
        first_line=first_line if begin == start else None,
        encoding=found.encoding,
        encoding_note=found.note,
        artifact=artifact,
    )
    return LogPart(found.text, facts, cut)
