"""What programs print, as text: whole characters, and nothing that is lost."""

from __future__ import annotations

import codecs
from enum import StrEnum
from typing import NamedTuple

from hearth.errors import invalid


class Note(StrEnum):
    """Why a text is not simply what the program printed."""

    BINARY = "binary"  # it holds NUL bytes
    INVALID = "invalid_utf8"  # bytes that mean no character are shown as \\xNN
    CONSOLE = "console_code_page"  # it is not UTF-8 and was read as what console programs write here


class Text(NamedTuple):
    """A text of some bytes, but for `skipped` of them before it and `held` behind, which are parts of characters."""

    text: str
    encoding: str | None
    note: Note | None
    skipped: int = 0
    held: int = 0


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
    known = [stated] if stated is not None else ["utf-8", *([console] if console is not None else [])]
    if stated is None and b"\0" in data:
        return _escaped(data, Note.BINARY)
    for encoding in known:
        read = _decoded(data, encoding, starts_late=starts_late, ends_early=ends_early)
        if read is not None:
            text, skipped, held = read
            note = Note.CONSOLE if stated is None and encoding != "utf-8" else None
            return Text(text, codecs.lookup(encoding).name, note, skipped, held)
    return _escaped(data, Note.INVALID)


def _escaped(data: bytes, note: Note) -> Text:
    return Text(data.decode("utf-8", "backslashreplace"), None, note)


def _decoded(data: bytes, encoding: str, *, starts_late: bool, ends_early: bool) -> tuple[str, int, int] | None:
    # A character of a known encoding has at most four bytes, so three may be the rest of one.
    for skipped in range(4 if starts_late else 1):
        decoder = codecs.getincrementaldecoder(encoding)()
        try:
            text = decoder.decode(data[skipped:], not ends_early)
        except UnicodeDecodeError:
            continue
        return text, min(skipped, len(data)), len(decoder.getstate()[0])
    return None
