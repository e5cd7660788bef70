"""Windows' paths and names as text, on every system."""

from __future__ import annotations

import pytest

from hearth.errors import InvalidName
from hearth.platforms import windows_paths as paths

VOLUME = r"\\?\Volume{12345678-90ab-cdef-1234-567890abcdef}"


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        (r"C:\a\b", r"C:\a\b"),
        ("c:/a/./x/../b//", r"C:\a\b"),
        ("C:\\", "C:\\"),
        (r"C:\..\..\a", r"C:\a"),
        (r"sub\x", r"D:\base\sub\x"),
        (r"..\..\..\x", r"D:\x"),
        (r"\x", r"D:\x"),
        ("/x/y", r"D:\x\y"),
        (".", r"D:\base"),
        (r"\\srv\share\a", r"\\srv\share\a"),
        ("//srv/share", "\\\\srv\\share\\"),
        (r"\\srv\share\..\..\a", r"\\srv\share\a"),
        (r"\\?\C:\x", r"C:\x"),
        (r"\\?\unc\srv\share\x", r"\\srv\share\x"),
        ("//?/c:/x", r"C:\x"),
        (VOLUME + r"\a\..\b", VOLUME + r"\b"),
        (r"notes \a.", r"D:\base\notes \a."),  # names stay as they are: Windows would drop the space and the dot
        (r"nul", r"D:\base\nul"),
    ],
)
def test_a_path_is_made_absolute_in_its_plain_spelling(path: str, wanted: str) -> None:
    assert paths.absolute(path, r"d:\base") == wanted


@pytest.mark.parametrize(
    "path",
    ["C:", "C:x", r"c:..\x", r"\\?\C:x", r"\\.\COM1", r"\\.\C:\x", r"\\?\GLOBALROOT\Device\x", r"\??\C:\x", r"\\srv",
     r"\\?\pipe\x", r"\\?\UNC\srv"],
)  # fmt: skip
def test_a_path_that_hangs_on_hidden_state_or_names_a_device_is_refused(path: str) -> None:
    with pytest.raises(InvalidName):
        paths.absolute(path, r"D:\base")


def test_a_relative_path_below_a_share_stays_on_it() -> None:
    assert paths.absolute(r"..\x", r"\\srv\share\base") == r"\\srv\share\x"
    assert paths.absolute(r"\x", r"\\srv\share\base") == r"\\srv\share\x"


@pytest.mark.parametrize(
    ("path", "anchor", "components"),
    [
        ("C:\\", "C:\\", ()),
        (r"c:\a\b", "C:\\", ("a", "b")),
        (r"\\srv\share", "\\\\srv\\share\\", ()),
        (r"\\srv\share\sub", "\\\\srv\\share\\", ("sub",)),
        (r"\\?\UNC\srv\share\sub", "\\\\srv\\share\\", ("sub",)),
        (r"\\?\C:\a", "C:\\", ("a",)),
        (VOLUME + r"\a", VOLUME + "\\", ("a",)),
        (r"a\b", "", ("a", "b")),
    ],
)
def test_a_path_has_an_anchor_and_components(path: str, anchor: str, components: tuple[str, ...]) -> None:
    assert paths.parts(path) == (anchor, components)


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        (r"C:\a", r"\\?\C:\a"),
        (r"\\srv\share\a", r"\\?\UNC\srv\share\a"),
        (r"\\?\C:\a", r"\\?\C:\a"),
        (VOLUME + r"\a", VOLUME + r"\a"),
    ],
)
def test_the_extended_spelling_comes_back_as_the_plain_one(path: str, wanted: str) -> None:
    assert paths.extended(path) == wanted
    assert paths.absolute(wanted, "C:\\") == paths.absolute(path, "C:\\")


@pytest.mark.parametrize(
    ("one", "other"),
    [("Readme.TXT", "README.txt"), ("é", "É"), ("я", "Я"), ("ᾀ", "ᾈ"), ("C:\\", "c:\\")],
)
def test_names_that_differ_by_case_are_one(one: str, other: str) -> None:
    assert paths.same_name(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("ß", "SS"), ("\u0131", "I"), ("\u017f", "S"), ("µ", "μ"), ("\u00e9", "e\u0301"), ("𐐨", "𐐀"), ("a", "a ")],
)
def test_names_that_ntfs_holds_apart_are_two(one: str, other: str) -> None:
    assert not paths.same_name(one, other)


@pytest.mark.parametrize(
    "name",
    ["a:b", "a\\b", "a/b", "a*", "a?", "<", ">", '"', "|", "tab\t", "\0", "\x1f", "dot.", "space ", "", ".", ".."],
)
def test_a_name_that_windows_would_refuse_or_change_is_refused(name: str) -> None:
    with pytest.raises(InvalidName):
        paths.refuse_name(name)


@pytest.mark.parametrize("name", [".gitignore", " leading", "a.b.c", "näme", "x" * 255, "a\u202fb", "\ud800"])
def test_an_odd_name_that_windows_keeps_is_allowed(name: str) -> None:
    paths.refuse_name(name)


@pytest.mark.parametrize("name", ["a:stream", "a\\b", "a/b", "..", "", "a\0"])
def test_what_is_no_single_component_is_never_looked_up(name: str) -> None:
    with pytest.raises(InvalidName):
        paths.refuse_path(name)


@pytest.mark.parametrize("name", ["nul", "dot.", "space ", "a*b", "."])
def test_a_name_that_may_stand_somewhere_can_be_looked_up(name: str) -> None:
    paths.refuse_path(name)
