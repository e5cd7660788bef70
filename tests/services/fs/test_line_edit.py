from __future__ import annotations

import pytest

from hearth.content.text import line_ends
from hearth.errors import Conflict, InvalidInput
from hearth.services.fs.folded import apply
from hearth.services.fs.line_edit import LineEdit, edits_of, parse_range


def edited(text: str, *given: tuple[int, int, str | None]) -> str:
    edits = [LineEdit(*each, where=f"edit.{index}") for index, each in enumerate(given)]
    return apply(text, edits_of(text, line_ends(text), edits))


def test_numbers_mean_the_lines_as_they_stood() -> None:
    text = "1\n2\n3\n4\n5\n"
    assert edited(text, (5, 5, "five"), (2, 1, "one and a half"), (3, 3, None)) == "1\none and a half\n2\n4\nfive\n"


def test_text_is_inserted_at_both_ends() -> None:
    assert edited("b\n", (1, 0, "a"), (2, 1, "c\nd\n")) == "a\nb\nc\nd\n"


def test_an_empty_file_can_be_filled() -> None:
    assert edited("", (1, 0, "a")) == "a\n"


def test_a_last_line_without_an_end_stays_without_one() -> None:
    assert edited("a\nb", (3, 2, "c")) == "a\nb\nc"
    assert edited("a\nb", (2, 2, "B")) == "a\nB"
    assert edited("a\nb", (2, 1, "x")) == "a\nx\nb"


def test_new_lines_end_as_the_file_does() -> None:
    assert edited("a\r\nb\r\n", (2, 1, "x\n\ny")) == "a\r\nx\r\n\r\ny\r\nb\r\n"
    assert edited("a\nb\n", (2, 2, "x\r\ny")) == "a\nx\ny\n"
    assert edited("a\rb\r", (2, 1, "x")) == "a\rx\rb\r"


def test_in_a_mixed_file_new_lines_end_as_their_neighbours() -> None:
    assert edited("a\r\nb\r\nc\nd\n", (2, 2, "B"), (4, 4, "D")) == "a\r\nB\r\nc\nD\n"


def test_a_line_that_is_not_there_is_a_conflict() -> None:
    with pytest.raises(Conflict, match="there is no line 4; the file has 2"):
        edited("a\nb\n", (4, 4, None))


def test_edits_of_the_same_line_are_refused() -> None:
    with pytest.raises(InvalidInput, match="changes the same lines"):
        edited("a\nb\nc\n", (1, 2, "x"), (2, 3, "y"))
    with pytest.raises(InvalidInput, match="changes the same lines"):
        edited("a\n", (2, 1, "x"), (2, 1, "y"))


def test_a_range_is_one_line_or_two_numbers() -> None:
    assert (parse_range("3", "delete.0"), parse_range("10:40", "delete.0")) == ((3, 3), (10, 40))


@pytest.mark.parametrize("lines", ["", "0", "4:2", "a", "1:", "-1", "1:2:3", "\u0661"])
def test_other_ranges_are_refused(lines: str) -> None:
    with pytest.raises(InvalidInput):
        parse_range(lines, "delete.0")
