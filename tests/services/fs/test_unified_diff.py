from __future__ import annotations

import difflib
import random
import time
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hearth.content.text import line_ends
from hearth.errors import Conflict, InvalidInput
from hearth.services.fs import hunks, line_diff
from hearth.services.fs.line_diff import lines_of, unified_diff
from hearth.services.fs.unified_diff import FileDiff, Hunk, parse

LINES = st.lists(
    st.tuples(st.sampled_from(["a", "b", "c", "", " ", "-x", "+y", "@@", "é", "\\"]), st.sampled_from(["\n", "\r\n"])),
    max_size=14,
)


@st.composite
def texts(draw: st.DrawFn) -> str:
    text = "".join(map("".join, draw(LINES)))
    return text + draw(st.sampled_from(["", "end", "end\r"]))


def by_difflib(old: str, new: str, context: int = 3) -> str:
    def closed(lines: Iterator[str]) -> Iterator[str]:
        for line in lines:
            yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"

    return "".join(closed(difflib.unified_diff(lines_of(old), lines_of(new), "a/f", "b/f", n=context)))


def patched(old: str, diff: str, **more: int) -> str:
    (file,) = parse(diff)
    return hunks.apply(old, line_ends(old), file.hunks, "f", **more)[0]  # type: ignore[arg-type]


@given(texts(), texts(), st.integers(1, 4))
def test_a_diff_of_two_texts_makes_one_the_other_to_the_byte(old: str, new: str, context: int) -> None:
    if old != new and old:
        assert patched(old, by_difflib(old, new, context)) == new


@given(texts(), texts())
def test_our_own_diffs_do_too(old: str, new: str) -> None:
    diff = "".join(unified_diff(old, new, old_name="a/f", new_name="b/f"))
    assert bool(diff) == (old != new)
    if diff and old:
        assert patched(old, diff) == new


@given(st.lists(st.integers(0, 300), max_size=8), st.lists(st.integers(0, 300), max_size=8))
def test_a_long_text_with_few_changes_has_a_short_diff(deleted: list[int], added: list[int]) -> None:
    old = [f"line {n % 100}\n" for n in range(300)]
    new = [line for n, line in enumerate(old) for line in ([] if n in deleted else [line]) + (["new\n"] * (n in added))]
    diff = list(unified_diff("".join(old), "".join(new), old_name="f", new_name="f"))
    if old != new:
        assert patched("".join(old), "".join(diff)) == "".join(new)


@pytest.mark.parametrize("lines", ["ab", "abcdefgh"])
def test_a_diff_of_repeated_lines_is_made_in_bounded_time(lines: str) -> None:
    chance = random.Random(1)
    old, new = ("".join(f"{chance.choice(lines)}\n" for _ in range(20_000)) for _ in range(2))
    started = time.process_time()
    assert patched(old, "".join(unified_diff(old, new, old_name="f", new_name="f"))) == new
    assert time.process_time() - started < 2


def test_of_very_long_texts_the_diff_is_coarse_but_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_diff, "MAX_ANCHORED", 100)
    monkeypatch.setattr(line_diff, "MAX_PAIRS", 100)
    old = "".join(f"{n}\n" for n in range(100))
    new = old.replace("10\n", "ten\n").replace("80\n", "eighty\n")
    diff = "".join(unified_diff(old, new, old_name="f", new_name="f"))
    assert diff.count("@@") == 2
    assert patched(old, diff) == new


def test_a_diff_with_lf_applies_to_a_crlf_file_and_keeps_it_one() -> None:
    old, new = "a\nb\nc\nd\n", "a\nB\nx\nc\nd\n"
    diff = by_difflib(old, new)
    assert patched(old.replace("\n", "\r\n"), diff) == new.replace("\n", "\r\n")
    assert patched(old, diff.replace("\n", "\r\n")) == new


def test_added_lines_in_a_mixed_file_end_as_their_neighbours() -> None:
    diff = "--- f\n+++ f\n@@ -1,4 +1,5 @@\n a\n-b\n+B\n+x\n c\n d\n"
    assert patched("a\r\nb\r\nc\nd\n", diff) == "a\r\nB\r\nx\r\nc\nd\n"


