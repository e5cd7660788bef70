from __future__ import annotations

import pytest

from hearth.services.fs.misread import hint

TEXT = 'def f(x):\n\treturn "<" + x\n\nend\n'


@pytest.mark.parametrize(
    ("old", "words"),
    [
        ('def f(x):\\n\\treturn "<"', "backslash"),
        ('\\"<\\" + x', "backslash"),
        ('1\tdef f(x):\n2\t\treturn "<" + x', "line numbers"),
        ("  1: def f(x):", "line numbers"),
        ('return "&lt;" + x', "HTML"),
        ('-def f(x):\n-\treturn "<" + x', "as a diff does"),
        ("\n\ndef f(x):", "empty lines"),
    ],
)
def test_a_usual_mistake_is_named(old: str, words: str) -> None:
    assert words in str(hint(TEXT, old, ""))


def test_a_change_that_was_made_before_is_told_with_its_line() -> None:
    assert (
        hint(TEXT, "def g(x):", "end\n") == "new stands there already, at line 4: the change may have been made before"
    )


@pytest.mark.parametrize(("old", "new"), [("something else", ""), ("a\\nb", "other"), ("&amp;", "x"), ("\n", "")])
def test_nothing_is_guessed_that_would_not_match(old: str, new: str) -> None:
    assert hint(TEXT, old, new) is None
