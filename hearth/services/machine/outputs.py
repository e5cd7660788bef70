"""What a program printed, as an answer: text that is whole or says what is missing, and artifacts for the rest."""

from __future__ import annotations

import codecs
from enum import StrEnum
from typing import Annotated, NamedTuple

from hearth.errors import invalid
from hearth.model import Help, model


class Note(StrEnum):
    """Why a text is not simply what the program printed."""

    BINARY = "binary"  # it holds NUL bytes
    INVALID = "invalid_utf8"  # bytes that mean no character are shown as \\xNN
    CONSOLE = "console_code_page"  # it is not UTF-8 and was read as what console programs write here


@model
class Output:
    """The facts about one output."""

    size_bytes: Annotated[int, Help("All that was printed, in bytes.")]
    encoding: Annotated[str | None, Help("How the text was read; null for what is no text.")]
    encoding_note: Annotated[Note | None, Help("Why the text is not exactly what was printed.")] = None
    artifact: Annotated[str | None, Help("The artifact that holds the exact bytes, where the text does not.")] = None
    sha256: Annotated[str | None, Help("SHA-256 of what the artifact holds.")] = None
    tail: Annotated[str | None, Help("The end of long output, of which the text is only the beginning.")] = None
    truncated: Annotated[bool, Help("Whether the artifact lacks what came after max_artifact_bytes.")] = False


class Text(NamedTuple):
    text: str
    encoding: str | None
    note: Note | None


def check_encoding(name: str | None) -> None:
    """Raise `InvalidInput` for an encoding that does not exist or is none of text."""
    if name is None:
        return
    try:
        "".encode(name)
    except (LookupError, ValueError):
        raise invalid("encoding", "unknown_encoding", f"{name!r} is no encoding of text") from None


def text_of(
    data: bytes, *, stated: str | None = None, console: str | None = None, starts_late: bool = False, ends_early: bool
) -> Text:
    """The text of some output. `starts_late` and `ends_early` say where more bytes stood, so that half a character
    there is left out; elsewhere every byte is shown."""
    if stated is not None:
        read = _decoded(data, stated, starts_late=starts_late, ends_early=ends_early)
        return Text(read, codecs.lookup(stated).name, None) if read is not None else _escaped(data, Note.INVALID)
    if b"\0" in data:
        return _escaped(data, Note.BINARY)
    read = _decoded(data, "utf-8", starts_late=starts_late, ends_early=ends_early)
    if read is not None:
        return Text(read, "utf-8", None)
    if console is not None:
        read = _decoded(data, console, starts_late=starts_late, ends_early=ends_early)
        if read is not None:
            return Text(read, console, Note.CONSOLE)
    return _escaped(data, Note.INVALID)


def _escaped(data: bytes, note: Note) -> Text:
    return Text(data.decode("utf-8", "backslashreplace"), None, note)


def _decoded(data: bytes, encoding: str, *, starts_late: bool, ends_early: bool) -> str | None:
    # A character of a known encoding has at most four bytes, so three may be the rest of one.
    for skipped in range(4 if starts_late else 1):
        try:
            return codecs.getincrementaldecoder(encoding)().decode(data[skipped:], not ends_early)
        except UnicodeDecodeError:
            continue
    return None