def test_lines_added_without_context_take_the_file_s_line_ends() -> None:
    assert patched("a\r\nb\r\n", "--- f\n+++ f\n@@ -1,0 +2 @@\n+x\n") == "a\r\nx\r\nb\r\n"


def test_lines_added_without_context_to_a_mixed_file_come_as_they_are() -> None:
    assert patched("a\r\nb\n", "--- f\n+++ f\n@@ -1,0 +2 @@\n+x\n") == "a\r\nx\nb\n"


def test_a_last_line_without_an_end_stays_so_when_the_diff_does_not_know() -> None:
    diff = "--- f\n+++ f\n@@ -1,2 +1,3 @@\n a\n-b\n+B\n+c\n"
    assert patched("a\nb", diff) == "a\nB\nc"
    assert patched("a\nb", "--- f\n+++ f\n@@ -1,2 +1,3 @@\n a\n b\n+c\n") == "a\nb\nc"


def test_a_hunk_that_moved_is_found_and_told() -> None:
    old = "".join(f"{n}\n" for n in range(40))
    (file,) = parse(by_difflib(old, old.replace("20\n", "twenty\n")))
    text, placed = hunks.apply("new\n" * 5 + old, line_ends(old), file.hunks, "f")
    assert text == "new\n" * 5 + old.replace("20\n", "twenty\n")
    assert placed == [(23, 5, 0)]


def test_context_that_changed_is_ignored_only_on_request() -> None:
    diff = by_difflib("a\nb\nc\nd\ne\n", "a\nb\nC\nd\ne\n")
    changed = "other\nb\nc\nd\ne\n"
    with pytest.raises(Conflict):
        patched(changed, diff)
    assert patched(changed, diff, fuzz=1) == "other\nb\nC\nd\ne\n"
    assert patched("a\nb\nc\t\nd\ne\n", diff, loose=True) == "a\nb\nC\nd\ne\n"


def test_a_hunk_that_fits_nowhere_tells_the_nearest_text() -> None:
    with pytest.raises(Conflict) as caught:
        patched("first\nsecond\xa0line\nthird\n", by_difflib("first\nsecond line\nthird\n", "first\nthird\n"))
    assert caught.value.message.startswith(
        "f, hunk 1 (line 3 of the diff) was not found; the nearest text is at line 1"
    )
    assert caught.value.details["field"] == "diff"
    told = caught.value.details["nearest"]
    assert (told["differences"][0]["line"], told["differences"][0]["found"]) == (2, "U+00A0 NO-BREAK SPACE")


def test_a_hunk_that_was_applied_says_so() -> None:
    with pytest.raises(Conflict, match="stands there already, at line 1"):
        patched("a\nB\nc\n", by_difflib("a\nb\nc\n", "a\nB\nc\n"))


def test_git_s_headers_make_remove_and_rename() -> None:
    made, removed, renamed, empty, mode = parse(
        "From 1234 Mon Sep 17\nSubject: x\n\n---\n f | 2 +-\n"
        "diff --git a/new.sh b/new.sh\nnew file mode 100755\nindex 000..123\n"
        "--- /dev/null\n+++ b/new.sh\n@@ -0,0 +1 @@\n+x\n"
        "diff --git a/old b/old\ndeleted file mode 100644\n--- a/old\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
        'diff --git "a/\\303\\244" b/b c\nsimilarity index 100%\nrename from "\\303\\244"\nrename to b c\n'
        "diff --git a/e e b/e e\nnew file mode 100644\nindex 000..e69\n"
        "diff --git a/run b/run\nold mode 100644\nnew mode 100755\n-- \n2.40\n"
    )
    assert (made.old, made.new, made.mode, len(made.hunks)) == (None, "new.sh", 0o755, 1)
    assert (removed.old, removed.new) == ("old", None)
    assert (renamed.old, renamed.new, renamed.hunks) == ("ä", "b c", [])
    assert empty == FileDiff(None, "e e", [], 0o644)
    assert mode == FileDiff("run", "run", [], 0o755)


def test_names_lose_their_times_and_a_backup_s_name() -> None:
    (file,) = parse("--- f.py.orig\t2026-01-01 00:00:00\n+++ f.py\t2026-01-02\n@@ -1 +1 @@\n-a\n+b\n")
    assert (file.old, file.new, file.name) == ("f.py", "f.py", "f.py")


