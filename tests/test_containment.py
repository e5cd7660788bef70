"""Which paths may be touched. The race of a swapped link is in tests/acceptance."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from hearth.containment import Containment, Root, decode_uri, nearest_name
from hearth.errors import (
    HearthError,
    InvalidInput,
    InvalidName,
    LinkLoop,
    MissingParent,
    MissingRoot,
    NoRoots,
    NotDirectory,
    NotFound,
    OutsideRoot,
    ReadOnlyRoot,
    ReservedName,
)
from hearth.platforms.local import local_host
from tests.marks import needs_links, posix_only

Locate = Callable[..., str]


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """`tree/root` with some files, and `tree/outside` beside it."""
    for path in ("root/sub/deep", "outside", "root-evil"):
        (tmp_path / "tree" / path).mkdir(parents=True)
    for path in ("root/a.txt", "root/sub/b.txt", "outside/secret.txt", "root-evil/x"):
        (tmp_path / "tree" / path).write_bytes(path.encode("ascii"))
    return tmp_path / "tree"


def contain(*roots: str | Path | Root, base: Path | None = None, private: tuple[str, ...] = ()) -> Containment:
    made = [root if isinstance(root, Root) else Root(str(root)) for root in roots]
    return Containment(local_host(), made, base=str(base or made[0].path if made else "/"), private=private)


def content(containment: Containment, path: str | Path) -> bytes:
    """What reading the path gives."""
    with containment.locate(str(path)) as place:
        descriptor = place.open_file()
        with open(descriptor, "rb") as file:
            return file.read()


def refused(containment: Containment, path: str | Path, **how: bool) -> type[HearthError]:
    with pytest.raises(HearthError) as caught:
        containment.locate(str(path), **how).close()
    return type(caught.value)


def test_a_file_in_the_root_is_found_by_both_spellings(tree: Path) -> None:
    inside = contain(tree / "root")
    assert content(inside, "sub/b.txt") == content(inside, tree / "root" / "sub" / "b.txt") == b"root/sub/b.txt"


def test_the_root_itself_is_a_place(tree: Path) -> None:
    with contain(tree / "root").locate(".") as place:
        directory = place.open_directory()
        assert sorted(name for name, _ in directory.scan()) == ["a.txt", "sub"]
        directory.close()


def test_dots_are_taken_out_before_links_are_looked_at(tree: Path) -> None:
    inside = contain(tree / "root")
    assert content(inside, "sub/deep/../../a.txt") == b"root/a.txt"
    assert refused(inside, "../outside/secret.txt") is OutsideRoot


def test_a_sibling_whose_name_starts_like_the_root_is_outside(tree: Path) -> None:
    assert refused(contain(tree / "root"), tree / "root-evil" / "x") is OutsideRoot


def test_the_error_for_a_path_outside_names_the_roots_and_the_command(tree: Path) -> None:
    with pytest.raises(OutsideRoot) as caught:
        contain(tree / "root").locate(str(tree / "outside" / "secret.txt"))
    assert str(tree / "root") in caught.value.message
    assert "hearth config roots --add" in (caught.value.hint or "")


def test_the_top_of_the_file_system_can_be_a_root(tree: Path) -> None:
    top = Path(tree.anchor)
    assert content(contain(top), tree / "root" / "a.txt") == b"root/a.txt"


def test_without_roots_nothing_is_reachable() -> None:
    assert refused(contain(), "/x") is NoRoots


def test_a_root_that_does_not_exist_is_named(tree: Path) -> None:
    assert refused(contain(tree / "gone"), tree / "gone" / "x") is MissingRoot


def test_an_empty_path_and_a_nul_are_refused(tree: Path) -> None:
    inside = contain(tree / "root")
    assert refused(inside, "") is InvalidInput
    with pytest.raises(InvalidName):
        inside.locate("a\0b")


def test_what_is_missing_is_told_with_the_nearest_name(tree: Path) -> None:
    with contain(tree / "root").locate("A.TXT ") as place, pytest.raises(NotFound) as caught:
        place.entry = None  # a case-insensitive system does find it
        _ = place.found
    assert caught.value.details["nearest"] == "a.txt"


def test_a_missing_parent_is_not_found_when_reading_and_missing_parent_when_writing(tree: Path) -> None:
    inside = contain(tree / "root")
    assert refused(inside, "new/x") is NotFound
    assert refused(inside, "new/x", write=True) is MissingParent
    assert not (tree / "root" / "new").exists()


def test_missing_parents_are_named_on_request_and_not_made(tree: Path) -> None:
    with contain(tree / "root").locate("new/deeper/x", write=True, parents=True) as place:
        assert (place.parents, place.name, place.entry) == (("new", "deeper"), "x", None)
        assert place.path == str(tree / "root" / "new" / "deeper" / "x")
    assert not (tree / "root" / "new").exists()


def test_a_file_on_the_way_is_no_directory(tree: Path) -> None:
    assert refused(contain(tree / "root"), "a.txt/x") is NotDirectory


def test_a_read_only_root_refuses_writes_and_the_longest_root_wins(tree: Path) -> None:
    inside = contain(tree / "root", Root(str(tree / "root" / "sub"), read_only=True))
    inside.locate("a.txt", write=True).close()
    assert refused(inside, "sub/b.txt", write=True) is ReadOnlyRoot
    assert refused(inside, "sub/new/x", write=True, parents=True) is ReadOnlyRoot
    assert content(inside, "sub/b.txt") == b"root/sub/b.txt"


def test_the_data_directory_is_never_reachable(tree: Path) -> None:
    inside = contain(tree / "root", private=(str(tree / "root" / "sub"),))
    assert refused(inside, "sub/b.txt") is OutsideRoot
    assert refused(inside, "sub") is OutsideRoot
    assert content(inside, "a.txt") == b"root/a.txt"


@pytest.mark.parametrize("name", ["nul", "aux.txt", "com1", "LPT9.log", "con ", "sub/NUL.json", "COM\u00b9"])
def test_a_reserved_name_is_not_made_on_any_system(tree: Path, name: str) -> None:
    assert refused(contain(tree / "root"), name, write=True) is ReservedName


@pytest.mark.parametrize("name", ["null", "aux2.txt", "com10", "console", "lpt", ".nul"])
def test_a_name_that_only_looks_reserved_is_fine(tree: Path, name: str) -> None:
    contain(tree / "root").locate(name, write=True).close()


@posix_only("Windows keeps device names from being made at all but by extended paths")
def test_an_existing_file_with_a_reserved_name_can_be_read_and_replaced(tree: Path) -> None:
    (tree / "root" / "nul").write_bytes(b"real")
    assert content(contain(tree / "root"), "nul") == b"real"
    contain(tree / "root").locate("nul", write=True).close()


@needs_links
def test_a_link_that_leaves_the_root_is_refused(tree: Path) -> None:
    (tree / "root" / "leak").symlink_to(tree / "outside" / "secret.txt")
    (tree / "root" / "up").symlink_to("../outside")
    (tree / "root" / "dir").symlink_to(tree / "outside")
    inside = contain(tree / "root")
    for path in ("leak", "up/secret.txt", "dir/secret.txt"):
        assert refused(inside, path) is OutsideRoot
    assert refused(inside, "dir/new.txt", write=True) is OutsideRoot


@needs_links
def test_a_link_that_stays_inside_is_followed(tree: Path) -> None:
    (tree / "root" / "near").symlink_to("sub/b.txt")
    (tree / "root" / "absolute").symlink_to(tree / "root" / "sub")
    (tree / "root" / "sub" / "back").symlink_to("../a.txt")
    inside = contain(tree / "root")
    assert content(inside, "near") == content(inside, "absolute/b.txt") == b"root/sub/b.txt"
    assert content(inside, "sub/back") == content(inside, "absolute/back") == b"root/a.txt"


@needs_links
def test_a_link_at_the_end_is_the_place_itself_when_not_followed(tree: Path) -> None:
    (tree / "root" / "leak").symlink_to(tree / "outside" / "secret.txt")
    with contain(tree / "root").locate("leak", follow=False) as place:
        assert place.found.kind == "link"


@needs_links
def test_a_dangling_link_leads_to_the_place_that_a_write_would_make(tree: Path) -> None:
    (tree / "root" / "to-be").symlink_to("sub/new.txt")
    with contain(tree / "root").locate("to-be", write=True) as place:
        assert (place.entry, place.name) == (None, "new.txt")


@needs_links
def test_links_that_turn_in_a_circle_are_refused(tree: Path) -> None:
    (tree / "root" / "one").symlink_to("two")
    (tree / "root" / "two").symlink_to("one")
    assert refused(contain(tree / "root"), "one") is LinkLoop


@needs_links
def test_a_root_that_is_itself_a_link_is_known_by_both_spellings(tree: Path) -> None:
    (tree / "link").symlink_to(tree / "root")
    for root in ("link", "root"):
        inside = contain(tree / root)
        assert content(inside, tree / "link" / "a.txt") == content(inside, tree / "root" / "a.txt") == b"root/a.txt"


@needs_links
def test_a_link_into_another_root_obeys_that_root(tree: Path) -> None:
    (tree / "root" / "other").symlink_to(tree / "outside")
    inside = contain(tree / "root", Root(str(tree / "outside"), read_only=True))
    assert content(inside, "other/secret.txt") == b"outside/secret.txt"
    assert refused(inside, "other/secret.txt", write=True) is ReadOnlyRoot


def test_file_uris_are_decoded_wherever_a_path_goes(tree: Path) -> None:
    spaced = tree / "root" / "My Work"
    spaced.mkdir()
    (spaced / "a#b.txt").write_bytes(b"uri")
    assert content(contain(tree / "root"), (spaced / "a#b.txt").as_uri()) == b"uri"


@pytest.mark.parametrize(
    ("uri", "windows", "path"),
    [
        ("file:///tmp/My%20Work", False, "/tmp/My Work"),
        ("file://localhost/tmp/x", False, "/tmp/x"),
        ("FILE:///tmp/x", False, "/tmp/x"),
        ("file:///c%3A/My%20Work", True, "c:\\My Work"),
        ("file:///C:/x", True, "C:\\x"),
        ("file://srv/share/x", True, "\\\\srv\\share\\x"),
        ("filename", False, "filename"),
    ],
)
def test_a_file_uri_means_a_path(uri: str, windows: bool, path: str) -> None:
    assert decode_uri(uri, windows=windows) == path


def test_a_file_uri_of_another_host_is_refused() -> None:
    with pytest.raises(InvalidInput):
        decode_uri("file://elsewhere/x", windows=False)


def test_a_file_uri_that_is_none_or_hides_a_nul_character_is_refused(tree: Path) -> None:
    inside = contain(tree / "root")
    assert refused(inside, "file://[here/x") is InvalidInput
    assert refused(inside, (tree / "root" / "x").as_uri() + "%00y") is InvalidName


@pytest.mark.parametrize(
    ("wanted", "names", "near"),
    [
        ("Shot 9.41 PM.png", ["Shot 9.41\u202fPM.png", "b"], "Shot 9.41\u202fPM.png"),
        ("cafe\u0301", ["caf\u00e9"], "caf\u00e9"),
        ("README", ["readme", "README.md"], "readme"),
        ("confg.toml", ["config.toml", "x"], "config.toml"),
        ("nothing", ["alike"], None),
    ],
)
def test_the_nearest_name_is_the_one_that_was_meant(wanted: str, names: list[str], near: str | None) -> None:
    assert nearest_name(wanted, names) == near


@posix_only("a Windows name is text")
@pytest.mark.skipif(sys.platform == "darwin", reason="APFS refuses names that are not UTF-8")
def test_a_name_that_is_not_utf8_is_found_by_its_bytes(tree: Path) -> None:
    name = os.fsdecode(b"caf\xe9")
    (tree / "root" / name).write_bytes(b"latin")
    assert content(contain(tree / "root"), name) == b"latin"


@posix_only("Windows compares names without regard to case")
@pytest.mark.skipif(sys.platform == "darwin", reason="APFS compares names without regard to case")
def test_names_that_differ_by_case_or_normal_form_are_different_files(tree: Path) -> None:
    for name in ("A.txt", "caf\u00e9", "cafe\u0301"):
        (tree / "root" / name).write_bytes(name.encode("utf-8"))
    inside = contain(tree / "root")
    for name in ("A.txt", "caf\u00e9", "cafe\u0301"):
        assert content(inside, name) == name.encode("utf-8")
    assert content(inside, "a.txt") == b"root/a.txt"
