"""What every platform's directory keeps, on the platform that this is."""

from __future__ import annotations

import errno
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from hearth.errors import NotRegular
from hearth.platforms.base import Directory, Host, Kind
from tests.marks import needs_links, not_emulated, posix_only
from tests.platforms.conftest import get, put


def test_an_entry_tells_what_stat_tells(here: Directory, work: Path) -> None:
    (work / "a.txt").write_bytes(b"hello")
    entry, found = here.entry("a.txt"), os.stat(work / "a.txt")
    assert (entry.name, entry.kind, entry.size, entry.links) == ("a.txt", Kind.FILE, 5, 1)
    assert (entry.modified_ns, entry.mode) == (found.st_mtime_ns, stat.S_IMODE(found.st_mode))
    assert (entry.owner, entry.group) == (found.st_uid, found.st_gid)
    assert abs(entry.changed_ns - found.st_mtime_ns) < 10**9


def test_times_that_were_set_come_back(here: Directory, work: Path) -> None:
    put(here, "a")
    os.utime(work / "a", ns=(1_000_000_000_100_000_000, 1_234_567_890_123_456_700))
    entry = here.entry("a")
    assert (entry.accessed_ns, entry.modified_ns) == (1_000_000_000_100_000_000, 1_234_567_890_123_456_700)


def test_the_directory_itself_is_an_entry(here: Directory) -> None:
    entry = here.entry(".")
    assert entry.kind is Kind.DIRECTORY
    assert entry.identity == here.identity


def test_what_is_missing_is_not_found(here: Directory) -> None:
    put(here, "file")
    acts: list[Callable[[], object]] = [
        lambda: here.entry("gone"),
        lambda: here.open_file("gone"),
        lambda: here.open_directory("gone"),
        lambda: here.remove_file("gone"),
        lambda: here.remove_directory("gone"),
        lambda: here.set_mode("gone", 0o600),
        lambda: here.rename("gone", here, "new", replace=True),
        lambda: here.rename("gone", here, "new", replace=False),
    ]
    for act in acts:
        with pytest.raises(FileNotFoundError):
            act()


def test_a_scan_tells_names_and_kinds_and_can_be_repeated(here: Directory) -> None:
    put(here, "file")
    here.make_directory("directory")
    wanted = [("directory", Kind.DIRECTORY), ("file", Kind.FILE)]
    assert sorted(here.scan()) == sorted(here.scan()) == wanted


def test_two_scans_at_once_do_not_share_a_position(here: Directory) -> None:
    names = [f"file-{number:03}" for number in range(40)]
    for name in names:
        put(here, name)
    one, other = here.scan(), here.scan()
    next(one)
    next(other)
    assert len(list(one)) == len(list(other)) == len(names) - 1


def test_a_scan_of_many_long_names_is_whole(here: Directory, work: Path) -> None:
    names = {f"{number:03}-{'n' * 200}" for number in range(300)}  # more than the 64 KiB of one answer
    for name in names:
        (work / name).touch()
    assert {name for name, _ in here.scan()} == names


def test_a_scan_that_is_given_up_holds_nothing_open(here: Directory, work: Path) -> None:
    here.make_directory("sub")
    sub = here.open_directory("sub")
    for name in "abc":
        put(sub, name)
    scan = sub.scan()
    next(scan)
    scan.close()  # type: ignore[attr-defined]
    for name in "abc":
        sub.remove_file(name)
    sub.close()
    here.remove_directory("sub")
    assert not (work / "sub").exists()


def test_an_empty_directory_scans_to_nothing(here: Directory) -> None:
    assert list(here.scan()) == []


def test_names_of_every_script_come_back(here: Directory, work: Path) -> None:
    names = ["ünïcödé", "日本語", "😀", "space inside", "a\u202fb", "-dash", "%41", "e\u0301"]
    for name in names:
        put(here, name, name.encode("utf-8"))
    assert sorted(name for name, _ in here.scan()) == sorted(names)
    assert {get(here, name).decode("utf-8") for name in names} == set(names)
    assert sorted(os.listdir(work)) == sorted(names)


def test_a_directory_is_walked_by_handle(here: Directory, work: Path) -> None:
    (work / "sub" / "deep").mkdir(parents=True)
    (work / "sub" / "deep" / "f").write_bytes(b"x")
    with closing(here.open_directory("sub")) as sub, closing(sub.open_directory("deep")) as deep:
        assert get(deep, "f") == b"x"
        assert deep.path == os.path.join(str(work), "sub", "deep")


def test_only_a_directory_opens_as_one(here: Directory) -> None:
    put(here, "file")
    with pytest.raises(NotADirectoryError):
        here.open_directory("file")


