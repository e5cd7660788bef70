from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hearth.content.text import SAMPLE_BYTES
from hearth.errors import Encoding, InvalidInput
from hearth.services.fs.exact_text import exact_text


@given(st.binary(max_size=80))
def test_unchanged_text_gives_the_same_bytes_back(data: bytes) -> None:
    try:
        found = exact_text(data)
    except Encoding:
        return
    assert found.bytes_of(found.text) == data


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-be", "utf-32", "latin-1", "cp932"])
def test_text_of_any_encoding_can_be_changed(encoding: str) -> None:
    words = "Grüße, Ä\r\nplain\r\n" if encoding != "cp932" else "日本語の文章です。\r\nplain\r\n"
    found = exact_text(words.encode(encoding))
    assert found.text == words
    assert found.bytes_of(words.replace("plain", "other")) == words.replace("plain", "other").encode(encoding)


def test_a_damaged_byte_in_utf_8_stays() -> None:
    data = "käse über alles, größer".encode() + b"\xff\n"
    found = exact_text(data)
    assert (found.form.encoding, found.form.guessed) == ("utf-8", False)
    assert found.bytes_of(found.text.replace("käse", "Öl")) == data.replace("käse".encode(), "Öl".encode())


def test_what_comes_behind_the_sample_counts_too() -> None:
    data = b"plain\n" * (SAMPLE_BYTES // 6 + 1) + "é\n".encode("latin-1")
    found = exact_text(data)
    assert (found.form.encoding, found.form.guessed) == ("cp1252", True)
    assert found.bytes_of(found.text) == data


def test_a_guess_decides_about_no_new_character() -> None:
    found = exact_text("Zwölf Boxkämpfer".encode("latin-1"))
    found.refuse_guesses("ö, ä and ASCII")
    with pytest.raises(Encoding, match=r"U\+00DF LATIN SMALL LETTER SHARP S") as caught:
        found.refuse_guesses("ß")
    assert "--encoding cp1252" in str(caught.value.hint)
    exact_text("Zwölf".encode("latin-1"), "latin-1").refuse_guesses("ß")


def test_a_binary_file_is_refused_unless_an_encoding_is_given() -> None:
    data = bytes(range(256))
    with pytest.raises(Encoding, match="binary"):
        exact_text(data)
    assert exact_text(data, "latin-1").bytes_of(exact_text(data, "latin-1").text) == data


def test_bytes_that_are_not_what_was_given_are_named() -> None:
    with pytest.raises(Encoding, match="byte 2 is not utf-8"):
        exact_text(b"ab\xff", "utf8")
    with pytest.raises(InvalidInput):
        exact_text(b"ab", "base64")
