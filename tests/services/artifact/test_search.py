from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hearth import artifacts, dispatch
from hearth.content import occurrences, scouting
from hearth.model import State
from hearth.platforms import programs
from hearth.runtime import Runtime
from tests import memory
from tests.conftest import Done

Run = Callable[..., Done]
MIB = 1 << 20


def keep(runtime: Runtime, content: bytes, encoding: str | None = None) -> str:
    return artifacts.keep(runtime, [content], media_type="text/plain", operation="machine.exec", encoding=encoding).id


def search(runtime: Runtime, content: bytes | str, query: str, encoding: Any = None, **words: Any) -> list[int]:
    """The offsets that were found."""
    id_ = content if isinstance(content, str) else keep(runtime, content, encoding)
    done = dispatch.call_json(runtime, "artifact.search", {"id": id_, "query": query, **words})
    assert done.error is None, done.error
    return [match.offset for match in done.result.matches]


def code_of(runtime: Runtime, content: bytes, query: str, **words: object) -> str:
    done = dispatch.call_json(runtime, "artifact.search", {"id": keep(runtime, content), "query": query, **words})
    assert done.error is not None
    return done.error.code


def test_offsets_are_bytes_that_read_accepts(runtime: Runtime) -> None:
    content = ("é" * 70_000 + "here is the needle, " + "€" * 100).encode()
    id_ = keep(runtime, content)
    done = dispatch.call_json(runtime, "artifact.search", {"id": id_, "query": "needle"})
    (match,) = done.result.matches
    assert (match.offset, match.length) == (content.index(b"needle"), 6)
    part = dispatch.call_json(
        runtime, "artifact.read", {"id": id_, "offset": match.offset, "limit": match.length}
    ).result
    assert (part.data, part.offset) == ("needle", match.offset)


def test_a_preview_is_cut_at_characters(runtime: Runtime) -> None:
    content = ("é" * 200 + "needle" + "😀" * 200).encode()
    done = dispatch.call_json(runtime, "artifact.search", {"id": keep(runtime, content), "query": "needle"})
    assert done.result.matches[0].preview == "é" * 80 + "needle" + "😀" * 80


def test_matches_do_not_overlap(runtime: Runtime) -> None:
    assert search(runtime, b"aaaaa", "aa") == [0, 2]
    assert search(runtime, b"aaaaa", "aa", regex=True) == [0, 2]
    assert search(runtime, b"aaaaa", "aa", offset=1) == [1, 3]


def test_a_literal_is_no_expression(runtime: Runtime) -> None:
    assert search(runtime, b"axb a.b", "a.b") == [4]
    assert search(runtime, b"axb a.b", "a.b", regex=True) == [0, 4]


def test_case_and_words(runtime: Runtime) -> None:
    content = "Error error_code error Ärger ärger".encode()
    assert search(runtime, content, "error") == [6, 17]
    assert search(runtime, content, "error", ignore_case=True) == [0, 6, 17]
    assert search(runtime, content, "error", word=True) == [17]
    assert search(runtime, content, "ärger", ignore_case=True) == [23, 30]


def test_an_expression_looks_at_one_line_at_a_time(runtime: Runtime) -> None:
    content = b"one\r\ntwo\n\nthree"
    assert search(runtime, content, "^t.*", regex=True) == [5, 10]
    assert search(runtime, content, "e$", regex=True) == [2, 14]
    assert search(runtime, content, r"e\s+t", regex=True) == []
    assert search(runtime, content, "x*", regex=True) == [0, 5, 9, 10]


def test_a_literal_may_hold_an_end_of_line(runtime: Runtime) -> None:
    assert search(runtime, b"one\ntwo", "e\nt") == [2]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "cp1252", "shift_jis", "gb18030"])
@pytest.mark.parametrize("words", [{}, {"regex": True}, {"ignore_case": True}, {"word": True}], ids=str)
def test_offsets_are_right_in_any_encoding(runtime: Runtime, encoding: str, words: dict[str, bool]) -> None:
    text = "first line\n" * 20_000 + "a needle here\nand a needle there\n"
    content = text.encode(encoding)
    wide = len("x".encode(encoding))
    expected = [found.start() * wide for found in re.finditer("needle", text)]
    assert search(runtime, content, "needle", encoding, **words) == expected
    id_ = keep(runtime, content, encoding)
    assert search(runtime, id_, "needle", offset=expected[0] + wide, **words) == expected[1:]
    found = dispatch.call_json(runtime, "artifact.search", {"id": id_, "query": "needle", **words}).result.matches[0]
    assert "a needle here" in found.preview


