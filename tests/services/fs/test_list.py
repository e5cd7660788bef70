from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hearth.containment import Root
from hearth.errors import InvalidInput, NotDirectory
from hearth.runtime import Runtime
from hearth.services.fs.list import DirectoryListing, ListDirectory, list_directory

needs_links = pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege, and Wine has none")


def paths(listing: DirectoryListing) -> list[str]:
    return [each.path.replace(os.sep, "/") for each in listing.entries]


@pytest.fixture
def tree(work: Path) -> Path:
    for name in ("b/2.txt", "b/1.txt", "a.txt", "c/d/e.txt", ".dot"):
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_bytes(b"12345")
    return work


def test_a_listing_is_sorted_and_tells_sizes_and_times(tree: Path, hearth: Callable[..., Any]) -> None:
    os.utime(tree / "a.txt", ns=(0, 1_700_000_000_123_000_000))
    done = hearth("fs", "list", "--json")
    assert [each["path"] for each in done.json["entries"]] == [".dot", "a.txt", "b", "c"]
    entry = done.json["entries"][1]
    assert (entry["size"], entry["kind"], entry["modified_at"]) == (5, "file", "2023-11-14T22:13:20.123Z")
    assert hearth("fs", "list", "--no-hidden").out.splitlines()[0].endswith("\ta.txt")


def test_depth_shows_a_tree_with_directories_before_what_they_hold(tree: Path, runtime: Runtime) -> None:
    assert paths(list_directory(runtime, ListDirectory(depth=2))) == [
        *(".dot", "a.txt", "b", "b/1.txt", "b/2.txt", "c", "c/d"),
    ]
    listing = list_directory(runtime, ListDirectory(depth=9, globs=("*.txt", "!b"), totals=True))
    assert paths(listing) == ["a.txt", "c/d/e.txt"]
    assert listing.totals is not None
    assert (listing.totals.files, listing.totals.bytes) == (2, 10)
    assert tree.is_dir()


def test_pages_by_cursor_give_every_entry_once_while_names_come_and_go(tree: Path, runtime: Runtime) -> None:
    seen, cursor = [], None
    for turn in range(20):
        page = list_directory(runtime, ListDirectory(depth=9, limit=2, cursor=cursor, totals=turn == 1))
        seen += paths(page)
        cursor = page.next_cursor
        (tree / "a.txt").unlink(missing_ok=True)  # where the cursor stands
        (tree / f".before{turn}").write_bytes(b"")
        if cursor is None:
            break
    assert seen == [".dot", "a.txt", "b", "b/1.txt", "b/2.txt", "c", "c/d", "c/d/e.txt"]
    assert page.state == "completed"


@pytest.mark.parametrize("cursor", ["x", "!!", "bnVsbA", "WzFd", "W10", "W" * 4000])
def test_a_damaged_cursor_is_refused(runtime: Runtime, cursor: str) -> None:
    with pytest.raises(InvalidInput):
        list_directory(runtime, ListDirectory(cursor=cursor))


def test_entries_are_named_as_the_next_call_can_use_them(tree: Path, runtime: Runtime) -> None:
    assert paths(list_directory(runtime, ListDirectory(path="b"))) == ["b/1.txt", "b/2.txt"]
    elsewhere = runtime.for_call(base=str(tree / "c"))
    assert paths(list_directory(elsewhere, ListDirectory(path=str(tree / "b")))) == [
        f"{tree.as_posix()}/b/1.txt",
        f"{tree.as_posix()}/b/2.txt",
    ]


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="names are text there")
def test_a_name_that_is_not_utf8_can_be_listed_and_used(work: Path, hearth: Callable[..., Any]) -> None:
    (work / os.fsdecode(b"n\xff")).write_bytes(b"1")
    entry = hearth("fs", "list", "--json").json["entries"][0]
    assert (entry["name"], entry["name_base64"]) == ("n\ufffd", "bv8=")


@needs_links
def test_links_are_shown_and_never_followed(tree: Path, runtime: Runtime, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_bytes(b"")
    (tree / "b" / "out").symlink_to(tmp_path / "outside")
    entry = list_directory(runtime, ListDirectory(path="b", depth=5)).entries[-1]
    assert (entry.name, entry.kind, entry.target) == ("out", "link", str(tmp_path / "outside"))


def test_a_listing_never_shows_hearths_own_data(work: Path, runtime: Runtime) -> None:
    own = runtime.for_call(data_dir=str(work / "own"))
    (work / "own").mkdir()
    (work / "own" / "x").write_bytes(b"")
    (work / "y").write_bytes(b"")
    listing = list_directory(own, ListDirectory(depth=3))
    assert (paths(listing), listing.skipped) == (["y"], {"private": 1})


def test_a_listing_passes_through_a_nested_root(work: Path, runtime: Runtime) -> None:
    (work / "in").mkdir()
    (work / "in" / "x").write_bytes(b"")
    both = runtime.for_call(roots=(Root(str(work)), Root(str(work / "in"), read_only=True)))
    assert paths(list_directory(both, ListDirectory(depth=2))) == ["in", "in/x"]


def test_a_file_is_no_directory(tree: Path, runtime: Runtime) -> None:
    with pytest.raises(NotDirectory):
        list_directory(runtime, ListDirectory(path=str(tree / "a.txt")))


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_hundred_thousand_names_list_in_bounded_memory(work: Path, runtime: Runtime) -> None:
    import tracemalloc

    for directory in range(100):
        (work / f"{directory:03}").mkdir()
        for number in range(1_000):
            (work / f"{directory:03}" / f"{number:04}").touch()
    tracemalloc.start()
    listing = list_directory(runtime, ListDirectory(depth=2, limit=10, totals=True, timeout_ms=100_000))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert listing.totals is not None
    assert listing.totals.files == 100_000
    assert peak < 4 << 20


def test_totals_are_shown_at_the_shell(work: Path, hearth: Callable[..., Any]) -> None:
    (work / "d").mkdir()
    (work / "d" / "a").write_bytes(b"12345")
    done = hearth("fs", "list", "--depth", "2", "--totals", "-n", "1")
    assert done.out.count("\n") == 1
    facts = dict(line.split(maxsplit=1) for line in done.err.splitlines())
    assert (facts["files"], facts["directories"], facts["bytes"], facts["state"]) == ("1", "1", "5", "partial")