def test_a_directory_does_not_open_as_a_file(here: Directory) -> None:
    here.make_directory("sub")
    for name in ("sub", "."):
        for writable in (False, True):
            with pytest.raises(IsADirectoryError):
                here.open_file(name, writable=writable)


@needs_links
def test_links_are_told_read_and_never_followed(here: Directory, work: Path) -> None:
    (work / "sub").mkdir()
    (work / "f").touch()
    here.make_link("to-file", "f")
    here.make_link("to-directory", "sub", directory=True)
    assert here.read_link("to-file") == "f"
    assert {here.entry("to-file").kind, here.entry("to-directory").kind} == {Kind.LINK}
    assert dict(here.scan())["to-directory"] is Kind.LINK
    with pytest.raises(OSError) as caught:
        here.open_file("to-file")
    assert caught.value.errno == errno.ELOOP
    with pytest.raises(OSError) as caught:
        here.open_directory("to-directory")
    assert caught.value.errno in (errno.ELOOP, errno.ENOTDIR)


@needs_links
def test_removing_a_link_leaves_what_it_leads_to(here: Directory, work: Path) -> None:
    (work / "sub").mkdir()
    here.make_link("link", "sub", directory=True)
    here.remove_file("link")
    assert os.listdir(work) == ["sub"]


def test_what_is_no_link_cannot_be_read_as_one(here: Directory) -> None:
    put(here, "file")
    with pytest.raises(OSError) as caught:
        here.read_link("file")
    assert caught.value.errno == errno.EINVAL


@posix_only("Windows has no FIFOs in its file systems")
def test_a_fifo_is_refused_without_waiting_for_its_other_end(here: Directory, work: Path) -> None:
    os.mkfifo(work / "pipe")
    for writable in (False, True):
        with pytest.raises(NotRegular):
            here.open_file("pipe", writable=writable)


def test_a_new_file_is_read_and_written_and_must_not_exist(here: Directory) -> None:
    descriptor = here.create_file("new")
    os.write(descriptor, b"a\r\n\x1a\x00")  # nothing of it is changed by a text mode
    os.lseek(descriptor, 0, os.SEEK_SET)
    assert os.read(descriptor, 10) == b"a\r\n\x1a\x00"
    os.close(descriptor)
    with pytest.raises(FileExistsError):
        here.create_file("new")
    assert get(here, "new") == b"a\r\n\x1a\x00"


def test_a_file_opened_for_reading_cannot_be_written(here: Directory) -> None:
    put(here, "file", b"x")
    descriptor = here.open_file("file")
    with pytest.raises(OSError):
        os.write(descriptor, b"y")
    os.close(descriptor)


def test_a_file_opened_for_writing_keeps_its_content_until_it_is_written(here: Directory) -> None:
    put(here, "file", b"old")
    descriptor = here.open_file("file", writable=True)
    os.write(descriptor, b"n")
    os.close(descriptor)
    assert get(here, "file") == b"nld"


def test_descriptors_are_not_inherited(here: Directory) -> None:
    put(here, "file")
    for descriptor in (here.open_file("file"), here.create_file("other")):
        assert not os.get_inheritable(descriptor)
        os.close(descriptor)


def test_a_directory_is_made_once(here: Directory, work: Path) -> None:
    here.make_directory("sub")
    with pytest.raises(FileExistsError):
        here.make_directory("sub")
    assert (work / "sub").is_dir()


@pytest.mark.parametrize("replace", [False, True])
def test_an_entry_moves_to_another_directory(here: Directory, work: Path, replace: bool) -> None:
    put(here, "a", b"x")
    here.make_directory("sub")
    with closing(here.open_directory("sub")) as sub:
        here.rename("a", sub, "b", replace=replace)
    assert (work / "sub" / "b").read_bytes() == b"x"
    assert not (work / "a").exists()


def test_a_taken_name_is_kept_unless_it_may_be_replaced(here: Directory) -> None:
    put(here, "a", b"new")
    put(here, "b", b"old")
    with pytest.raises(FileExistsError):
        here.rename("a", here, "b", replace=False)
    assert (get(here, "a"), get(here, "b")) == (b"new", b"old")
    here.rename("a", here, "b", replace=True)
    assert get(here, "b") == b"new"
    assert [name for name, _ in here.scan()] == ["b"]


def test_a_file_does_not_replace_a_directory(here: Directory) -> None:
    put(here, "file")
    here.make_directory("sub")
    with pytest.raises(IsADirectoryError):
        here.rename("file", here, "sub", replace=True)
    assert sorted(here.scan()) == [("file", Kind.FILE), ("sub", Kind.DIRECTORY)]


def test_a_directory_moves_with_what_it_holds(here: Directory, work: Path) -> None:
    (work / "one" / "in").mkdir(parents=True)
    (work / "one" / "in" / "f").write_bytes(b"x")
    here.rename("one", here, "two", replace=False)
    assert (work / "two" / "in" / "f").read_bytes() == b"x"