def test_a_mark_tells_the_encoding(runtime: Runtime) -> None:
    content = "\ufeffone two".encode("utf-16-le")
    assert search(runtime, content, "two") == [10]
    assert search(runtime, content, "t.o", regex=True) == [10]
    assert search(runtime, "\ufeffone".encode(), "^one", regex=True) == [3]


def test_half_of_another_character_is_no_match(runtime: Runtime) -> None:
    # The second byte of U+8868 in Shift JIS is a backslash; U+6162 in UTF-16 is "ba".
    assert search(runtime, "表 \\".encode("shift_jis"), "\\", "shift_jis") == [3]
    assert search(runtime, "\u6261\u6162 ab".encode("utf-16-le"), "ab", "utf-16-le") == [6]


def test_bytes_that_are_no_text_are_searched_too(runtime: Runtime) -> None:
    content = bytes(range(256)) * 4 + b"needle\xfe"
    assert search(runtime, content, "needle") == [1024]
    assert search(runtime, content, "n.*e", regex=True) == [1024]


def test_a_limit_says_where_to_go_on_and_pages_join(runtime: Runtime) -> None:
    id_ = keep(runtime, b"x needle " * 25)
    seen: list[int] = []
    offset: int | None = 0
    while offset is not None:
        given = {"id": id_, "query": "needle", "limit": 10, "offset": offset}
        done = dispatch.call_json(runtime, "artifact.search", given).result
        assert done.state is (State.COMPLETED if done.next_offset is None else State.PARTIAL)
        seen += [match.offset for match in done.matches]
        offset = done.next_offset
    assert seen == list(range(2, 225, 9))


def test_what_is_not_there_is_no_failure(hearth: Run, runtime: Runtime) -> None:
    id_ = keep(runtime, b"hello")
    done = hearth("artifact", "search", id_, "absent", "--json")
    assert (done.status, done.json["matches"]) == (0, [])


def test_wrong_expressions_are_refused(runtime: Runtime) -> None:
    assert code_of(runtime, b"x", "(a", regex=True) == "invalid_pattern"
    assert code_of(runtime, b"x", r"(a)\1", regex=True) == "invalid_pattern"


def test_no_expression_makes_a_search_of_an_artifact_hang(runtime: Runtime) -> None:
    content = (b"a" * 40 + b"!\n") * 10_000 + b"a" * 1_000_000 + b"!"
    started = time.monotonic()
    assert search(runtime, content, "(a+)+$", regex=True) == []
    assert search(runtime, content, "(a|aa)+b", regex=True) == []
    assert time.monotonic() - started < 3


# Borders of blocks: small ones, so that every place of a match is tried.


@pytest.fixture(params=[7, 16, 64])
def small_blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(occurrences, "BLOCK", request.param)
    monkeypatch.setattr("hearth.content.transcoded.BLOCK", request.param)
    monkeypatch.setattr(occurrences, "MAX_LINE", 96)
    monkeypatch.setattr(occurrences, "OVERLAP", 24)
    monkeypatch.setattr(occurrences, "BEFORE", 4)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("words", [{}, {"regex": True}], ids=str)
def test_matches_on_any_border_are_found_once(runtime: Runtime, words: dict[str, bool]) -> None:
    for before in range(0, 150, 7):
        content = b"." * before + b"needle" + b"." * 80 + b"needle\n" + b"," * before + b"needle"
        expected = [found.start() for found in re.finditer(b"needle", content)]
        assert search(runtime, content, "needle", **words) == expected


@pytest.mark.usefixtures("small_blocks")
def test_a_line_longer_than_any_block_begins_once(runtime: Runtime) -> None:
    content = b"ab" * 500 + b"\nab"
    assert search(runtime, content, "^ab", regex=True) == [0, 1001]
    assert search(runtime, content, r"\bab", regex=True) == [0, 1001]
    assert search(runtime, content, "b$", regex=True) == [999, 1002]


PIECES = st.lists(st.sampled_from(["ab", "a", "é", "\n", "b" * 30, "😀", "\r\n"]), max_size=30)


@settings(max_examples=60)
@given(pieces=PIECES, query=st.sampled_from(["ab", "ba", "b+", "a.", "é", "^a", "b$"]), wide=st.booleans())
def test_the_whole_at_once_and_in_blocks_are_the_same(
    shared: Runtime, pieces: list[str], query: str, wide: bool
) -> None:
    encoding = "utf-16-le" if wide else "utf-8"
    content = "".join(pieces).encode(encoding)
    whole = search(shared, content, query, encoding, regex=True, limit=1_000)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(occurrences, "BLOCK", 11)
        patch.setattr("hearth.content.transcoded.BLOCK", 10)
        assert search(shared, content, query, encoding, regex=True, limit=1_000) == whole


