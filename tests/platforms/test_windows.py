"""What only Windows does: long paths, sharing, attributes, access lists, device names, code pages."""

from __future__ import annotations

import sys

import pytest

if sys.platform != "win32":
    pytest.skip("Windows only", allow_module_level=True)

import ctypes
import errno
import msvcrt
import os
import struct
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from hearth.containment import Containment, Root
from hearth.errors import HearthError, InvalidName, Locked, PermissionDenied, from_os
from hearth.platforms import windows_directory as directories
from hearth.platforms import windows_nt as nt
from hearth.platforms import windows_security as security
from hearth.platforms.base import Directory, Host, Kind
from hearth.platforms.windows_paths import extended, folded
from hearth.store.blobs import Blobs
from hearth.store.database import file_uri
from tests.marks import not_emulated
from tests.platforms.conftest import get, put

HIDDEN, ARCHIVE, SYSTEM = 0x2, 0x20, 0x4
EVERYONE_SID = bytes.fromhex("010100000000000100000000")
SYSTEM_SID = bytes.fromhex("010100000000000512000000")
ADMINISTRATORS_SID = bytes.fromhex("01020000000000052000000020020000")


@contextmanager
def opened(path: Path | str, access: int, share: int) -> Iterator[int]:
    with nt.closing(nt.open_path(extended(str(path)), access, share=share)) as handle:
        yield handle


def deep(here: Directory, length: int) -> Directory:
    """A directory below `here` whose path has at least so many characters."""
    directory = here.duplicate()
    while len(directory.path) < length:
        directory.make_directory("d" * 60)
        below = directory.open_directory("d" * 60)
        directory.close()
        directory = below
    return directory


def test_a_path_of_300_characters_is_made_read_and_removed(host: Host, here: Directory, work: Path) -> None:
    with closing(deep(here, 300)) as directory:
        put(directory, "f.txt", b"deep")
        path = directory.path
    with closing(host.open_root(path)) as again:
        assert get(again, "f.txt") == b"deep"
        again.rename("f.txt", again, "g.txt", replace=False)
        again.remove_file("g.txt")
    assert host.real_path(path + "\\gone") == path + "\\gone"
    inside = Containment(host, [Root(str(work))], base=str(work))
    with inside.locate(path + "\\new.txt", write=True) as place:
        put(place.directory, place.name, b"x")
    assert len(place.path) > 300
    with inside.locate(place.path) as found:
        assert found.found.size == 1


def test_a_data_directory_of_200_characters_holds_locks_and_private_folders(host: Host, home: Path) -> None:
    path = str(home) + "\\" + "\\".join(["x" * 60] * 4)
    host.make_private_directory(path)
    with host.lock(path + "\\" + "l" * 60, 0), pytest.raises(Locked), host.lock(path + "\\" + "l" * 60, 10):
        pass


def test_a_data_directory_of_200_characters_holds_bodies(host: Host, home: Path) -> None:
    data = str(home) + "\\" + "d" * (200 - len(str(home)))
    blobs = Blobs(host, data)
    body = blobs.store([b"one", b"two"], sync=True)
    assert b"".join(blobs.verified(body.sha256)) == b"onetwo"
    assert blobs.remove(body.sha256, untouched_since=float("inf"))


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("C:\\a b\\100%.db", "file:///C:/a b/100%25.db?mode=ro"),
        ("\\\\srv\\share\\x.db", "file:////srv/share/x.db?mode=ro"),
    ],
)
def test_a_database_on_a_drive_or_a_share_has_a_uri(path: str, uri: str) -> None:
    assert file_uri(path, "mode=ro") == uri


def test_commands_work_below_a_long_path(hearth: Callable[..., Any], here: Directory, home: Path) -> None:
    with closing(deep(here, 300)) as directory:
        put(directory, "f.txt", b"deep")
        path = directory.path + "\\f.txt"
    data = str(home) + "\\" + "d" * (200 - len(str(home)))
    done = hearth("fs", "stat", path, "--json", "--data-dir", data)
    assert (done.status, done.json["size"]) == (0, 4)
    assert hearth("fs", "write", path, "--data", "deeper", "--data-dir", data).status == 0
    done = hearth("fs", "search", "deeper", "--json", "--data-dir", data)
    assert [match["line"] for match in done.json["matches"]] == [1]
    assert hearth("fs", "undo", "--last", "--data-dir", data).status == 0
    assert hearth("fs", "read", path, "--data-dir", data).out == "deep"


