"""Text that goes back to exactly the bytes it came from, so that a change touches only what it means to."""

from __future__ import annotations

import re
from typing import NamedTuple

from hearth.content import text
from hearth.content.text import TextForm
from hearth.errors import Encoding, HearthError

MAX_BYTES = 64 * 1024 * 1024  # of one file whose text is changed; it is held in memory


class ExactText(NamedTuple):
    """A text without its byte order mark. `errors` is how bytes that are no characters are carried."""

    text: str
    form: TextForm
    errors: str = "strict"

    def bytes_of(self, changed: str) -> bytes:
        """The file that holds `changed` instead. Raises `Encoding` for a character that does not fit."""
        if self.errors == "strict":
            return text.encode(changed, self.form.encoding, bom=self.form.bom)
        return self.form.mark + changed.encode(self.form.encoding, self.errors)

    def refuse_guesses(self, words: str) -> None:
        """Raise `Encoding` where a guessed code page would decide which byte a character becomes."""
        if not self.form.guessed or words.isascii():
            return
        strange = next((c for c in words if not c.isascii() and c not in self.text), None)
        if strange is not None:
            raise Encoding(
                f"the file is not Unicode and {self.form.encoding} is a guess, so the byte for "
                f"{text.describe(strange)} is not certain",
                hint=f"pass its encoding, such as --encoding {self.form.encoding}",
                encoding=self.form.encoding,
            )


def exact_text(data: bytes, encoding: str | None = None) -> ExactText:
    """The text of a file, in the encoding that is given or that its bytes show.

    Raises `Encoding` for a binary file, for bytes that are not what was given, and for an encoding that would not
    give the same bytes back; `InvalidInput` for an unknown encoding.
    """
    if encoding is not None:
        return _given(data, encoding)
    form = text.detect(data[: text.SAMPLE_BYTES], whole=len(data) <= text.SAMPLE_BYTES)
    found = _as(data, form)
    if found is None and not form.is_binary:
        # The sample ended before the first byte that is not what the rest looks like.
        form = text.detect(data, whole=True)
        found = _mostly_utf_8(data) or _as(data, form)
    elif form.guessed:
        found = _mostly_utf_8(data) or found
    if found is None:
        raise _refusal(form)
    return found


def _refusal(form: TextForm) -> HearthError:
    if form.is_binary:
        hint = "pass --encoding latin-1 to take every byte as one character"
        return Encoding("the file is binary, not text", hint=hint, encoding=text.BINARY)
    hint = "pass --encoding latin-1 to take every byte as one character"
    return Encoding(f"the file is not consistently {form.encoding}", hint=hint, encoding=form.encoding)


def _given(data: bytes, encoding: str) -> ExactText:
    name, _ = text.named(encoding)
    mark = text.mark_of(name)
    bom = bool(mark) and data.startswith(mark)
    body = data[len(mark) :] if bom else data
    words = text.decode(body, name)
    if words.encode(name) != body:
        raise Encoding(f"the file's {name} is not the usual spelling, so it could not be kept", encoding=name)
    return ExactText(words, TextForm(name, bom, text.line_ends(words)))


def _as(data: bytes, form: TextForm) -> ExactText | None:
    if form.is_binary:
        return None
    body = data[len(form.mark) :]
    try:
        words = body.decode(form.encoding)
        if words.encode(form.encoding) == body:
            return ExactText(words, form._replace(line_ends=text.line_ends(words)))
    except UnicodeError:
        pass
    return _as(data, form._replace(encoding="latin-1")) if form.guessed and form.encoding != "latin-1" else None


def _mostly_utf_8(data: bytes) -> ExactText | None:
    """UTF-8 with a few damaged bytes, which are kept as they are."""
    bom = data.startswith(text.mark_of("utf-8"))
    words = data.decode("utf-8-sig" if bom else "utf-8", "surrogateescape")
    damaged = len(re.findall("[\udc80-\udcff]", words))
    characters = len(words) - len(data.translate(None, bytes(range(128, 256))))
    if damaged * 4 > characters:
        return None
    form = TextForm("utf-8", bom, text.line_ends(words))
    return ExactText(words, form, "surrogateescape")
