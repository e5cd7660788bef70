"""Text as bytes: which encoding, byte order mark and line ends a file has, and both ways between the two.

Pure functions on bytes that somebody else read. Decoding never splits a character and tells where in the bytes it
stands; encoding is exact or an error.
"""

from __future__ import annotations

import codecs
import re
from enum import StrEnum
from typing import NamedTuple

from hearth.errors import Encoding, invalid

BINARY = "binary"
SAMPLE_BYTES = 65_536  # enough to know a file by
GUESSED_BYTES = 16_384  # what the slow guess of a code page looks at

# The longest first: a UTF-32 mark begins with the UTF-16 one. Unicode Standard, section 23.8.
MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Python's names that stand for an encoding and a mark; "utf-16" without a byte order is little-endian, as Windows'.
_MARKED = {"utf-8-sig": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}
_SPELLED = {"iso8859-1": "latin-1"}
# Text codecs that carry state between characters, or that are no encodings of files.
_REFUSED = r"utf-7|iso2022.*|hz|idna|punycode|undefined|(raw[-_])?unicode[-_]escape"
_CONTROLS = bytes([*range(7), *range(14, 27), *range(28, 32), 127])  # not BEL to CR, which text has, nor ESC
# Controls, and planes that hold no characters: what binary data makes when it is read as UTF-16 or UTF-32.
_ODD = "[\0-\6\x0e-\x1a\x1c-\x1f\x7f\ufffe\uffff\U00040000-\U000dffff\U000f0000-\U0010ffff]"
_LINE_END = "\r\n|\r|\n"


class LineEnds(StrEnum):
    """How the lines of a text end."""

    LF = "lf"
    CRLF = "crlf"
    CR = "cr"
    MIXED = "mixed"
    NONE = "none"

    @property
    def characters(self) -> str:
        """What ends a line; of texts without one kind, LF."""
        return {"crlf": "\r\n", "cr": "\r"}.get(self.value, "\n")


class TextForm(NamedTuple):
    """How a text is stored. `guessed`: a code page that letter frequencies suggest, which may be wrong."""

    encoding: str
    bom: bool
    line_ends: LineEnds
    guessed: bool = False

    @property
    def is_binary(self) -> bool:
        return self.encoding == BINARY

    @property
    def mark(self) -> bytes:
        """The bytes before the text."""
        return mark_of(self.encoding) if self.bom else b""


def detect(sample: bytes, *, whole: bool) -> TextForm:
    """The form of the text that begins with `sample`; unless it is the `whole`, its last character may be cut."""
    for mark, encoding in MARKS:
        if sample.startswith(mark):
            text = _decoded(sample[len(mark) :], encoding, whole=whole)
            if text is not None:
                return TextForm(encoding, True, line_ends(text, whole=whole))
    if b"\0" in sample:
        return _wide_form(sample, whole=whole)
    text = _decoded(sample, "utf-8", whole=whole)
    guessed = text is None
    if len(sample.translate(None, _CONTROLS)) < len(sample) * (0.98 if guessed else 0.7):
        return TextForm(BINARY, False, LineEnds.NONE)
    encoding = _guess(sample, whole=whole) if guessed else "utf-8"
    if text is None:
        text = sample.decode("latin-1")  # every code page that is guessed ends lines with ASCII's bytes
    return TextForm(encoding, False, line_ends(text, whole=whole), guessed)


def _decoded(data: bytes, encoding: str, *, whole: bool) -> str | None:
    try:
        return codecs.getincrementaldecoder(encoding)().decode(data, final=whole)
    except UnicodeDecodeError:
        return None