@pytest.mark.parametrize(
    "change", [str.upper, str.lower, lambda path: path.replace("\\", "/"), lambda path: "\\\\?\\" + path]
)
def test_every_spelling_of_a_root_and_a_path_agrees(host: Host, work: Path, change: Callable[[str], str]) -> None:
    (work / "a.md").write_bytes(b"x")
    plain, other = str(work), change(str(work))
    for root, path in ((plain, other), (other, plain), (other, other)):
        with Containment(host, [Root(root)], base=root).locate(path + "\\A.md") as place:
            assert place.found.size == 1


def test_the_cwd_of_a_drive_means_nothing(host: Host, work: Path) -> None:
    inside = Containment(host, [Root(str(work))], base=str(work))
    for path in ("C:a.txt", "C:", "\\\\.\\C:\\x", "\\\\?\\GLOBALROOT\\x"):
        with pytest.raises(InvalidName):
            inside.locate(path)


def test_a_file_that_another_holds_alone_is_locked(here: Directory, work: Path) -> None:
    put(here, "f", b"x")
    acts: list[Callable[[], object]] = [
        lambda: here.open_file("f"),
        lambda: here.open_file("f", writable=True),
        lambda: here.remove_file("f"),
        lambda: here.rename("f", here, "g", replace=True),
    ]
    with opened(work / "f", nt.FILE_GENERIC_READ, 0):
        for act in acts:
            with pytest.raises(PermissionError) as caught:
                act()
            assert caught.value.winerror == nt.ERROR_SHARING_VIOLATION
            assert type(from_os(caught.value, "f")) is Locked
        assert here.entry("f").size == 1  # a look at it needs no share
    assert get(here, "f") == b"x"


def test_a_file_that_another_reads_without_sharing_deletion_is_not_replaced(here: Directory, work: Path) -> None:
    put(here, "f", b"old")
    put(here, "new", b"new")
    with opened(work / "f", nt.FILE_GENERIC_READ, nt.SHARE_READ_WRITE), pytest.raises(PermissionError) as caught:
        here.rename("new", here, "f", replace=True)
    assert type(from_os(caught.value, "f")) in (Locked, PermissionDenied)
    assert (get(here, "f"), get(here, "new")) == (b"old", b"new")


def test_an_open_directory_stays_where_it_is(here: Directory, work: Path) -> None:
    (work / "sub").mkdir()
    with closing(here.open_directory("sub")):
        for act in (lambda: os.rename(work / "sub", work / "moved"), lambda: os.rmdir(work / "sub")):
            with pytest.raises(PermissionError) as caught:
                act()
            assert caught.value.winerror == nt.ERROR_SHARING_VIOLATION
    os.rmdir(work / "sub")


def test_names_are_found_in_any_case_and_told_as_they_are(here: Directory) -> None:
    put(here, "ReadMe.TXT", b"x")
    assert get(here, "readme.txt") == b"x"
    assert [name for name, _ in here.scan()] == ["ReadMe.TXT"]
    with pytest.raises(FileExistsError):
        here.create_file("README.txt")


def test_our_folding_of_case_is_the_systems() -> None:
    upcase = nt.ntdll.RtlUpcaseUnicodeChar
    upcase.restype, upcase.argtypes = ctypes.c_uint16, (ctypes.c_uint16,)
    # Where the system's table is older than Python's, it has no pair yet; where it has one, it is the same.
    wrong = [hex(code) for code in range(0x10000) if upcase(code) != code and chr(upcase(code)) != folded(chr(code))]
    assert wrong == []
    assert [code for code in range(0x250) if chr(upcase(code)) != folded(chr(code))] == []


