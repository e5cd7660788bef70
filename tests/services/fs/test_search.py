from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st

from hearth.containment import Root
from hearth.errors import InvalidInput, InvalidPattern, RegexEngineMissing
from hearth.platforms import programs
from hearth.runtime import Runtime
from hearth.services.fs.search import SearchFiles, SearchResult, Where, search
from hearth.settings import Settings

needs_links = pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege, and Wine has none")


@pytest.fixture(params=["ripgrep", "walk"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Every search is held to the same with ripgrep and without it."""
    if request.param == "walk":
        monkeypatch.setattr(programs, "find_program", lambda _: None)
    elif programs.find_program("rg") is None:
        pytest.skip("ripgrep is not installed")
    assert isinstance(request.param, str)
    return request.param


def shown(result: SearchResult) -> list[tuple[str, int | None, str | None]]:
    return [(each.path.replace(os.sep, "/"), each.line, each.text) for each in result.matches]


def write(work: Path, files: dict[str, bytes]) -> None:
    for name, data in files.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_bytes(data)


def test_a_search_tells_path_line_column_and_offset(work: Path, runtime: Runtime, engine: str) -> None:
    write(work, {"a/b.txt": b"one\r\nt\xc3\xa4 needle\r\nthree\nneedle", "c.txt": b"nothing"})
    result = search(runtime, SearchFiles(query="needle"))
    assert shown(result) == [("a/b.txt", 2, "tä needle"), ("a/b.txt", 4, "needle")]
    assert [(each.column, each.offset) for each in result.matches] == [(4, 9), (1, 23)]
    assert (result.engine, result.state, result.truncated, result.skipped) == (engine, "completed", False, {})


def test_names_and_contents_are_two_searches(work: Path, hearth: Callable[..., Any]) -> None:
    write(work, {"needle.txt": b"x", "b.txt": b"1\n2\nneedle\n4\n5\n"})
    by_name = hearth("fs", "search", "needle", "--in", "name", "--json").json["matches"]
    by_content = hearth("fs", "search", "needle", "--context", "2", "--json").json["matches"]
    assert [(each["path"], each["line"]) for each in by_name] == [("needle.txt", None)]
    assert [(each["path"], each["before"], each["after"]) for each in by_content] == [("b.txt", ["1", "2"], ["4", "5"])]


@pytest.mark.parametrize(
    ("given", "lines"),
    [
        (SearchFiles(query="FOO", ignore_case=True), [1, 2, 3, 4]),
        (SearchFiles(query="foo", word=True), [1, 4]),
        (SearchFiles(query=r"^fo+$", regex=True), [4]),
        (SearchFiles(query=r"\d+\s\w+$", regex=True), [5]),
        (SearchFiles(query=r"[^\W_]+-[[:digit:]]+", regex=True), [6]),
        (SearchFiles(query="a{", regex=True), [7]),
        (SearchFiles(query=r"\Q(x)[\E", regex=True), [8]),
        (SearchFiles(query=r"[[]&&~", regex=True), [9]),
        (SearchFiles(query="É", ignore_case=True), [10]),
        (SearchFiles(query=r"\bcaf", regex=True), [10]),
        (SearchFiles(query="caf", word=True), []),
        (SearchFiles(query=r"^$", regex=True), [11]),
        (SearchFiles(query=r"x\s*y", regex=True), [14]),
        (SearchFiles(query=r"\x41\103", regex=True), [15]),
    ],
)
def test_both_engines_find_the_same_lines(
    work: Path, runtime: Runtime, engine: str, given: SearchFiles, lines: list[int]
) -> None:
    text = (
        "a foo b\nfoobar\nFOO_\nfoo\r\n12 ab\nab-12\nb a{ c\n(x)[\n[&&~\ncafé\n\nx\ny\nx y\nAC\n"  # x and y are apart
    )
    write(work, {"t.txt": text.encode()})
    result = search(runtime, given)
    assert [each.line for each in result.matches] == lines
    assert (result.skipped, result.engine) == ({}, engine)


def test_ignored_hidden_and_binary_files_are_left_out_counted_and_can_be_had(
    work: Path, runtime: Runtime, engine: str
) -> None:
    write(
        work,
        {
            ".gitignore": b"out/\n*.o\n",
            "out/x": b"needle",
            "a.o": b"needle",
            ".env": b"needle",
            ".git/config": b"needle",
            "blob": b"needle\0",
            "plain": b"needle",
        },
    )
    result = search(runtime, SearchFiles(query="needle"))
    assert [path for path, _, _ in shown(result)] == ["plain"]
    assert result.skipped["ignored"] in (2, 3)  # .git is both ignored and hidden
    assert (result.skipped["hidden"], result.skipped["binary"]) in ((2, 1), (3, 1))
    everything = search(runtime, SearchFiles(query="needle", hidden=True, ignored=True, binary=True))
    assert [path for path, _, _ in shown(everything)] == [".env", ".git/config", "a.o", "blob", "out/x", "plain"]
    assert result.engine == engine


@pytest.mark.parametrize(
    ("globs", "types", "found"),
    [
        (("src/*.py",), (), ["src/a.py"]),
        (("*.py", "!deep"), (), ["src/a.py"]),
        ((), ("py", "md"), ["src/a.md", "src/a.py", "src/deep/b.py"]),
        (("src/deep/**",), ("py",), ["src/deep/b.py"]),
        (("*.o",), (), []),
    ],
)
def test_globs_and_types_choose_files(
    work: Path, runtime: Runtime, engine: str, globs: tuple[str, ...], types: tuple[str, ...], found: list[str]
) -> None:
    write(work, dict.fromkeys(("src/a.py", "src/a.md", "src/deep/b.py", "src/a.o", "c.txt"), b"needle"))
    write(work, {".gitignore": b"*.o\n"})
    result = search(runtime, SearchFiles(query="needle", globs=globs, types=types))
    assert [path for path, _, _ in shown(result)] == found
    assert result.engine == engine


def test_an_unknown_type_is_refused(runtime: Runtime) -> None:
    with pytest.raises(InvalidInput):
        search(runtime, SearchFiles(query="x", types=("pyhton",)))


def test_a_text_of_two_byte_characters_is_searched(work: Path, runtime: Runtime, engine: str) -> None:
    write(work, {"w.txt": "\ufeffone\nä needle 😀\n".encode("utf-16-le"), "b.txt": "\ufeffneedle".encode("utf-16-be")})
    result = search(runtime, SearchFiles(query="needle"))
    assert shown(result) == [("b.txt", 1, "needle"), ("w.txt", 2, "ä needle 😀")]
    assert [each.offset for each in result.matches] == [2, 14]
    assert result.engine == engine


def test_a_search_stops_at_its_limits(work: Path, runtime: Runtime, engine: str) -> None:
    write(work, {f"f{number}": b"needle\n" * 50 for number in range(50)})
    result = search(runtime, SearchFiles(query="needle", limit=120, max_count=50))
    assert (len(result.matches), result.truncated, result.stopped, result.state) == (120, True, "limit", "partial")
    few = search(runtime, SearchFiles(query="needle", max_count=1))
    assert (len(few.matches), few.skipped) == (50, {"max_count": 50})
    small = runtime.for_call(settings=Settings(max_output_bytes=1_024))
    assert search(small, SearchFiles(query="needle")).stopped == "bytes"
    assert result.engine == engine


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*$", "(.*)*x$", "a{0,500}a{0,500}$"])
def test_no_expression_makes_a_search_hang(work: Path, runtime: Runtime, engine: str, pattern: str) -> None:
    write(work, {"a": b"a" * 40 + b"!" + b"a" * 20_000 + b"!"})
    started = time.monotonic()
    result = search(runtime, SearchFiles(query=pattern, regex=True))
    assert result.matches == ()
    assert time.monotonic() - started < 2
    assert result.engine == engine


@pytest.mark.parametrize("pattern", ["(", "a**b(", "[z-a]", r"(?=a)", r"(a)\1", r"\8", "a{1001}", "*"])
def test_a_wrong_expression_is_named_before_anything_is_read(runtime: Runtime, pattern: str) -> None:
    with pytest.raises(InvalidPattern):
        search(runtime, SearchFiles(query=pattern, regex=True))


def test_without_an_engine_literals_are_still_searched(
    work: Path, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "re2", None)
    monkeypatch.setattr(programs, "find_program", lambda _: None)
    write(work, {"a": b"a (Needle) b\nNEEDLES\n"})
    assert [
        each.line for each in search(runtime, SearchFiles(query="needle", ignore_case=True, word=True)).matches
    ] == [1]
    with pytest.raises(RegexEngineMissing):
        search(runtime, SearchFiles(query="n.e", regex=True))


def test_one_file_can_be_searched(work: Path, hearth: Callable[..., Any]) -> None:
    write(work, {"a/x.txt": b"1\nneedle\n", "a/y.txt": b"needle"})
    done = hearth("fs", "search", "needle", "a/x.txt")
    assert (done.status, done.out) == (0, f"{Path('a/x.txt')}\t2\tneedle\n")


def test_what_is_left_out_of_one_file_is_told(work: Path, runtime: Runtime) -> None:
    write(work, {"a": b"needle\n" * 1_500})
    for limit, max_count, count, stopped in (
        (200, 1_000, 200, "limit"),
        (5_000, 1_000, 1_000, "max_count"),
        (5_000, 7, 7, None),
        (5_000, 2_000, 1_500, None),
    ):
        for path in ("a", "."):
            looked = SearchFiles(
                query="needle", path=path, limit=limit, max_count=max_count, max_output_bytes=1_000_000
            )
            result = search(runtime, looked)
            told = len(result.matches), result.stopped, result.truncated, result.state == "partial"
            assert told == (count, stopped, stopped is not None, stopped is not None)


@pytest.mark.parametrize(
    ("query", "regex", "refused"),
    [
        ("one\ntwo", False, True),
        ("one\ntwo", True, True),
        (r"one\ntwo", True, True),
        (r"one\\\ntwo", True, True),
        (r"one\ntwo", False, False),
        (r"one\\ntwo", True, False),
        (r"one[^\n]two", True, False),
        (r"[]\n]\S[\]\n]", True, False),
    ],
)
def test_a_query_over_an_end_of_line_is_refused_instead_of_never_found(
    work: Path, runtime: Runtime, query: str, regex: bool, refused: bool
) -> None:
    write(work, {"a": b"one\ntwo\n"})
    if refused:
        with pytest.raises(InvalidInput, match="end of line"):
            search(runtime, SearchFiles(query=query, regex=regex))
    else:
        assert search(runtime, SearchFiles(query=query, regex=regex)).matches == ()
    assert search(runtime, SearchFiles(query=query, regex=regex, in_=Where.NAME)).matches == ()


def test_context_is_shown_at_the_shell_when_asked_for(work: Path, hearth: Callable[..., Any]) -> None:
    write(work, {"a": b"1\n2\nneedle\n4\n"})
    assert hearth("fs", "search", "needle").out == "a\t3\tneedle\n"
    assert hearth("fs", "search", "needle", "-C", "2").out == "a\t3\tneedle\t1, 2\t4\n"
    assert hearth("fs", "search", "a", "--in", "name").out == "a\n"


def test_a_search_without_a_match_ends_well(work: Path, hearth: Callable[..., Any]) -> None:
    write(work, {"a": b"x"})
    assert (hearth("fs", "search", "needle").status, hearth("fs", "search", "needle").out) == (0, "")


def test_the_default_place_is_the_current_directory(work: Path, runtime: Runtime, home: Path) -> None:
    write(work, {"a": b"needle"})
    write(home, {"b": b"needle"})
    assert search(runtime, SearchFiles(query="needle")).path == str(work)


def test_a_root_with_blanks_and_signs_in_its_path_is_searched(tmp_path: Path, runtime: Runtime, engine: str) -> None:
    folder = tmp_path / "A & B (x)" / "Visual Studio"
    write(folder, {"-e": b"needle", "$(id).txt": b"needle"})
    there = runtime.for_call(roots=(Root(str(folder)),), base=str(folder))
    assert [path for path, _, _ in shown(search(there, SearchFiles(query="needle")))] == ["$(id).txt", "-e"]
    assert search(there, SearchFiles(query="-needle")).matches == ()
    assert engine


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no FIFOs in directories")
def test_fifos_devices_and_sockets_never_block_a_search(work: Path, runtime: Runtime, engine: str) -> None:
    import socket

    write(work, {"plain": b"needle"})
    os.mkfifo(work / "fifo")
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("s")  # relative: socket paths are short
        if os.geteuid() == 0:
            os.mknod(work / "null", 0o20666, os.makedev(1, 3))
        result = search(runtime, SearchFiles(query="needle"))
    assert [path for path, _, _ in shown(result)] == ["plain"]
    assert result.skipped["special"] == 2 + (os.geteuid() == 0)
    assert result.engine == engine


@needs_links
def test_links_are_not_followed(work: Path, runtime: Runtime, tmp_path: Path, engine: str) -> None:
    write(tmp_path, {"outside/secret.txt": b"needle"})
    write(work, {"plain": b"needle"})
    (work / "dir").symlink_to(tmp_path / "outside")
    (work / "file").symlink_to(tmp_path / "outside" / "secret.txt")
    result = search(runtime, SearchFiles(query="needle"))
    links = 1 if engine == "ripgrep" else 2  # ripgrep says nothing about a link to a directory
    assert ([path for path, _, _ in shown(result)], result.skipped) == (["plain"], {"link": links})
    assert result.engine == engine


@needs_links
@pytest.mark.parametrize("rounds", [60, pytest.param(2_000, marks=[pytest.mark.slow, pytest.mark.timeout(120)])])
def test_a_directory_swapped_for_a_link_gives_no_outside_hit(
    work: Path, runtime: Runtime, tmp_path: Path, rounds: int
) -> None:
    write(tmp_path, {"outside/f.txt": b"needle outside"})
    write(work, {"dir/f.txt": b"needle inside"})
    done = threading.Event()

    def swap() -> None:
        while not done.is_set():
            os.rename(work / "dir", work / "away")
            os.symlink(tmp_path / "outside", work / "dir")
            os.unlink(work / "dir")
            os.rename(work / "away", work / "dir")

    swapping = threading.Thread(target=swap)
    swapping.start()
    try:
        texts = [each.text for _ in range(rounds) for each in search(runtime, SearchFiles(query="needle")).matches]
    finally:
        done.set()
        swapping.join()
    assert "needle inside" in texts
    assert set(texts) == {"needle inside"}


@pytest.mark.parametrize("gone", [False, True], ids=["rewritten", "removed"])
def test_what_is_no_longer_as_proposed_is_counted(
    work: Path, runtime: Runtime, monkeypatch: pytest.MonkeyPatch, gone: bool
) -> None:
    if programs.find_program("rg") is None:
        pytest.skip("ripgrep is not installed")
    from hearth.services.fs import handles

    real = handles.Handles.directory

    def change(self: handles.Handles, parts: tuple[str, ...]) -> Any:
        # Called once the only file was proposed, so there is nothing left that the program may still have to read.
        (work / "a").unlink() if gone else (work / "a").write_bytes(b"something else")
        return real(self, parts)

    monkeypatch.setattr(handles.Handles, "directory", change)
    write(work, {"a": b"needle"})
    result = search(runtime, SearchFiles(query="needle"))
    assert (result.matches, result.skipped) == ((), {"changed": 1})


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-ins are shell scripts")
@pytest.mark.parametrize(
    "script",
    [
        "echo 'error: unrecognized flag --null' >&2; exit 2",
        r"printf 'a\0001:0:x\n'; kill -9 $$",
        "exit 3",
    ],
)
def test_a_ripgrep_that_fails_is_done_without(
    work: Path, runtime: Runtime, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str
) -> None:
    program = tmp_path / "rg"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(programs, "find_program", lambda _: str(program))
    write(work, {"a": b"needle", "b": b"needle"})
    result = search(runtime, SearchFiles(query="needle"))
    assert (shown(result), result.engine) == ([("a", 1, "needle"), ("b", 1, "needle")], "walk")


def test_many_hits_in_a_wide_text_tell_their_places(work: Path, runtime: Runtime, engine: str) -> None:
    write(work, {"w": ("\ufeff" + "é needle 😀\n" * 2_000).encode("utf-16-le")})
    result = search(runtime, SearchFiles(query="needle", limit=2_000, max_count=2_000, max_output_bytes=1 << 20))
    assert [each.offset for each in result.matches] == [2 + 24 * number + 4 for number in range(2_000)]
    assert result.engine == engine


def test_time_that_runs_out_gives_what_was_found(work: Path, runtime: Runtime, engine: str) -> None:
    write(work, {f"d{number // 100}/{number}": b"needle" for number in range(300)})

    class Hurried(type(runtime.clock)):  # type: ignore[misc]
        calls = 0

        def monotonic(self) -> float:
            self.calls += 1
            return 0.0 if self.calls < 40 else 100.0

    hurried = runtime.for_call(clock=Hurried())
    result = search(hurried, SearchFiles(query="needle", timeout_ms=1_000))
    assert (result.state, result.stopped, result.truncated) == ("partial", "time", True)
    assert result.engine == engine


@pytest.mark.parametrize("size", [100, 70_000, 1 << 20, 5 << 20])
def test_matches_are_found_at_every_place_of_long_lines(work: Path, runtime: Runtime, size: int) -> None:
    data = b"x" * size + b"needle" + b"y" * size + b"\nneedle\n"
    write(work, {"long": data})
    result = search(runtime, SearchFiles(query="needle"))
    assert [(each.line, each.offset) for each in result.matches] == [(1, size), (2, len(data) - 7)]
    assert all("needle" in (each.text or "") and len(each.text or "") <= 500 for each in result.matches)


def test_blocks_do_not_split_lines(work: Path, runtime: Runtime, engine: str) -> None:
    line = b"0123456789 abc\n"
    data = line * 200_000 + b"needle\n" + line * 10 + b"needle"
    write(work, {"big": data})
    result = search(runtime, SearchFiles(query="needle", context=1))
    assert [(each.line, each.offset) for each in result.matches] == [(200_001, 3_000_000), (200_012, 3_000_157)]
    assert result.matches[0].before == result.matches[0].after == ("0123456789 abc",)
    assert result.engine == engine


def test_a_name_that_is_not_utf8_is_found(work: Path, runtime: Runtime, engine: str) -> None:
    if sys.platform != "linux":
        pytest.skip("names are text there")
    name = os.fsdecode(b"n\xff\n.txt")
    write(work, {name: b"needle"})
    assert [each.path for each in search(runtime, SearchFiles(query="needle")).matches] == [name]
    assert [each.path for each in search(runtime, SearchFiles(query=".txt", in_=Where.NAME)).matches] == [name]
    assert engine


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_many_hits_in_a_hundred_thousand_files_stay_in_bounded_memory(work: Path, hearth: Callable[..., Any]) -> None:
    psutil = pytest.importorskip("psutil")

    for directory in range(100):
        (work / f"{directory:03}").mkdir()
        for number in range(1_000):
            (work / f"{directory:03}" / f"{number}").write_bytes(b"needle\n" * 50)
    before = psutil.Process().memory_info().rss
    started = time.monotonic()
    done = hearth("fs", "search", "needle", "--limit", "200", "--json")
    assert (len(done.json["matches"]), done.json["truncated"]) == (200, True)
    assert time.monotonic() - started < 5
    assert psutil.Process().memory_info().rss - before < 64 << 20


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_huge_binary_and_a_huge_folder_end_within_the_time(work: Path, runtime: Runtime, engine: str) -> None:
    write(work, {"src/a.txt": b"needle", ".gitignore": b"node_modules\n"})
    with open(work / "huge.bin", "wb") as file:
        file.truncate(2 << 30)
    for number in range(20_000):
        write(work, {f"node_modules/{number % 100}/{number}.js": b"needle"})
    started = time.monotonic()
    result = search(runtime, SearchFiles(query="needle", timeout_ms=3_000, max_file_bytes=8 << 30))
    assert time.monotonic() - started < 4
    assert [path for path, _, _ in shown(result)] == ["src/a.txt"]
    assert (result.skipped["binary"], result.engine) == (1, engine)


PIECES = st.sampled_from(
    [
        *(
            "a",
            "b",
            "é",
            "_",
            "-",
            " ",
            ".",
            "^",
            "$",
            "|",
            "x*",
            "b+",
            "a?",
            "a{2}",
            "a{1,}",
            "{",
            "{,2}",
            "[ab]",
            "[^a]",
        ),
        *(r"\w", r"\W", r"\d", r"\D", r"\s", r"\S", r"\b", r"\B", r"[\w-]", r"[^\s]", r"[^\W]", r"[\D_]", r"\.", r"\-"),
        *("(a|é)", "(?i:A)", "(?:b)", "[[:alpha:]]", "[^[:space:]]", "[]a]", "[a&&b]", "[[a]", "[~~]", r"\x61", r"\pL"),
        *(r"\Qa.b\E", r"\A", r"\z", r"[\.\]]", r"\141", "(?s:.)", "(?P<n>a)", r"\p{Greek}", "λ", r"\C", "a*?", r"\t"),
    ]
)
LINES = "\n".join(
    [
        *(
            "a",
            "b",
            "ab",
            "aé",
            "é",
            "a.b",
            "a-b",
            "a b",
            " ",
            "",
            "{",
            "a{,2}",
            "1",
            "_",
            "]",
            "[a",
            "&&",
            "~~",
            "\t",
            "A",
        ),
        *("aab\r", "xxbb", "λμ", "a\u00a0b", "٣", "a1_é-[x]", "b\r", "\r", "\x0b"),
    ]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=12)
@given(pieces=st.lists(PIECES, min_size=1, max_size=4), word=st.booleans(), ignore_case=st.booleans())
def test_whatever_the_expression_both_engines_find_the_same(
    work: Path, runtime: Runtime, pieces: list[str], word: bool, ignore_case: bool
) -> None:
    if programs.find_program("rg") is None:
        pytest.skip("ripgrep is not installed")
    (work / "lines").write_bytes(LINES.encode())
    for number, line in enumerate(LINES.split("\n")):
        (work / f"{number}").write_bytes(line.encode())
    asked = SearchFiles(query="".join(pieces), regex=True, word=word, ignore_case=ignore_case)
    try:
        proposed = search(runtime, asked)
    except InvalidPattern:
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(programs, "find_program", lambda _: None)
        walked = search(runtime, asked)
    assert shown(proposed) == shown(walked)
    event(proposed.engine)


def test_json_calls_the_field_what_the_shell_calls_it(work: Path, hearth: Callable[..., Any]) -> None:
    write(work, {"needle.txt": b"hay"})
    by_name = hearth("call", "fs.search", '{"query": "needle", "in": "name"}')
    assert [each["path"] for each in by_name.json["matches"]] == ["needle.txt"]
    assert "in" in hearth("schema", "fs.search", "--json").out
    wrong = hearth("call", "fs.search", '{"query": "needle", "in_": "name"}')
    assert [p["field"] for p in wrong.json["error"]["details"]["problems"]] == ["in_"]