# ripgrep as a scout.

needs_ripgrep = pytest.mark.skipif(programs.find_program("rg") is None, reason="ripgrep is not installed")
LINES = (b"nothing of interest stands in this line\n" * 50_000)[:MIB]
FIRST, LAST = MIB + 6, 2 * MIB + 18


@pytest.fixture
def large(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> str:
    """An artifact that is large enough for ripgrep."""
    monkeypatch.setattr(scouting, "WORTH_BYTES", 1_000)
    monkeypatch.setattr(scouting, "STRIDE", MIB)
    return keep(runtime, LINES + b"first needle\n" + LINES + b"last needle")


@needs_ripgrep
@pytest.mark.parametrize("scout", [True, False])
def test_ripgrep_and_python_find_the_same(
    runtime: Runtime, large: str, monkeypatch: pytest.MonkeyPatch, scout: bool
) -> None:
    if not scout:
        monkeypatch.setattr(programs, "find_program", lambda _: None)
    expected = [FIRST, LAST]
    assert search(runtime, large, "needle") == expected
    assert search(runtime, large, "needle", offset=expected[0]) == expected
    assert search(runtime, large, "needle", offset=expected[0] + 1) == expected[1:]
    assert len(search(runtime, large, "interest", limit=1_000)) == 1_000


@needs_ripgrep
def test_a_scout_that_fails_is_done_without(runtime: Runtime, large: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scouting, "_arguments", lambda program, _: [program, "--no-such-option"])
    assert search(runtime, large, "needle") == [FIRST, LAST]


def test_ripgrep_never_gets_a_line_that_it_would_have_to_hold(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "start_reader", lambda *_, **__: pytest.fail("ripgrep was started"))
    monkeypatch.setattr(scouting, "WORTH_BYTES", 1_000)
    monkeypatch.setattr(scouting, "STRIDE", MIB)
    content = LINES + b"x" * (MIB + scouting.SAMPLE) + LINES + b"needle"
    assert search(runtime, content, "needle") == [len(content) - 6]


def test_a_search_ends_with_its_time_and_goes_on_from_there(runtime: Runtime, large: str) -> None:
    class Fast(type(runtime.clock)):  # type: ignore[misc]
        """Each look at it is a second later."""

        now = 0.0

        def monotonic(self) -> float:
            self.now += 1
            return self.now

    given = {"id": large, "query": "n[e]edle", "regex": True, "timeout_ms": 2_000}
    done = dispatch.call_json(runtime.for_call(clock=Fast()), "artifact.search", given).result
    assert (done.state, done.stopped) == (State.PARTIAL, "time")
    assert 0 < done.next_offset < LAST
    found = [match.offset for match in done.matches]
    assert found + search(runtime, large, "n[e]edle", regex=True, offset=done.next_offset) == [FIRST, LAST]


@pytest.mark.parametrize("words", [{}, {"regex": True}], ids=str)
def test_a_search_can_be_taken_back(runtime: Runtime, large: str, words: dict[str, bool]) -> None:
    runtime.cancelled.set()
    done = dispatch.call_json(runtime, "artifact.search", {"id": large, "query": "needle", **words})
    assert done.error is not None
    assert done.error.code == "cancelled"


def test_the_shell_prints_places_and_previews(runtime: Runtime, hearth: Run, work: Path) -> None:
    del work
    id_ = keep(runtime, b"one needle\n")
    assert hearth("artifact", "search", id_[:20], "needle").out == "4\tone needle\\n\n"


@pytest.mark.slow
@pytest.mark.timeout(120)
@pytest.mark.skipif(os.name == "nt", reason="Windows does not tell how much a program held")
@pytest.mark.parametrize("words", [("needle",), ("-E", "needl[e]"), ("-i", "NEEDLE")], ids=" ".join)
@pytest.mark.parametrize(
    "line", [b"nothing of interest stands here\n", b"one line without an end "], ids=["lines", "line"]
)
def test_a_large_artifact_is_searched_in_bounded_memory(runtime: Runtime, words: tuple[str, ...], line: bytes) -> None:
    piece = line * (MIB // len(line))
    made = artifacts.keep(
        runtime, (*(piece for _ in range(300)), b"needle"), media_type="text/plain", operation="machine.exec"
    )
    runtime.close()
    command = [sys.executable, "-m", "hearth", "artifact", "search", made.id, *words, "--data-dir", runtime.data_dir]
    folder = Path(__file__).parents[3]
    printed, peak = memory.run([*command, "--json"], folder=folder, timeout=100)
    assert [match["offset"] for match in json.loads(printed)["matches"]] == [300 * len(piece)]
    assert peak < 64 * MIB