@pytest.mark.parametrize("name", ["nul", "NUL.txt", "con", "aux", "com1", "LPT9.log"])
def test_an_absent_device_name_is_not_found_and_never_opened(
    host: Host, here: Directory, work: Path, name: str
) -> None:
    with pytest.raises(FileNotFoundError):
        here.entry(name)
    with pytest.raises(FileNotFoundError):
        here.open_file(name)
    inside = Containment(host, [Root(str(work))], base=str(work))
    with inside.locate(name) as place:
        assert place.entry is None


@pytest.mark.parametrize("name", ["nul", "aux.txt", "com1"])
def test_a_real_file_with_a_devices_name_is_listed_read_and_removed(
    hearth: Callable[..., Any], here: Directory, name: str
) -> None:
    put(here, name, b"real")
    assert list(here.scan()) == [(name, Kind.FILE)]
    assert hearth("fs", "stat", name, "--json").json["size"] == 4
    assert get(here, name) == b"real"
    here.remove_file(name)
    assert list(here.scan()) == []


@pytest.mark.parametrize("name", ["a:stream", "dot.", "space ", "star*", "tab\t", 'q"', "<"])
def test_a_name_that_windows_would_change_is_never_made(here: Directory, name: str) -> None:
    put(here, "f")
    acts: list[Callable[[], object]] = [
        lambda: here.create_file(name),
        lambda: here.make_directory(name),
        lambda: here.make_link(name, "f"),
        lambda: here.rename("f", here, name, replace=True),
    ]
    for act in acts:
        with pytest.raises(InvalidName):
            act()
    assert [found for found, _ in here.scan()] == ["f"]


def test_a_name_that_cannot_stand_anywhere_is_told_as_invalid(here: Directory) -> None:
    with pytest.raises(OSError) as caught:
        here.entry("a*b")
    assert type(from_os(caught.value, "a*b")) is InvalidName


def test_attributes_go_to_another_file(host: Host, here: Directory, work: Path) -> None:
    put(here, "old")
    put(here, "new")
    with opened(work / "old", nt.FILE_WRITE_ATTRIBUTES, nt.SHARE_ALL) as handle:
        assert directories.set_attributes(handle, HIDDEN | SYSTEM | ARCHIVE) == nt.STATUS_SUCCESS
    source, target = here.open_file("old"), here.open_file("new", writable=True)
    host.copy_metadata(source, target)
    os.close(source)
    os.close(target)
    assert here.entry("new").attributes == here.entry("old").attributes
    assert here.entry("new").attributes & HIDDEN


@not_emulated("its files were created when they were last changed")
def test_the_time_of_creation_goes_to_another_file(host: Host, here: Directory, work: Path) -> None:
    put(here, "old")
    put(here, "new")
    with opened(work / "old", nt.FILE_WRITE_ATTRIBUTES, nt.SHARE_ALL) as handle:
        assert directories.set_attributes(handle, 0, created=130_000_000_000_000_000) == nt.STATUS_SUCCESS
    source, target = here.open_file("old"), here.open_file("new", writable=True)
    host.copy_metadata(source, target)
    os.close(source)
    os.close(target)
    assert here.entry("new").created_ns == here.entry("old").created_ns == 1_355_526_400_000_000_000


def test_what_is_private_lets_in_its_user_and_administrators_and_inherits_nothing() -> None:
    descriptor = security.private_descriptor()
    assert struct.unpack_from("<H", descriptor, 2)[0] & 0x1000  # SE_DACL_PROTECTED
    owners = [entry[8:] for entry in access_list(descriptor)]
    assert owners[1:] == [SYSTEM_SID, ADMINISTRATORS_SID]
    assert EVERYONE_SID not in owners


def test_a_private_directory_lets_in_nobody_else(host: Host, work: Path) -> None:
    host.make_private_directory(str(work / "one" / "private"))
    with opened(work / "one" / "private", nt.READ_CONTROL, nt.SHARE_ALL) as handle:
        found = [entry[8:] for entry in access_list(security.security_of(handle))]
    assert found
    assert EVERYONE_SID not in found


