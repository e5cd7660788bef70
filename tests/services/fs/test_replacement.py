from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hearth.content.text import line_ends
from hearth.errors import Conflict, InvalidInput, InvalidPattern
from hearth.services.fs.folded import apply, fold_line_ends
from hearth.services.fs.replacement import Wanted, edits_of

LINES = st.lists(st.tuples(st.text("ab é", max_size=4), st.sampled_from(["\n", "\r\n"])), max_size=8).map(
    lambda lines: "".join(map("".join, lines))
)


def replaced(text: str, old: str, new: str, **more: Any) -> str:
    return apply(text, edits_of(text, line_ends(text), Wanted(old, new, **more), "replacements.0"))


def test_a_crlf_file_stays_one() -> None:
    assert replaced("a\r\nb\r\nd\r\n", "b", "b\nc") == "a\r\nb\r\nc\r\nd\r\n"


def test_old_text_with_lf_matches_a_crlf_file_and_the_other_way_round() -> None:
    assert replaced("a\r\nb\r\n", "a\nb\n", "x\ny\n") == "x\r\ny\r\n"
    assert replaced("a\nb\n", "a\r\nb", "x\r\ny") == "x\ny\n"
    assert replaced("a\rb\r", "a\nb", "x\ny") == "x\ry\r"


def test_blank_lines_keep_their_cr() -> None:
    assert replaced("a\r\n", "a", "x\r\n\r\ny\n\nz") == "x\r\n\r\ny\r\n\r\nz\r\n"


def test_in_a_mixed_file_each_line_keeps_its_end() -> None:
    assert replaced("a\r\nb\nc\r\n", "a\nb\nc", "a\nB\nc") == "a\r\nB\nc\r\n"
    assert replaced("a\r\nb\r\nc\nd\n", "b", "b\nx") == "a\r\nb\r\nx\r\nc\nd\n"
    assert replaced("a\r\nb\r\nc\nd\n", "d", "d\nx") == "a\r\nb\r\nc\nd\nx\n"


def test_one_line_takes_the_line_ends_of_the_words() -> None:
    assert replaced("a", "a", "a\r\nb") == "a\r\nb"
    assert replaced("a", "a", "a\nb") == "a\nb"


def test_exact_takes_line_ends_as_they_are_given() -> None:
    assert replaced("a\r\nb\r\n", "\r\n", "\n", expected=0, exact=True) == "a\nb\n"
    with pytest.raises(Conflict):
        replaced("a\r\nb", "a\nb", "x", exact=True)


def test_what_matches_too_often_is_a_conflict_that_names_the_lines() -> None:
    with pytest.raises(Conflict) as caught:
        replaced("x\ny\nx\n", "x", "z")
    assert caught.value.details | {"field": ""} == {"field": "", "found": 2, "expected": 1, "lines": [1, 3]}
    assert replaced("x\ny\nx\n", "x", "z", expected=2) == "z\ny\nz\n"
    assert replaced("x\ny\nx\n", "x", "z", expected=0) == "z\ny\nz\n"


def test_matches_that_overlap_are_not_certain() -> None:
    with pytest.raises(Conflict):
        replaced("aaa", "aa", "b")
    assert replaced("aaaa", "aa", "b", expected=0) == "bb"


def test_blanks_can_be_ignored_on_request() -> None:
    table = "|  a\xa0b |\t1 |  \r\n| c | 2 |\r\n"
    assert replaced(table, "| a b | 1 |\n| c | 2 |", "| a | 1 |\n| d | 3 |", loose=True) == "| a | 1 |\r\n| d | 3 |\r\n"


def test_ignoring_blanks_replaces_the_indentation_that_old_has() -> None:
    assert replaced("x:\n\tfoo()\n\tbar()\n", "    foo()\n", "    baz()\n", loose=True) == "x:\n    baz()\n\tbar()\n"
    assert replaced("x:\n\tfoo()\n", "foo()", "baz()", loose=True) == "x:\n\tbaz()\n"
    assert replaced("a  b c\n", " b ", " x ", loose=True) == "a x c\n"


def test_nothing_but_blanks_cannot_be_looked_for_loosely() -> None:
    with pytest.raises(InvalidInput):
        replaced("a b", "  ", "", loose=True)


def test_a_regular_expression_replaces_with_groups() -> None:
    text = "port = 80\r\nhost = é\r\n"
    assert (
        replaced(text, r"^(\w+) = (\d+)$", r"\1: \2\n\g<1>_end", regex=True) == "port: 80\r\nport_end\r\nhost = é\r\n"
    )
    assert replaced("é=1\n", r"(?P<name>\w+|é)=", r"\g<name>é\\:", regex=True) == "éé\\:1\n"


def test_an_empty_match_inserts_before_each_line() -> None:
    assert replaced("a\r\nb\r\n", "^.", r"> \0", regex=True, expected=0) == "> a\r\n> b\r\n"


@pytest.mark.parametrize("new", [r"\2", r"\g<other>", r"\q", "\\"])
def test_a_group_that_is_not_there_is_refused(new: str) -> None:
    with pytest.raises(InvalidInput, match="is no group"):
        replaced("a", "(a)", new, regex=True)


@pytest.mark.parametrize("pattern", ["(a", "a**", r"(a)\1", "(?=a)", "[b-a]"])
def test_a_pattern_outside_of_re2_is_refused_with_the_reason(pattern: str, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(InvalidPattern, match=r"^replacements\.0\.old: \w"):
        replaced("a", pattern, "", regex=True)
    assert capfd.readouterr().err == ""


def test_no_pattern_hangs() -> None:
    with pytest.raises(Conflict, match="the pattern matches nowhere"):
        replaced("a" * 100_000, "(a+)+b", "", regex=True)


@given(LINES, st.text("ab é\n", min_size=1, max_size=4), st.text("abX\n", max_size=4))
def test_only_the_matches_change(text: str, old: str, new: str) -> None:
    ends = line_ends(text)
    plain = fold_line_ends(text, ends).text
    if old not in plain:
        with pytest.raises(Conflict):
            replaced(text, old, new)
        return
    changed = replaced(text, old, new, expected=0)
    assert fold_line_ends(changed, ends).text == plain.replace(old, new)
    if ends.value != "mixed" and changed:
        assert line_ends(changed) in (ends, "none")


@given(LINES)
def test_a_place_in_the_folded_text_leads_back_to_the_exact_one(text: str) -> None:
    folded = fold_line_ends(text, line_ends(text))
    for place in range(len(folded.text) + 1):
        exact = folded.exact(place)
        assert fold_line_ends(text[:exact], line_ends(text)).text == folded.text[:place]
