"""What every platform's host keeps, on the platform that this is."""

from __future__ import annotations

import errno
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hearth.errors import InvalidName, Locked
from hearth.platforms.base import Directory, Host, Kind
from tests.marks import needs_links
from tests.platforms.conftest import put

HOLD = """
import sys
from hearth.platforms.local import local_host
with local_host().lock(sys.argv[1], 1000):
    print("held", flush=True)
    sys.stdin.read()
"""
ADD = """
import sys
from hearth.platforms.local import local_host
host = local_host()
for _ in range(20):
    with host.lock(sys.argv[1], 20_000):
        with open(sys.argv[2], encoding="ascii") as file:
            number = int(file.read())
        with open(sys.argv[2], "w", encoding="ascii") as file:
            file.write(str(number + 1))
"""


def python(code: str, *arguments: str) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    )


def test_a_root_is_a_directory_that_exists(host: Host, work: Path) -> None:
    (work / "file").touch()
    with pytest.raises(NotADirectoryError):
        host.open_root(str(work / "file"))
    with pytest.raises(FileNotFoundError):
        host.open_root(str(work / "gone"))


def test_two_ways_to_a_directory_have_one_identity(host: Host, work: Path) -> None:
    (work / "sub").mkdir()
    top, sub = host.open_root(str(work)), host.open_root(str(work / "sub"))
    through = top.open_directory("sub")
    assert through.identity == sub.identity != top.identity
    for directory in (top, sub, through):
        directory.close()


@pytest.mark.parametrize("name", ["", "gone", os.path.join("gone", "further", "x.txt")])
def test_the_real_path_keeps_what_does_not_exist(host: Host, work: Path, name: str) -> None:
    real = os.path.realpath(work)
    assert host.real_path(os.path.join(str(work), name).rstrip(os.sep)) == os.path.join(real, name).rstrip(os.sep)


def test_the_real_path_of_the_top_is_the_top(host: Host, work: Path) -> None:
    anchor, _ = host.parts(str(work))
    assert host.real_path(anchor) == anchor


@needs_links
def test_the_real_path_is_without_links(host: Host, work: Path) -> None:
    (work / "real").mkdir()
    (work / "link").symlink_to("real", target_is_directory=True)
    assert host.real_path(str(work / "link" / "x")) == os.path.join(os.path.realpath(work), "real", "x")


@needs_links
@pytest.mark.parametrize("is_gone", [True, False])
def test_the_real_path_is_told_though_a_link_goes_away_meanwhile(
    host: Host, work: Path, monkeypatch: pytest.MonkeyPatch, is_gone: bool
) -> None:
    (work / "link").symlink_to("real")
    real, readlink = os.path.realpath(work), os.readlink

    def replaced(path: str) -> str:
        if path == os.path.join(real, "link"):
            os.unlink(path)
            if not is_gone:
                os.mkdir(path)
        return readlink(path)

    monkeypatch.setattr(os, "readlink", replaced)
    assert host.real_path(str(work / "link" / "x")) == os.path.join(real, "link", "x")