@not_emulated("it keeps modes instead of access lists")
@pytest.mark.parametrize("make", ["host", "directory"])
def test_a_private_directory_has_the_private_access_list(host: Host, here: Directory, work: Path, make: str) -> None:
    if make == "host":
        host.make_private_directory(str(work / "private"))
    else:
        here.make_directory("private", 0o700)
    with opened(work / "private", nt.READ_CONTROL, nt.SHARE_ALL) as handle:
        found = security.security_of(handle)
    assert access_list(found) == access_list(security.private_descriptor())
    assert struct.unpack_from("<H", found, 2)[0] & 0x1000


def test_who_may_open_a_file_goes_to_another_file(host: Host, here: Directory) -> None:
    put(here, "old")
    put(here, "new")
    source, target = here.open_file("old", writable=True), here.open_file("new", writable=True)
    handles = [msvcrt.get_osfhandle(descriptor) for descriptor in (source, target)]
    security.set_access_list(handles[0], security.private_descriptor())
    before = [access_list(security.security_of(handle)) for handle in handles]
    assert before[0] != before[1]
    host.copy_metadata(source, target)
    assert access_list(security.security_of(handles[1])) == before[0]
    os.close(source)
    os.close(target)


def access_list(descriptor: bytes) -> list[bytes]:
    """The entries of the DACL of a self-relative security descriptor."""
    at = struct.unpack_from("<I", descriptor, 16)[0]
    count = struct.unpack_from("<H", descriptor, at + 4)[0]
    entries, at = [], at + 8
    for _ in range(count):
        size = struct.unpack_from("<H", descriptor, at + 2)[0]
        entries.append(descriptor[at : at + size])
        at += size
    return entries


@not_emulated("it gives back the name that was opened")
def test_the_real_path_has_no_short_names(host: Host) -> None:
    programs = os.environ["PROGRAMFILES"]
    size = ctypes.windll.kernel32.GetShortPathNameW(programs, None, 0)
    short = ctypes.create_unicode_buffer(size)
    ctypes.windll.kernel32.GetShortPathNameW(programs, short, size)
    assert host.real_path(short.value).lower() == programs.lower()


def test_names_that_no_code_page_holds_reach_a_pipe(here: Directory, work: Path) -> None:
    put(here, "日本語 é.txt", b"x")
    command = [sys.executable, "-m", "hearth", "fs", "stat", "日本語 é.txt"]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    for words in ([], ["--json"]):
        done = subprocess.run([*command, *words], capture_output=True, env=environment, cwd=work, check=False)
        assert (done.returncode, done.stderr) == (0, b"")
        assert done.stdout.isascii() or "日本語 é.txt" in done.stdout.decode("utf-8")
    assert done.stdout.isascii()


def test_every_refusal_is_an_error_that_users_can_read(host: Host, here: Directory, work: Path) -> None:
    put(here, "f")
    (work / "sub").mkdir()
    inside = Containment(host, [Root(str(work))], base=str(work))
    for path in ("f\\x", "gone\\x", "a*b", "C:x", "sub\\..\\..\\out", "x:\\elsewhere"):
        with pytest.raises(HearthError), inside.locate(path) as place:
            place.open_file()


def test_settings_lie_where_windows_keeps_them(host: Host, home: Path) -> None:
    assert host.user_data_directory() == str(home / "data")
    assert host.user_config_directory() == str(home / "config")


@pytest.mark.parametrize("code", [8, 1450, 1455])
def test_a_machine_that_is_short_of_memory_is_told_as_that(code: int) -> None:
    error = nt.windows_error(code, "")
    assert (error.errno, error.winerror) == (errno.ENOMEM, code)


def test_a_hole_is_no_matter_of_the_volume_while_somebody_has_the_file_mapped(
    host: Host, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def mapped(*_: object) -> bytes:
        raise nt.windows_error(1224, "")

    (work / "file").write_bytes(b"x")
    monkeypatch.setattr(nt, "control", mapped)
    with pytest.raises(OSError, match=r"\b1224\b"):
        host.punch_hole(str(work / "file"), 0, 1)
