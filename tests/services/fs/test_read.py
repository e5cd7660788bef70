from __future__ import annotations

import base64
import hashlib
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hearth.dispatch import call_json
from hearth.errors import Encoding, InvalidInput, IsDirectory, NotFound
from hearth.runtime import Runtime
from hearth.services.fs.read import ReadFiles, read, stream
from hearth.settings import Settings

ENCODINGS = ["utf-8", "utf-8-sig", "utf-16-le", "utf-16-be", "utf-32-le", "cp1252", "shift_jis"]
fixtures_are_shared = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60
)


def bounded(runtime: Runtime, size: int = 1_024) -> Runtime:
    return runtime.for_call(settings=Settings(max_output_bytes=size))


def test_a_file_is_read_with_all_that_is_known_of_it(work: Path, hearth: Callable[..., Any]) -> None:
    data = "a\r\nzwölf\r\n".encode()
    (work / "a.txt").write_bytes(data)
    answer = hearth("fs", "read", "a.txt", "--json").json
    assert {name: answer[name] for name in answer if name not in ("path", "version", "files", "errors")} == {
        "state": "completed",
        "encoding": "utf-8",
        "guessed": False,
        "bom": False,
        "line_ends": "crlf",
        "size": 11,
        "offset": 0,
        "length": 11,
        "next_offset": None,
        "first_line": 1,
        "data": "a\r\nzwölf\r\n",
        "data_base64": None,
        "sha256": hashlib.sha256(data).hexdigest(),
    }


def test_the_shell_prints_the_exact_bytes(work: Path, hearth: Callable[..., Any]) -> None:
    data = b"\xff\xfea\0\r\0\n\0" + bytes(range(256)) * 9_000
    (work / "any").write_bytes(data)
    (work / "b").write_bytes(b"\xef\xbb\xbftail")
    assert hearth("fs", "read", "any").out_bytes == data
    assert hearth("fs", "read", "any", "b").out_bytes == data + b"\xef\xbb\xbftail"
    assert base64.b64decode(hearth("fs", "read", "any", "--encoding", "base64").out_bytes) == data


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--lines", "2:3"), "two\r\nthree\n"),
        (("--lines", "3"), "three\n"),
        (("--lines", "4:"), "four"),
        (("--lines", ":1"), "one\n"),
        (("--lines", "9:10"), ""),
        (("--head", "2"), "one\ntwo\r\n"),
        (("--head", "0"), ""),
        (("--tail", "2"), "three\nfour"),
        (("--tail", "99"), "one\ntwo\r\nthree\nfour"),
        (("--tail", "0"), ""),
        (("--tail", "1", "--number"), "     4\tfour"),
        (("--lines", "2:3", "-N"), "     2\ttwo\r\n     3\tthree\n"),
        (("--offset", "4", "--limit", "3"), "two"),
        (("--offset", "400"), ""),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16-le", "utf-32-be"])
def test_parts_are_the_same_at_the_shell_and_in_json(
    work: Path, hearth: Callable[..., Any], words: tuple[str, ...], expected: str, encoding: str
) -> None:
    if "--offset" in words and encoding != "utf-8":
        pytest.skip("offsets count bytes")
    text = "one\ntwo\r\nthree\nfour"
    mark = "\ufeff" if encoding.startswith("utf-16") else ""
    (work / "a").write_bytes((mark + text).encode(encoding))
    assert hearth("fs", "read", "a", *words, "--encoding", encoding).out == expected
    answer = hearth("fs", "read", "a", *words, "--json").json
    assert (answer["data"], answer["encoding"]) == (expected, encoding.removesuffix("-sig"))


@fixtures_are_shared
@given(
    text=st.text(st.sampled_from("aé€😀\n\r\tz"), max_size=40),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"]),
    limit=st.integers(1, 9),
)
def test_pages_of_any_size_add_up_to_the_text(
    work: Path, runtime: Runtime, text: str, encoding: str, limit: int
) -> None:
    (work / "t").write_bytes(text.encode(encoding))
    pages, offset, end = [], 0, 0
    while True:
        page = read(runtime, ReadFiles(path="t", offset=offset, limit=limit, encoding=encoding))
        assert page.offset == end
        assert page.offset is not None and page.length is not None
        end = page.offset + page.length
        pages.append(page.data)
        if page.next_offset is None:
            break
        assert page.state == "partial"
        assert page.next_offset > offset
        offset = page.next_offset
    assert "".join(each or "" for each in pages) == text
    assert end == page.size