@needs_links
def test_the_real_path_keeps_a_link_that_cannot_be_read(
    host: Host, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (work / "link").symlink_to("real")
    real, readlink = os.path.realpath(work), os.readlink

    def refused(path: str) -> str:
        if path == os.path.join(real, "link"):
            raise OSError(errno.EIO, os.strerror(errno.EIO), path)
        return readlink(path)

    monkeypatch.setattr(os, "readlink", refused)
    assert host.real_path(str(work / "link" / "x")) == os.path.join(real, "link", "x")


def test_the_unbounded_spelling_opens_the_same_directory(host: Host, work: Path) -> None:
    (work / "f").write_bytes(b"x")
    spelled = host.unbounded(str(work))
    assert os.listdir(spelled) == ["f"]
    assert host.unbounded(spelled) == spelled
    assert host.absolute(spelled, str(work)) == str(work)


def test_an_absolute_path_is_seen_from_the_base(host: Host, work: Path) -> None:
    base = str(work)
    assert host.absolute("a/../b", base) == os.path.join(base, "b")
    assert host.absolute(base, "elsewhere") == base
    assert host.absolute(".", base) == base


def test_parts_put_together_are_the_path(host: Host, work: Path) -> None:
    anchor, parts = host.parts(str(work))
    assert anchor + os.sep.join(parts) == str(work)
    assert host.parts(anchor) == (anchor, ())


def test_a_name_is_the_same_as_itself_and_case_counts_where_the_system_says(host: Host) -> None:
    assert host.same_name("a.txt", "a.txt")
    assert not host.same_name("a.txt", "b.txt")
    assert host.same_name("A.TXT", "a.txt") is not host.case_sensitive


def test_a_nul_is_in_no_name(host: Host) -> None:
    host.refuse_name("plain.txt")
    with pytest.raises(InvalidName):
        host.refuse_name("a\0b")


def test_metadata_goes_to_another_file(host: Host, here: Directory) -> None:
    put(here, "old")
    here.set_mode("old", 0o444)
    source, target = here.open_file("old"), here.create_file("new")
    host.copy_metadata(source, target)
    os.write(target, b"still writable by its descriptor")
    os.close(source)
    os.close(target)
    assert (here.entry("new").mode, here.entry("new").attributes) == (0o444, here.entry("old").attributes)
    assert here.entry("new").owner == here.entry("old").owner


def test_metadata_of_an_ordinary_file_changes_nothing(host: Host, here: Directory) -> None:
    put(here, "old")
    put(here, "new")
    source, target = here.open_file("old"), here.open_file("new", writable=True)
    before = host.entry_of(target, "new")
    host.copy_metadata(source, target)
    after = host.entry_of(target, "new")
    assert (after.mode, after.owner, after.attributes) == (before.mode, before.owner, before.attributes)
    os.close(source)
    os.close(target)


def test_a_synced_file_has_its_content(host: Host, here: Directory, work: Path) -> None:
    descriptor = here.create_file("f")
    os.write(descriptor, b"x")
    host.sync_file(descriptor)
    assert (work / "f").read_bytes() == b"x"
    os.close(descriptor)


def test_a_lock_that_is_held_by_a_thread_keeps_another_out_for_so_long(host: Host, work: Path) -> None:
    path = str(work / "lock")
    with host.lock(path, 0), ThreadPoolExecutor(1) as pool:

        def take() -> None:
            with host.lock(path, 30):
                raise AssertionError("two threads held the lock")

        with pytest.raises(Locked) as caught:
            pool.submit(take).result(timeout=4)
    assert caught.value.details["timeout_ms"] == 30
    with host.lock(path, 0):
        pass


def test_a_lock_is_waited_for(host: Host, work: Path) -> None:
    path = str(work / "lock")
    taken = threading.Event()

    def take() -> None:
        with host.lock(path, 4_000):
            taken.set()

    with ThreadPoolExecutor(1) as pool:
        with host.lock(path, 0):
            waiting = pool.submit(take)
            assert not taken.wait(0.02)
        waiting.result(timeout=4)
    assert taken.is_set()


def test_a_lock_is_let_go_when_its_block_fails(host: Host, work: Path) -> None:
    with pytest.raises(ZeroDivisionError), host.lock(str(work / "lock"), 0):
        _ = 1 / 0
    with host.lock(str(work / "lock"), 0):
        pass


def test_a_lock_that_another_process_holds_ends_with_that_process(host: Host, work: Path) -> None:
    path = str(work / "lock")
    with python(HOLD, path) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline().strip() == b"held"
        with pytest.raises(Locked), host.lock(path, 20):
            pass
        holder.kill()
        holder.wait()
        with host.lock(path, 2_000):
            pass


@pytest.mark.slow
def test_processes_that_lock_lose_no_update(work: Path) -> None:
    (work / "number").write_text("0", encoding="ascii")
    children = [python(ADD, str(work / "lock"), str(work / "number")) for _ in range(8)]
    for child in children:
        child.communicate(timeout=60)
        assert child.returncode == 0
    assert (work / "number").read_text(encoding="ascii") == "160"


def test_a_private_directory_is_made_with_its_parents_and_only_once(host: Host, work: Path) -> None:
    path = work / "one" / "two"
    host.make_private_directory(str(path))
    (path / "f").touch()
    host.make_private_directory(str(path))
    assert os.listdir(path) == ["f"]
    if sys.platform != "win32":
        assert path.stat().st_mode & 0o077 == 0


def test_a_file_in_the_place_of_the_private_directory_is_told(host: Host, work: Path) -> None:
    (work / "taken").touch()
    with pytest.raises(FileExistsError):
        host.make_private_directory(str(work / "taken"))


def test_a_process_has_one_start_and_none_when_it_ended(host: Host) -> None:
    with python("import sys; sys.stdin.read()") as child:
        start = host.process_start(child.pid)
        assert start
        assert host.process_start(child.pid) == start
        child.communicate(b"")
    assert host.process_start(child.pid) is None
    assert host.process_start(os.getpid()) != start


def test_the_users_directories_are_absolute_and_in_the_home(host: Host, home: Path) -> None:
    for path in (host.user_data_directory(), host.user_config_directory()):
        assert os.path.isabs(path)
        assert Path(path).is_relative_to(home)


def test_an_entry_of_the_top_is_a_directory(host: Host, work: Path) -> None:
    anchor, _ = host.parts(str(work))
    top = host.open_root(anchor)
    assert top.entry(".").kind is Kind.DIRECTORY
    assert list(top.scan())
    top.close()


def test_a_hole_reads_as_zeros_and_where_there_are_none_nothing_is_lost(host: Host, work: Path) -> None:
    path, mib = work / "file", 1 << 20
    path.write_bytes(b"x" * (4 * mib))
    with open(path, "ab"):  # whoever prints has it open
        made = host.punch_hole(str(path), mib, 3 * mib)
    middle = bytes(2 * mib) if made else b"x" * (2 * mib)
    assert path.read_bytes() == b"x" * mib + middle + b"x" * mib
    if made and sys.platform != "win32":
        assert path.stat().st_blocks * 512 < 3 * mib


def test_a_hole_in_what_is_not_there_is_an_error(host: Host, work: Path) -> None:
    with pytest.raises(FileNotFoundError):
        host.punch_hole(str(work / "gone"), 0, 1)
