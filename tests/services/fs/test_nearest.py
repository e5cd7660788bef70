from __future__ import annotations

import random
import time
from functools import cache

import pytest

from hearth.services.fs import nearest

TABLE = "| Name | Value |\n|---|---|\n| alpha\xa0one | 1 |  \n| beta | 2 |\n"


def differences(text: str, old: str) -> list[tuple[int, int, str, str]]:
    told = nearest.explain(text, old, "old").details["nearest"]["differences"]
    return [(each["line"], each["column"], each["found"], each["wanted"]) for each in told]


def test_a_no_break_space_is_named_against_the_space() -> None:
    assert differences(TABLE, "| alpha one | 1 |") == [(3, 8, "U+00A0 NO-BREAK SPACE", "U+0020 SPACE")]


def test_trailing_blanks_are_named_and_counted() -> None:
    told = differences(TABLE, "| alpha\xa0one | 1 |\n| beta | 2 |")
    assert told == [(3, 18, "2 times U+0020 SPACE", "nothing")]


def test_a_tab_is_named_against_spaces() -> None:
    assert differences("if x:\n\treturn value\n", "if x:\n    return value\n") == [
        (2, 1, "U+0009 TAB", "4 times U+0020 SPACE")
    ]


def test_look_alike_characters_are_named() -> None:
    assert differences("say “hello”, world\n", 'say "hello", world\n') == [
        (1, 5, "U+201C LEFT DOUBLE QUOTATION MARK", "U+0022 QUOTATION MARK"),
        (1, 11, "U+201D RIGHT DOUBLE QUOTATION MARK", "U+0022 QUOTATION MARK"),
    ]


def test_a_change_in_the_middle_is_told_with_its_words() -> None:
    text = "def total(items):\n    return sum(items)\n"
    told = differences(text, "def total(items):\n    return max(items)\n")
    assert told == [(2, 12, "'sum'", "'max'")] or told[0][:2] == (2, 12)


def test_upper_and_lower_case_are_still_near() -> None:
    found = nearest.nearest("some WORDS here\n", "words")
    assert found is not None
    assert (found.start, found.end) == (5, 10)


def test_the_nearest_text_can_be_taken_as_it_is() -> None:
    told = nearest.explain(TABLE, "| alpha one | 1 |\n| beta | 2 |", "old").details["nearest"]
    assert told["text"] == "| alpha\xa0one | 1 |  \n| beta | 2 |"
    assert told["only_blanks_differ"] is True
    assert (told["line"], told["end_line"]) == (3, 4)


def test_blanks_that_differ_everywhere_do_not_hide_the_nearest_text() -> None:
    text = "".join(f"| cell {n} | value {n % 13} | yes | no |\n" for n in range(3000))
    old = text[50_000:60_000].replace(" ", "\xa0")
    told = nearest.explain(text, old, "old").details["nearest"]
    assert told["line"] == text.count("\n", 0, 50_000) + 1
    assert told["only_blanks_differ"] is True
    assert told["more_differences"] > 1000


def test_the_best_of_many_similar_places_is_chosen() -> None:
    text = "".join(f"item {n} has the colour {n % 7} and weight {n * 3}\n" for n in range(2000))
    told = nearest.explain(text, "item 1234 has the color 2 and weight 3702\n", "old").details["nearest"]
    assert told["line"] == 1235


@pytest.mark.parametrize("typo", ["alpah", "lpha_", "gammx", "gaXma", "xamma", "cmpute", "retrun", "totla"])
def test_a_misspelt_word_is_near_the_right_one(typo: str) -> None:
    text = "alpha\nbeta\ngamma\ncompute the total\nreturn\n"
    right = {"a": "alpha", "l": "alpha", "g": "gamma", "x": "gamma", "c": "compute", "r": "return", "t": "total"}[
        typo[0]
    ]
    told = nearest.explain(text, typo, "old").details["nearest"]
    assert told["line"] == text[: text.index(right)].count("\n") + 1
    assert told["differences"] and told["same_characters"] * 2 >= len(typo)


@pytest.mark.parametrize("old", ["banana", "zzzz", "0123456789 ~~~~"])
def test_a_word_is_not_near_what_shares_a_few_letters(old: str) -> None:
    assert "nearest" not in nearest.explain("alpha\nbeta\ngamma\nreturn the total\n", old, "old").details


def test_nothing_alike_says_so() -> None:
    conflict = nearest.explain("completely\ndifferent\n", "0123456789 ~~~~", "old")
    assert "nearest" not in conflict.details
    assert "nor anything like it" in conflict.message


@cache
def mebibytes() -> dict[str, str]:
    chance = random.Random(7)
    return {
        "lines": "".join(f"| cell {n} | value {n % 13} | yes | no |\n" for n in range(30_000)),
        "one line": "word " * 210_000,
        "blanks": " " * 1_048_576,
        "same word": "| yes | no |\n" * 81_000,
        "random": "".join(chance.choices("abcde \n", k=1_048_576)),
    }


@pytest.mark.parametrize("kind", mebibytes())
def test_any_mebibyte_is_explained_in_bounded_time(kind: str) -> None:
    text = mebibytes()[kind]
    started = time.process_time()
    for size in (10, 1_000, 15_000):
        old = text[500_000 : 500_000 + size].replace(" ", "\xa0").replace("e", "x", 3)
        nearest.explain(text, old, "old")
        nearest.explain(text, old.replace("s", "_").replace("r", "~").replace("l", "!"), "old")
    # The promise is 100 ms each on an idle machine; this bound catches what grows with the square.
    assert time.process_time() - started < 1
