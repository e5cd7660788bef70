from __future__ import annotations

import fnmatch
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hearth.errors import InvalidPattern
from hearth.services.fs.globs import Globs, compile_glob


@pytest.mark.parametrize(
    ("glob", "matching", "others"),
    [
        ("src/*.py", ["src/a.py", "src/.py"], ["src/a/b.py", "a.py", "x/src/a.py"]),
        ("*.py", ["a.py", "src/deep/a.py"], ["a.pyc", "a.py/x"]),
        ("**/*.py", ["a.py", "src/deep/a.py"], ["a.pyc"]),
        ("src/**", ["src/a", "src/a/b"], ["src", "xsrc/a"]),
        ("src/**/test/*.c", ["src/test/a.c", "src/a/b/test/a.c"], ["src/test/x/a.c", "src/atest/a.c"]),
        ("a?c", ["abc", "x/a.c"], ["ac", "a/c", "abbc"]),
        ("[!a-c]x", ["dx", "]x"], ["ax", "/x"]),
        ("[]]x", ["]x"], ["[x"]),
        ("{a,b}/*.{c,h}", ["a/x.c", "b/x.h"], ["c/x.c", "a/x.d", "{a,b}/x.c"]),
        ("{a,{b,c}d}", ["a", "bd", "cd"], ["b", "ad"]),
        ("a\\*b", ["a*b"], ["axb"]),
        ("*a*b*c", ["xaxbxc", "abc", "aabbcc"], ["acb", "abcx"]),
        ("A & B (x)/*", ["A & B (x)/f"], ["A & B x/f"]),
        ("/a", ["a"], ["x/a"]),
    ],
)
def test_a_glob_matches_these_and_not_those(glob: str, matching: list[str], others: list[str]) -> None:
    pattern = compile_glob(glob)
    assert [path for path in matching if not pattern.match(path)] == []
    assert [path for path in others if pattern.match(path)] == []


@pytest.mark.parametrize(
    ("glob", "position"), [("{a,b", 0), ("a[b", 1), ("x}", 1), ("a{b,{c,d}", 1), ("[z-a]", 0), ("{1,2}" * 9, 45)]
)
def test_an_unbalanced_glob_is_refused_at_once(glob: str, position: int) -> None:
    with pytest.raises(InvalidPattern) as refused:
        Globs([glob])
    assert refused.value.details["position"] == position


@given(
    glob=st.text("ab*?[]!-", max_size=8).filter(lambda text: "**" not in text and "[" not in text and text[:1] != "!"),
    name=st.text("ab-!]", min_size=1, max_size=8),
)
def test_on_one_component_a_glob_means_what_fnmatch_says(glob: str, name: str) -> None:
    if glob:
        assert bool(compile_glob(glob).match(name)) is fnmatch.fnmatchcase(name, glob)


def test_a_hostile_glob_takes_no_time() -> None:
    started = time.monotonic()
    for glob in ("*a" * 200 + "b", "**/a/" * 50 + "b", "*" * 4000 + "b", "?*" * 100 + "b"):
        assert not compile_glob(glob).match("a/" * 100 + "a" * 200)
    assert time.monotonic() - started < 1


def test_what_is_taken_out_is_not_selected() -> None:
    globs = Globs(["*.py", "!test_*", "!build/**"])
    assert globs.select("src/a.py")
    assert not globs.select("src/test_a.py")
    assert not globs.select("build/x/a.py")
    assert not globs.select("a.md")
    assert Globs(["!*.pyc"]).select("anything")