@not_emulated("it refuses to replace what is open, as Windows did before it had POSIX renames")
def test_a_file_that_is_open_for_reading_can_be_replaced_and_keeps_its_content(here: Directory) -> None:
    put(here, "a", b"old")
    put(here, "b", b"new")
    descriptor = here.open_file("a")
    here.rename("b", here, "a", replace=True)
    assert os.read(descriptor, 10) == b"old"
    os.close(descriptor)
    assert get(here, "a") == b"new"


def test_a_file_that_is_open_can_be_removed_and_its_name_taken_again(here: Directory) -> None:
    put(here, "a", b"old")
    descriptor = here.open_file("a")
    here.remove_file("a")
    put(here, "a", b"new")
    assert (os.read(descriptor, 10), get(here, "a")) == (b"old", b"new")
    os.close(descriptor)


def test_files_and_directories_are_removed_each_by_its_own_call(here: Directory, work: Path) -> None:
    put(here, "file")
    here.make_directory("sub")
    with pytest.raises(NotADirectoryError):
        here.remove_directory("file")
    with pytest.raises((IsADirectoryError, PermissionError)):  # EPERM on macOS
        here.remove_file("sub")
    here.remove_file("file")
    here.remove_directory("sub")
    assert os.listdir(work) == []


def test_a_directory_that_holds_something_is_not_removed(here: Directory, work: Path) -> None:
    (work / "sub").mkdir()
    (work / "sub" / "f").touch()
    with pytest.raises(OSError) as caught:
        here.remove_directory("sub")
    assert caught.value.errno in (errno.ENOTEMPTY, errno.EEXIST)
    assert (work / "sub" / "f").exists()


def test_a_file_that_may_not_be_written_can_be_replaced_and_removed(here: Directory) -> None:
    for name in ("a", "b", "c"):
        put(here, name, name.encode("ascii"))
    here.set_mode("a", 0o444)
    here.set_mode("b", 0o444)
    here.rename("c", here, "a", replace=True)
    here.remove_file("b")
    assert [(name, get(here, name)) for name, _ in here.scan()] == [("a", b"c")]


def test_the_mode_that_was_set_is_told(here: Directory, work: Path) -> None:
    put(here, "f")
    here.set_mode("f", 0o444)
    assert here.entry("f").mode == stat.S_IMODE(os.stat(work / "f").st_mode) == 0o444
    here.set_mode("f", 0o666)
    assert here.entry("f").mode == 0o666


@not_emulated("it keeps no read-only attribute of directories")
def test_the_mode_of_the_directory_itself_can_be_set(here: Directory, work: Path) -> None:
    here.set_mode(".", 0o555)
    assert here.entry(".").mode == 0o555
    here.set_mode(".", 0o777)
    assert stat.S_IMODE(os.stat(work).st_mode) == 0o777


def test_hard_links_share_an_identity_and_are_counted(here: Directory, work: Path) -> None:
    put(here, "one")
    put(here, "else")
    os.link(work / "one", work / "two")
    assert here.entry("one").identity == here.entry("two").identity != here.entry("else").identity
    assert here.entry("one").links == 2


def test_an_open_file_tells_the_entry_that_its_name_tells(host: Host, here: Directory) -> None:
    put(here, "f.txt", b"abc")
    descriptor = here.open_file("f.txt")
    assert host.entry_of(descriptor, "f.txt") == here.entry("f.txt")
    os.close(descriptor)


def test_a_duplicate_outlives_the_original(host: Host, work: Path) -> None:
    (work / "f").write_bytes(b"x")
    first = host.open_root(str(work))
    second = first.duplicate()
    first.close()
    assert get(second, "f") == b"x"
    second.close()


def test_a_directory_can_be_synced(here: Directory) -> None:
    put(here, "f")
    here.sync()


@pytest.mark.skipif(sys.platform == "win32", reason="the system does not let an open directory be moved")
def test_an_open_directory_is_the_same_after_its_name_went_elsewhere(here: Directory, work: Path) -> None:
    (work / "sub").mkdir()
    (work / "sub" / "f").write_bytes(b"mine")
    sub = here.open_directory("sub")
    os.rename(work / "sub", work / "moved")
    (work / "sub").mkdir()
    assert get(sub, "f") == b"mine"
    sub.close()


def test_a_child_process_does_not_inherit_an_open_directory(here: Directory, work: Path) -> None:
    here.make_directory("sub")
    sub = here.open_directory("sub")
    with subprocess.Popen(
        [sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE, close_fds=False
    ) as child:
        sub.close()
        here.remove_directory("sub")  # Windows refuses it as long as any process holds a handle
        child.communicate(b"")
    assert not (work / "sub").exists()