def _wide_form(sample: bytes, *, whole: bool) -> TextForm:
    """UTF-16 or UTF-32 without a mark, known by where the NULs of its ASCII characters stand; else binary."""
    # A stray NUL in what is text of bytes otherwise makes no UTF-16; text that is ASCII in UTF-16 has many.
    plain = _is_plain(sample.replace(b"\0", b""), whole=whole)
    for encoding, width, low in _WIDE:
        by_place = [sample[place::width] for place in range(width)]
        nulls = sum(each.count(0) for each in by_place) - by_place[low].count(0)
        units = len(sample) // width
        if (nulls * 2 <= units if plain else nulls * 8 < units) or by_place[low].count(0) * 8 > nulls:
            continue
        text = _decoded(sample, encoding, whole=whole)
        if text is not None and not re.search(_ODD, text):
            return TextForm(encoding, False, line_ends(text, whole=whole))
    return TextForm(BINARY, False, LineEnds.NONE)


def _is_plain(sample: bytes, *, whole: bool) -> bool:
    """Whether bytes are text in UTF-8 without control characters."""
    return sample.translate(None, _CONTROLS) == sample and _decoded(sample, "utf-8", whole=whole) is not None


# Width in bytes, and which of them an ASCII character fills.
_WIDE = (("utf-32-le", 4, 0), ("utf-32-be", 4, 3), ("utf-16-le", 2, 0), ("utf-16-be", 2, 1))
_CODE_PAGES = [
    *("cp1252", "cp1250", "cp1251", "cp1253", "cp1254", "cp1255", "cp1256", "cp1257", "koi8_r"),
    *("cp932", "euc_jp", "gb18030", "big5", "cp949", "cp437", "cp850", "cp866"),
]


def _guess(sample: bytes, *, whole: bool) -> str:
    """The likeliest code page; where several are as likely, Western European."""
    from charset_normalizer import from_bytes

    found = list(from_bytes(_telling_part(sample), cp_isolation=_CODE_PAGES, enable_fallback=False))
    if found:
        best = found[0]
        equal = [each for each in found if each.chaos <= best.chaos and each.coherence >= best.coherence]
        likely = [name for each in equal for name in each.could_be_from_charset]
        name = "cp1252" if "cp1252" in likely else best.encoding
        if _decoded(sample, name, whole=whole) is not None:
            return name
    return "latin-1"


def _telling_part(sample: bytes) -> bytes:
    """Whole lines from the first one that is not ASCII."""
    strange = re.search(rb"[\x80-\xff]", sample)
    start = sample.rfind(b"\n", 0, strange.start()) + 1 if strange else 0
    part = sample[start : start + GUESSED_BYTES]
    return part[: part.rfind(b"\n") + 1] or part


def mark_of(encoding: str) -> bytes:
    """The byte order mark of an encoding; empty where there is none."""
    return next((mark for mark, name in MARKS if name == encoding), b"")


def named(encoding: str) -> tuple[str, bool | None]:
    """The plain name of an encoding as people spell it, and whether that spelling asks for a BOM (None: it says
    nothing). Raises `InvalidInput` for what is no text encoding of files."""
    try:
        found = codecs.lookup(encoding)
    except (LookupError, ValueError):
        raise _unknown(encoding) from None
    if found.name in _MARKED:
        return _MARKED[found.name], True
    # Python keeps its byte-to-byte codecs (base64, zip) in the same registry and marks them so.
    if not getattr(found, "_is_text_encoding", True) or re.fullmatch(_REFUSED, found.name):
        raise _unknown(encoding)
    return _SPELLED.get(found.name, found.name), None


def _unknown(encoding: str) -> Exception:
    hint = "utf-8, utf-8-sig, utf-16-le, utf-16-be, utf-32-le, latin-1, cp1252, shift_jis, gb18030 are some that are"
    return invalid("encoding", "not_one_of", f"{encoding!r} is no text encoding", hint=hint)


def encode(text: str, encoding: str, *, bom: bool = False) -> bytes:
    """The bytes of a text. Raises `Encoding`, which names the first character that does not fit."""
    try:
        return (mark_of(encoding) if bom else b"") + text.encode(encoding)
    except UnicodeEncodeError as error:
        at = error.start
        raise Encoding(
            f"{describe(text[at])}, character {at + 1:,}, does not fit in {encoding}",
            encoding=encoding,
            character=at,
            code_point=f"U+{ord(text[at]):04X}",
        ) from None


