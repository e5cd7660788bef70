from __future__ import annotations

import codecs

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from hearth.content import text
from hearth.content.text import LineEnds, TextForm
from hearth.errors import Encoding, InvalidInput

UNICODE = ("utf-8", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be")
MULTI_BYTE = ("shift_jis", "gb18030", "euc_jp", "big5", "cp949")
CHARACTERS = st.characters(codec="utf-8")
PROSE = "Zwölf Boxkämpfer jagen Viktor\r\nquer über den großen Sylter Deich.\r\n"


@given(st.text(CHARACTERS), st.sampled_from(UNICODE), st.booleans())
def test_what_is_encoded_decodes_to_the_same(words: str, encoding: str, bom: bool) -> None:
    data = text.encode(words, encoding, bom=bom)
    assert text.decode(data[len(text.mark_of(encoding)) if bom else 0 :], encoding) == words


@given(st.text(CHARACTERS, max_size=12), st.sampled_from(UNICODE))
def test_any_split_of_the_bytes_decodes_to_the_same_text_and_tells_where_it_stands(words: str, encoding: str) -> None:
    data = text.encode(words, encoding)
    for cut in range(len(data) + 1):
        decoder = text.Decoder(encoding, offset=7)
        first = decoder.feed(data[:cut])
        assert decoder.offset == 7 + len(first.encode(encoding))
        assert first + decoder.feed(data[cut:], final=True) == words
        assert decoder.offset == 7 + len(data)


@given(st.text("aé日本😀\n ", min_size=1, max_size=12), st.sampled_from((*UNICODE, "gb18030")))
def test_a_byte_inside_a_character_leads_back_to_its_start(words: str, encoding: str) -> None:
    data = text.encode(words, encoding)
    starts = {len(words[:count].encode(encoding)) for count in range(len(words) + 1)}
    for at in range(len(data) + 1):
        wanted = max(start for start in starts if start <= at)
        assert text.character_start(data, at, encoding) == wanted
        assert text.character_start(data[:at], at, encoding) == wanted


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le"])
def test_a_window_that_begins_inside_a_unit_still_finds_the_character(encoding: str) -> None:
    data = "a😀b".encode(encoding)
    assert text.character_start(data[1:], 2, encoding, base=1) + 1 == text.character_start(data, 3, encoding)


@given(st.text(CHARACTERS, min_size=1), st.sampled_from(UNICODE))
def test_a_mark_names_the_encoding(words: str, encoding: str) -> None:
    if encoding == "utf-16-le" and words.startswith("\0"):
        return  # the same bytes as the mark of UTF-32
    form = text.detect(text.encode(words, encoding, bom=True), whole=True)
    assert (form.encoding, form.bom, form.guessed) == (encoding, True, False)
    assert form.line_ends is text.line_ends(words)


@pytest.mark.parametrize("encoding", UNICODE)
@pytest.mark.parametrize("words", [PROSE, "日本語 の 文章。\n漢字\n", "x\n"])
def test_unicode_without_a_mark_is_recognised(encoding: str, words: str) -> None:
    form = text.detect(words.encode(encoding), whole=True)
    assert (form.encoding, form.bom) == (encoding, False)


@pytest.mark.parametrize("data", [b"abc\0def\n", b"caf\xc3\xa9\0xy\n!", b"a=1\0bc=22\0d=3\0", b"one\0two\0six\0ten\0"])
def test_a_stray_nul_in_text_makes_no_utf_16_of_it(data: bytes) -> None:
    assert text.detect(data, whole=True).is_binary


@pytest.mark.parametrize("words", ["…and so on…", "a中b\n", "Ω is 5 \n"])
def test_short_utf_16_is_still_recognised(words: str) -> None:
    assert text.detect(words.encode("utf-16-le"), whole=True).encoding == "utf-16-le"


def test_a_sample_may_end_inside_a_character() -> None:
    data = "naïve 😀".encode()
    assert all(text.detect(data[:cut], whole=False).encoding == "utf-8" for cut in range(len(data)))
    assert text.detect(data[:-1], whole=True).guessed


@pytest.mark.parametrize(
    ("words", "encoding", "told"),
    [
        (PROSE, "latin-1", "cp1252"),
        ("café", "latin-1", "cp1252"),
        ("à la crème brûlée, s'il vous plaît", "cp1252", "cp1252"),
        ("Привет, мир. Это обычный русский текст.", "cp1251", "cp1251"),
        ("Привет, мир. Это обычный русский текст.", "koi8-r", "koi8_r"),
        ("こんにちは世界。これはテストです。日本語の文章を書いています。", "cp932", "cp932"),
        ("你好世界。这是一个测试文件。用来检测编码。", "gb18030", "gb18030"),
    ],
)
def test_a_code_page_is_guessed_and_told_as_a_guess(words: str, encoding: str, told: str) -> None:
    form = text.detect(b"plain\n" * 4000 + words.encode(encoding), whole=True)
    assert (form.encoding, form.guessed) == (told, True)


@given(st.binary(min_size=1, max_size=60))
@example(b"\xe0\x80\n\x81")  # Japanese but for its last byte, which is half a character
def test_every_file_is_binary_or_decodes_in_what_is_told(data: bytes) -> None:
    form = text.detect(data, whole=True)
    if not form.is_binary and form.encoding not in MULTI_BYTE:
        body = data[len(form.mark) :]
        assert text.encode(text.decode(body, form.encoding), form.encoding) == body or form.guessed


@pytest.mark.parametrize("data", [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", bytes(range(256)), b"\x7fELF\2\1\1" + b"\0" * 9])
def test_nulls_and_controls_mean_binary(data: bytes) -> None:
    assert text.detect(data, whole=True).is_binary


def test_nothing_is_utf_8() -> None:
    assert text.detect(b"", whole=True) == TextForm("utf-8", False, LineEnds.NONE)


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("UTF8", ("utf-8", None)), ("utf-8-sig", ("utf-8", True)), ("Utf_16LE", ("utf-16-le", None)),
        ("utf16", ("utf-16-le", True)), ("latin1", ("latin-1", None)), ("windows-1252", ("cp1252", None)),
        ("ISO-8859-15", ("iso8859-15", None)), ("ms932", ("cp932", None)),
    ],
)  # fmt: skip
def test_encodings_have_one_name(name: str, meant: tuple[str, bool | None]) -> None:
    assert text.named(name) == meant


@pytest.mark.parametrize("name", ["base64", "zip", "rot13", "utf-7", "idna", "unicode_escape", "no-such", "", "a\0b"])
def test_what_is_no_text_encoding_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        text.named(name)
    assert caught.value.problems[0].field == "encoding"


def test_a_character_that_does_not_fit_is_named() -> None:
    with pytest.raises(Encoding, match=r"U\+20AC EURO SIGN, character 3, does not fit in latin-1") as caught:
        text.encode("ab€", "latin-1")
    assert caught.value.details["code_point"] == "U+20AC"


def test_a_wrong_byte_is_named_by_its_place_in_the_file() -> None:
    decoder = text.Decoder("utf-8", offset=100)
    decoder.feed(b"abc\xe2\x82")
    with pytest.raises(Encoding) as caught:
        decoder.feed(b"\xff")
    assert caught.value.details["offset"] == 103


@pytest.mark.parametrize(
    ("words", "ends"),
    [("a\nb\n", "lf"), ("a\r\nb", "crlf"), ("a\rb", "cr"), ("a\r\nb\n", "mixed"), ("a\rb\n", "mixed"), ("a", "none")],
)
def test_line_ends_are_told(words: str, ends: str) -> None:
    assert text.line_ends(words).value == ends
    for encoding in UNICODE:
        assert text.detect(codecs.encode(words, encoding), whole=True).line_ends.value == ends


def test_a_sample_cut_inside_a_line_end_is_not_mixed() -> None:
    assert text.detect(b"a\r\nb\r", whole=False).line_ends is LineEnds.CRLF


def test_line_ends_are_changed_only_to_a_kind() -> None:
    assert text.with_line_ends("a\r\nb\nc\r", LineEnds.CRLF) == "a\r\nb\r\nc\r\n"
    assert text.with_line_ends("a\r\nb\n", LineEnds.MIXED) == "a\r\nb\n"


@pytest.mark.parametrize("encoding", MULTI_BYTE)
def test_code_pages_of_several_bytes_are_decoded_across_any_split(encoding: str) -> None:
    data = "日本 a".encode(encoding)
    for cut in range(len(data) + 1):
        decoder = text.Decoder(encoding)
        first = decoder.feed(data[:cut])
        assert len(first.encode(encoding)) == decoder.offset
        assert first + decoder.feed(data[cut:], final=True) == "日本 a"
