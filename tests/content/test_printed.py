"""Text of what programs print, also of a part that was cut anywhere."""

from __future__ import annotations

import pytest

from hearth.content.printed import Note, Text, text_of

WORDS = "naïve €5 🙂\n".encode()


@pytest.mark.parametrize("at", range(len(WORDS) + 1))
def test_both_sides_of_a_cut_anywhere_make_the_whole_text(at: int) -> None:
    before = text_of(WORDS[:at], ends_early=True)
    assert before.encoding == "utf-8"
    after = text_of(WORDS[at - before.held :], ends_early=False)
    assert (before.text + after.text).encode() == WORDS


@pytest.mark.parametrize("at", range(len(WORDS) + 1))
def test_a_part_that_begins_in_a_character_tells_how_much_of_it_is_left_out(at: int) -> None:
    late = text_of(WORDS[at:], starts_late=True, ends_early=False)
    assert late.text.encode() == WORDS[at + late.skipped :]
    assert late.skipped < 4


def test_half_a_character_at_the_end_of_all_is_shown() -> None:
    assert text_of(WORDS[:3], ends_early=False) == Text("na\\xc3", None, Note.INVALID)


def test_bytes_that_are_no_text_are_shown_as_such() -> None:
    assert text_of(b"a\0b\xff", ends_early=False) == Text("a\0b\\xff", None, Note.BINARY)


def test_what_is_not_utf_8_is_read_as_the_console_writes() -> None:
    assert text_of(b"\x81", console="cp850", ends_early=False) == Text("ü", "cp850", Note.CONSOLE)
    assert text_of("ü".encode(), console="utf-8", ends_early=False) == Text("ü", "utf-8", None)


def test_a_stated_encoding_is_the_only_one_that_is_tried() -> None:
    assert text_of("ü".encode("utf-16-le"), stated="utf-16-le", ends_early=False).text == "ü"
    assert text_of(b"\xff", stated="ascii", console="cp850", ends_early=False) == Text("\\xff", None, Note.INVALID)