@fixtures_are_shared
@given(data=st.lists(st.sampled_from(["a", "é", "😀", "\n", "\r\n"]), max_size=30), offset=st.integers(0, 80))
def test_a_range_begins_and_ends_at_characters_and_tells_its_bytes(
    work: Path, runtime: Runtime, data: list[str], offset: int
) -> None:
    whole = "".join(data).encode()
    (work / "t").write_bytes(whole)
    part = read(runtime, ReadFiles(path="t", offset=offset, limit=5))
    assert part.offset is not None and part.length is not None and part.data is not None
    assert whole[part.offset : part.offset + part.length] == part.data.encode()
    assert min(offset, len(whole)) - 3 <= part.offset <= offset


@fixtures_are_shared
@given(
    lines=st.lists(st.sampled_from(["", "a", "é😀", "ਊ\u0a00"]), min_size=1, max_size=12),
    encoding=st.sampled_from(["utf-8", "utf-16-le", "utf-16-be", "utf-32-le"]),
    first=st.integers(1, 14),
    count=st.integers(0, 14),
)
def test_lines_are_those_that_splitting_gives(
    work: Path, runtime: Runtime, lines: list[str], encoding: str, first: int, count: int
) -> None:
    text = "\n".join(lines)
    (work / "t").write_bytes(("\ufeff" + text).encode(encoding))
    ended = [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    some = read(runtime, ReadFiles(path="t", lines=f"{first}:{first + count}"))
    assert (some.data, some.state) == ("".join(ended[first - 1 : first + count]), "completed")
    tail = read(runtime, ReadFiles(path="t", tail=count))
    assert (tail.data, tail.state) == ("".join(ended[len(ended) - min(count, len(ended)) :]), "completed")


@pytest.mark.parametrize("border", [1_023, 1_024, 65_535, 65_536, 1_048_575])
def test_no_character_is_split_at_any_border(work: Path, runtime: Runtime, border: int) -> None:
    text = "a" * border + "€" + "b" * 10 + "\n"
    (work / "t").write_bytes(text.encode())
    runtime = bounded(runtime, 4 << 20)
    for given_ in (
        ReadFiles(path="t", limit=border + 1),
        ReadFiles(path="t", offset=border + 1),
        ReadFiles(path="t", offset=border - 2, limit=4),
        ReadFiles(path="t", tail=1),
        ReadFiles(path="t", head=1),
    ):
        assert "\ufffd" not in (read(runtime, given_).data or "")
    assert b"".join(stream(runtime, ReadFiles(path="t", encoding="utf-8"))) == text.encode()


def test_text_of_powershell_is_decoded(work: Path, hearth: Callable[..., Any]) -> None:
    (work / "out.txt").write_bytes("\ufeffhällo\r\n".encode("utf-16-le"))
    answer = hearth("fs", "read", "out.txt", "--json").json
    assert (answer["data"], answer["encoding"], answer["bom"]) == ("hällo\r\n", "utf-16-le", True)
    assert "\\u0000" not in hearth("fs", "read", "out.txt", "--json").out


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_an_encoding_can_be_named(work: Path, hearth: Callable[..., Any], encoding: str) -> None:
    text = "x\n" if encoding == "shift_jis" else "Käse\n"
    (work / "t").write_bytes(text.encode(encoding))
    assert hearth("fs", "read", "t", "--encoding", encoding).out == text


def test_binary_comes_as_base64(work: Path, runtime: Runtime) -> None:
    (work / "b").write_bytes(bytes(range(256)))
    answer = read(runtime, ReadFiles(path="b", offset=10, limit=3))
    assert (answer.encoding, answer.data, answer.data_base64) == (
        "binary",
        None,
        base64.b64encode(b"\n\x0b\x0c").decode(),
    )


def test_bytes_that_are_no_text_are_named_and_can_be_replaced(work: Path, runtime: Runtime) -> None:
    (work / "t").write_bytes(b"abc\n" * 20_000 + b"\xff\n")
    with pytest.raises(Encoding) as refused:
        read(runtime, ReadFiles(path="t", tail=2))
    assert (refused.value.details["offset"], "replace_invalid" in (refused.value.hint or "")) == (80_000, True)
    assert read(runtime, ReadFiles(path="t", tail=2, replace_invalid=True)).data == "abc\n\ufffd\n"


def test_an_answer_stops_at_the_setting_and_says_where_to_go_on(work: Path, runtime: Runtime) -> None:
    data = "".join(f"line {number}\n" for number in range(1_000))
    (work / "t").write_bytes(data.encode())
    small = bounded(runtime)
    part = read(small, ReadFiles(path="t", lines="1:500"))
    assert (part.state, part.length, part.next_offset) == ("partial", 1_024, 1_024)
    assert read(small, ReadFiles(path="t", lines="1:10")).state == "completed"
    tail = read(small, ReadFiles(path="t", tail=500))
    assert (tail.state, tail.data) == ("partial", data[-1_024:])


def test_several_files_share_one_bound_and_fail_one_by_one(
    work: Path, runtime: Runtime, hearth: Callable[..., Any]
) -> None:
    (work / "a").write_bytes(b"a" * 800)
    (work / "b").write_bytes(b"b" * 800)
    both = read(bounded(runtime), ReadFiles(paths=("a", "gone", "b")))
    assert [(each.state, len(each.data or "")) for each in both.files] == [("completed", 800), ("partial", 224)]
    assert [(each.path, each.code) for each in both.errors] == [("gone", "not_found")]
    done = hearth("fs", "read", "gone", "a", "nowhere", "b")
    assert (done.status, done.out) == (1, "a" * 800 + "b" * 800)
    assert "gone" in done.err
    assert "nowhere" in done.err


@pytest.mark.parametrize(
    "given_",
    [
        ReadFiles(),
        ReadFiles(path="a", paths=("b",)),
        ReadFiles(path="a", head=1, tail=1),
        ReadFiles(path="a", lines="1", offset=3),
        ReadFiles(path="a", encoding="no-such"),
        ReadFiles(path="a", lines="5:3"),
    ],
)
def test_contradictions_are_refused(work: Path, runtime: Runtime, given_: ReadFiles) -> None:
    (work / "a").write_bytes(b"x")
    with pytest.raises(InvalidInput):
        read(runtime, given_)


@pytest.mark.parametrize("lines", ["0", "1:0", "a", "1-3", " 1", "1:2:3", "", ":", "1" * 30])
def test_wrong_line_ranges_are_refused_in_json(runtime: Runtime, lines: str) -> None:
    answer = call_json(runtime, "fs.read", {"path": "a", "lines": lines})
    assert answer.error is not None
    assert (answer.error.code, answer.error.details["problems"][0]["field"]) == ("invalid_input", "lines")


def test_what_is_no_file_is_refused(work: Path, runtime: Runtime) -> None:
    with pytest.raises(IsDirectory):
        read(runtime, ReadFiles(path="."))
    with pytest.raises(NotFound):
        read(runtime, ReadFiles(path="nothing"))
    assert work.is_dir()


def test_an_empty_file_is_an_empty_text(work: Path, runtime: Runtime) -> None:
    (work / "e").write_bytes(b"")
    for given_ in (ReadFiles(path="e"), ReadFiles(path="e", tail=3), ReadFiles(path="e", lines="1:3")):
        answer = read(runtime, given_)
        assert (answer.data, answer.length, answer.next_offset, answer.state) == ("", 0, None, "completed")


def test_old_macintosh_line_ends_make_lines(work: Path, runtime: Runtime) -> None:
    (work / "m").write_bytes(b"one\rtwo\rthree")
    answer = read(runtime, ReadFiles(path="m", lines="2", number=True))
    assert (answer.data, answer.line_ends) == ("     2\ttwo\r", "cr")


def test_numbers_go_on_behind_an_offset(work: Path, runtime: Runtime) -> None:
    (work / "t").write_bytes(b"one\ntwo\nthree\n")
    assert read(runtime, ReadFiles(path="t", offset=8, number=True)).data == "     3\tthree\n"


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_part_of_a_huge_file_takes_little_time_and_memory(work: Path, runtime: Runtime) -> None:
    import tracemalloc

    with open(work / "huge", "wb") as file:
        file.write(b"first\n")
        file.seek((8 << 30) - 100)
        file.write(b"\n" + b"".join(b"line %d\n" % number for number in range(20)))
    if sys.platform != "win32" and (work / "huge").stat().st_blocks > 1 << 20:
        pytest.skip("this file system stores holes")
    tracemalloc.start()
    started = time.monotonic()
    tail = read(runtime, ReadFiles(path="huge", tail=10, encoding="utf-8"))
    head = read(runtime, ReadFiles(path="huge", head=1, encoding="utf-8"))
    part = read(runtime, ReadFiles(path="huge", offset=7 << 30, limit=4_096))
    elapsed = time.monotonic() - started
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (tail.data or "").startswith("line 10\n")
    assert (head.data, part.length) == ("first\n", 4_096)
    assert elapsed < 1
    assert peak < 16 << 20


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_line_of_a_gigabyte_is_read_in_bounded_memory(work: Path, runtime: Runtime) -> None:
    import tracemalloc

    with open(work / "line", "wb") as file:
        file.writelines(b"x" * (4 << 20) for _ in range(256))
        file.write(b"\nend\n")
    tracemalloc.start()
    cut = read(runtime, ReadFiles(path="line", lines="1"))
    last = read(runtime, ReadFiles(path="line", lines="2"))
    tail = read(runtime, ReadFiles(path="line", tail=2))
    streamed = sum(len(chunk) for chunk in stream(runtime, ReadFiles(path="line", tail=2)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (cut.state, cut.length) == ("partial", 65_536)
    assert (last.data, last.state, tail.state) == ("end\n", "completed", "partial")
    assert streamed == (1 << 30) + 5
    assert peak < 16 << 20