def decode(data: bytes, encoding: str) -> str:
    """The text of whole bytes without a mark. Raises `Encoding`, which names the byte."""
    return Decoder(encoding).feed(data, final=True)


class Decoder:
    """Decodes bytes that come in pieces. `offset` is where the first byte that was not yet decoded stands."""

    def __init__(self, encoding: str, *, offset: int = 0, errors: str = "strict") -> None:
        self.encoding = encoding
        self.offset = offset
        self._decoder = codecs.getincrementaldecoder(encoding)(errors)

    def feed(self, data: bytes, *, final: bool = False) -> str:
        """The text of `data` up to the last whole character; with `final` a cut one is wrong."""
        held = len(self._decoder.getstate()[0])
        try:
            text = self._decoder.decode(data, final)
        except UnicodeDecodeError as error:
            at = self.offset + error.start
            raise Encoding(
                f"byte {at:,} is not {self.encoding}: {error.reason}", encoding=self.encoding, offset=at
            ) from None
        self.offset += held + len(data) - len(self._decoder.getstate()[0])
        return text


def character_start(window: bytes, at: int, encoding: str, *, base: int = 0) -> int:
    """The index in `window` of the character that the byte `at` belongs to; the window may end there.

    `base` is where the window stands in the text without its mark. In a multi-byte code page the window begins at
    a character or holds a line end before `at`."""
    width = {"utf-16": 2, "utf-32": 4}.get(encoding[:6], 1)
    if width == 4:
        return at - (base + at) % 4
    if width == 2:
        start = at - (base + at) % 2
        return start - 2 if _is_pair(window, start, encoding) else start
    begin = _known_border(window, at, encoding)
    decoder = Decoder(encoding, errors="replace")
    decoder.feed(window[begin:at])
    return begin + decoder.offset


def _is_pair(window: bytes, at: int, encoding: str) -> bool:
    """Whether the two-byte unit at `at` is the second half of a surrogate pair."""
    high = 1 if encoding == "utf-16-le" else 0
    return (
        at >= 2
        and window[at - 2 + high] & 0xFC == 0xD8
        and (window[at + high : at + high + 1] or b"\xdc")[0] & 0xFC == 0xDC
    )


def _known_border(window: bytes, at: int, encoding: str) -> int:
    """A place before `at` where a character surely starts."""
    if encoding != "utf-8":
        return window.rfind(b"\n", 0, at) + 1  # LF is the second byte of no character
    if window[at : at + 1] and window[at] & 0xC0 != 0x80:
        return at
    lead = at - 1
    while lead > max(at - 4, 0) and window[lead] & 0xC0 == 0x80:
        lead -= 1
    return max(lead, 0)


def line_ends(text: str, *, whole: bool = True) -> LineEnds:
    """How the lines of `text` end."""
    if not whole:
        text = text.removesuffix("\r")  # its LF may come next
    crlf = text.count("\r\n")
    counts = {
        LineEnds.LF: text.count("\n") - crlf,
        LineEnds.CRLF: crlf,
        LineEnds.CR: text.count("\r") - crlf,
    }
    kinds = [kind for kind, count in counts.items() if count]
    if len(kinds) > 1:
        return LineEnds.MIXED
    return kinds[0] if kinds else LineEnds.NONE


def with_line_ends(text: str, ends: LineEnds) -> str:
    """The text with every line ended in one way; `mixed` and `none` leave it alone."""
    if ends in (LineEnds.MIXED, LineEnds.NONE):
        return text
    return re.sub(_LINE_END, ends.characters, text)


def describe(character: str) -> str:
    """A character for people who cannot see it: `U+00A0 NO-BREAK SPACE`."""
    import unicodedata

    controls = {"\t": "TAB", "\n": "LINE FEED", "\r": "CARRIAGE RETURN", "\0": "NULL", "\x1b": "ESCAPE"}
    name = unicodedata.name(character, controls.get(character, "unnamed"))
    return f"U+{ord(character):04X} {name}"