def test_hunks_alone_have_no_name() -> None:
    (file,) = parse("@@ -1 +1 @@ def f():\n-a\n+b\n")
    assert file.name == ""


def test_an_empty_line_counts_as_context() -> None:
    assert patched("a\n\nb\n", "--- f\n+++ f\n@@ -1,3 +1,3 @@\n a\n\n-b\n+c\n") == "a\n\nc\n"


HEAD = "--- a/f\n+++ b/f\n"


@pytest.mark.parametrize(
    ("diff", "message"),
    [
        ("", "no unified diff"),
        ("hello\n", "no unified diff"),
        ("*** Begin Patch\n*** Update File: f\n", "no unified diff"),
        ("--- a/../../f\n+++ b/../../f\n@@ -1 +1 @@\n-a\n+b\n", "does not lie below"),
        ("--- /etc/passwd\n+++ /etc/passwd\n@@ -1 +1 @@\n-a\n+b\n", "does not lie below"),
        ("--- a/C:\\f\n+++ b/C:\\f\n@@ -1 +1 @@\n-a\n+b\n", "does not lie below"),
        ("--- a/\\\\host\\share\n+++ b/\\\\host\\share\n@@ -1 +1 @@\n-a\n+b\n", "does not lie below"),
        ("--- a/x\\..\\..\\f\n+++ b/x\\..\\..\\f\n@@ -1 +1 @@\n-a\n+b\n", "does not lie below"),
        ("--- ~/f\n+++ ~/f\n@@ -1 +1 @@\n-a\n+b\n", "does not lie below"),
        ("diff --git a/f b/../g\nrename from f\nrename to ../g\n", "does not lie below"),
        ("--- /dev/null\n+++ /dev/null\n@@ -0,0 +1 @@\n+b\n", "twice"),
        (HEAD, "no change follows"),
        (HEAD + "@@ -1,2 +1 @@\n-a\n+b\n", "whose counts promise more"),
        (HEAD + "@@ -1 +1 @@\n-a\n+b\n+c\n", "counts of the hunk before it are too small"),
        (HEAD + "@@ -1 +1,2 @@\n-a\n-b\n+c\n", "one too many"),
        (HEAD + "@@ -1,3 +1,3 @@\n a\n b\n c\n", "changes nothing"),
        (HEAD + "@@ -1 +1 @@\n-a\n+b\n@@ -1 +1 @@\n-a\n+b\n", "overlaps"),
        (HEAD + "@@ -5,2 +5 @@\n-a\n b\n@@ -2 +1 @@\n-a\n+b\n", "overlaps"),
        (HEAD + "@@ -0 +1 @@\n-a\n+b\n", "overlaps"),
        (HEAD + "@@ -1 +1 @@\n-a\n+b\n" + HEAD + "@@ -2 +2 @@\n-a\n+b\n", "more than once"),
        ("--- /dev/null\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n", "is made"),
        ("--- a/f\n+++ /dev/null\n@@ -1 +1 @@\n-a\n+b\n", "is removed"),
        ("diff --git a/f b/f\nindex 1..2\nGIT binary patch\nliteral 1\n", "binary"),
        ("Binary files a/f and b/f differ\n", "binary"),
        ("diff --git a/f b/f\nnew file mode 120000\n--- /dev/null\n+++ b/f\n@@ -0,0 +1 @@\n+/etc\n", "no regular file"),
        ("diff --git a/f b/g\nindex 1..2\n", "without saying"),
        ("@@ -1 +1 @@\n-a\n+b\n" * 2 + "x\n@@ -1 +1 @@\n", "overlaps"),
    ],
)
def test_a_hostile_or_broken_diff_is_refused(diff: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        parse(diff)


@given(st.text("-+@ ,1a/b\n\\\r", max_size=60))
def test_any_words_are_a_diff_or_refused(words: str) -> None:
    for diff in (words, HEAD + words, f"{HEAD}@@ -1 +1 @@\n{words}", f"diff --git a/f b/f\n{words}"):
        try:
            files = parse(diff)
        except InvalidInput:
            continue
        assert all(isinstance(hunk, Hunk) for file in files for hunk in file.hunks)
