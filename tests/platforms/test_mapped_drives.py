"""Roots on shares, mapped drives and drive roots, with Windows' path rules over real directories of any system.

`Mapped` stands for a Windows with a drive C:, the share `\\\\srv\\share`, and a drive Y: that is its folder `proj`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import cast

import pytest

from hearth.containment import Containment, Root
from hearth.errors import InvalidName, OutsideRoot
from hearth.platforms import windows_paths as paths
from hearth.platforms.base import Directory, Host
from hearth.platforms.local import local_host
from tests.marks import needs_links


class Mapped:
    """The local host, but for its paths."""

    name = "windows"
    case_sensitive = False

    def __init__(self, top: Path) -> None:
        self.local = local_host()
        self.top = top

    def open_root(self, path: str) -> Directory:
        anchor, components = paths.parts(self.real_path(path))
        drive = {"c:\\": "c", "\\\\srv\\share\\": "share"}.get(anchor.lower())
        if drive is None:
            raise FileNotFoundError(path)
        directory = self.local.open_root(str(self.top.joinpath(drive, *map(str.lower, components))))
        directory.path = path
        return directory

    def real_path(self, path: str) -> str:
        anchor, components = paths.parts(path)
        if anchor == "Y:\\":
            return "\\".join(("\\\\srv\\share\\proj", *components))
        return path

    def absolute(self, path: str, base: str) -> str:
        return paths.absolute(path, base)

    def parts(self, path: str) -> tuple[str, tuple[str, ...]]:
        return paths.parts(path)

    def same_name(self, one: str, other: str) -> bool:
        return paths.same_name(one, other)

    def refuse_name(self, name: str) -> None:
        paths.refuse_name(name)

    def __getattr__(self, name: str) -> object:
        return getattr(self.local, name)


@pytest.fixture
def mapped(tmp_path: Path) -> Mapped:
    for path in ("share/proj/sub", "c/users", "c/source"):
        (tmp_path / "world" / path).mkdir(parents=True)
    for path in ("share/a.txt", "share/proj/sub/b.txt", "c/users/c.txt", "c/source/d.md"):
        (tmp_path / "world" / path).write_bytes(path.encode("ascii"))
    return Mapped(tmp_path / "world")


def content(host: Mapped, root: str, path: str) -> bytes:
    inside = Containment(cast(Host, host), [Root(root)], base=root)
    with inside.locate(path) as place, open(place.open_file(), "rb") as file:
        return file.read()


@pytest.mark.parametrize("root", ["\\\\srv\\share", "\\\\SRV\\Share\\", "//srv/share", "\\\\?\\UNC\\srv\\share"])
def test_a_share_as_the_root_reaches_its_children(mapped: Mapped, root: str) -> None:
    assert content(mapped, root, "\\\\srv\\share\\a.txt") == b"share/a.txt"
    assert content(mapped, root, "\\\\srv\\share\\proj\\sub\\b.txt") == b"share/proj/sub/b.txt"


@pytest.mark.parametrize("root", ["Y:\\", "\\\\srv\\share\\proj"])
def test_a_mapped_drive_and_its_share_are_one_root_by_both_spellings(mapped: Mapped, root: str) -> None:
    for path in ("Y:\\sub\\b.txt", "y:/sub/b.txt", "\\\\srv\\share\\proj\\sub\\b.txt"):
        assert content(mapped, root, path) == b"share/proj/sub/b.txt"


@pytest.mark.parametrize("path", ["\\\\srv\\share\\a.txt", "\\\\srv\\share\\proj\\..\\a.txt", "C:\\users\\c.txt"])
def test_what_lies_beside_a_mapped_folder_is_outside(mapped: Mapped, path: str) -> None:
    with pytest.raises(OutsideRoot):
        content(mapped, "Y:\\", path)


def test_a_drive_root_as_the_root_reaches_everything_on_it(mapped: Mapped) -> None:
    assert content(mapped, "C:\\", "C:\\users\\c.txt") == content(mapped, "C:\\", "users\\c.txt") == b"c/users/c.txt"


@pytest.mark.parametrize(("root", "path"), [("c:\\source", "C:\\source\\d.md"), ("C:\\source", "c:\\source\\d.md")])
def test_the_case_of_a_drive_letter_does_not_matter(mapped: Mapped, root: str, path: str) -> None:
    assert content(mapped, root, path) == b"c/source/d.md"


def test_a_file_uri_with_an_encoded_drive_is_understood(mapped: Mapped) -> None:
    assert content(mapped, "C:\\source", "file:///c%3A/source/d.md") == b"c/source/d.md"
    assert content(mapped, "\\\\srv\\share", "file://srv/share/a.txt") == b"share/a.txt"


@needs_links
@pytest.mark.parametrize("target", ["\\users\\c.txt", "/users/c.txt", "c:\\users\\c.txt", "..\\users\\c.txt"])
def test_a_link_leads_on_by_the_rules_of_windows(mapped: Mapped, target: str) -> None:
    os.symlink(target, mapped.top / "c" / "source" / "link")
    assert content(mapped, "C:\\", "source\\link") == b"c/users/c.txt"
    with pytest.raises(OutsideRoot):
        content(mapped, "C:\\source", "link")


@needs_links
def test_a_link_that_depends_on_a_hidden_directory_is_refused(mapped: Mapped) -> None:
    os.symlink("c:users", mapped.top / "c" / "link")
    with pytest.raises(InvalidName):
        content(mapped, "C:\\", "link\\c.txt")
