"""No room, no permission: the original stays as it was, and nothing is left beside it."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import hearth
from hearth.containment import Root
from hearth.runtime import Runtime, StoreOpener
from tests.privilege import bound_by_modes
from tests.services.fs.test_undo import call, refused, tree_of

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="limits and modes of POSIX")


def count_receipts(runtime: Runtime) -> int:
    with runtime.store.read() as tx:
        (count,) = tx.execute("SELECT count(*) FROM receipts").fetchone()
    return int(count)


@contextmanager
def file_size_limit(most: int) -> Iterator[None]:
    import resource
    import signal

    # Without a handler the signal ends the process; with one ignored, the write fails.
    old = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, old)


@posix_only
@pytest.mark.parametrize("append", [False, True])
def test_a_write_that_passes_the_size_limit_leaves_the_original(work: Path, runtime: Runtime, append: bool) -> None:
    original = bytes(range(256)) * 4
    (work / "a").write_bytes(original)
    call(runtime, "write", path="first", data="opens the store")
    with file_size_limit(1024 * 1024):
        error = refused(runtime, "write", path="a", data="x" * 2 * 1024 * 1024, append=append)
    assert error.code == "no_space"
    assert tree_of(work).keys() == {"a", "first"} and (work / "a").read_bytes() == original
    assert count_receipts(runtime) == 1


def test_a_full_volume_leaves_the_original(small_disk: Path, runtime: Runtime) -> None:
    (small_disk / "a").write_bytes(b"original")
    (small_disk / "tree").mkdir()
    (small_disk / "tree" / "large").write_bytes(bytes(small_disk.stat().st_blksize * 150))
    runtime = runtime.for_call(roots=(Root(str(small_disk)),), base=str(small_disk))
    before = tree_of(small_disk)
    assert refused(runtime, "write", path="a", data="x" * 2 * 1024 * 1024).code == "no_space"
    assert refused(runtime, "copy", path="tree", to="copied", recursive=True).code == "no_space"
    assert tree_of(small_disk) == before
    assert count_receipts(runtime) == 0
    call(runtime, "write", path="a", data="small enough")


def elsewhere(runtime: Runtime, data: Path) -> Runtime:
    """The same files with another data directory, as a new process sees them."""
    return runtime.for_call(data_dir=str(data), opener=StoreOpener())


def fill(disk: Path) -> None:
    with contextlib.suppress(OSError), (disk / "fill").open("wb", buffering=0) as file:
        while True:
            file.write(bytes(4096))


def test_a_full_data_directory_is_named_instead_of_the_file(work: Path, runtime: Runtime, small_disk: Path) -> None:
    (work / "other").write_bytes(b"x" * 5000)
    runtime = elsewhere(runtime, small_disk / "data")
    call(runtime, "write", path="a", data="original")
    runtime.close()
    fill(small_disk)
    before = tree_of(work)
    for operation, given in (
        ("write", {"path": "a", "data": "new"}),
        ("write", {"path": "a", "data": "new", "append": True}),
        ("patch", {"path": "other", "replacements": [{"old": "x", "new": "y", "count": 0}]}),
        ("copy", {"path": "a", "to": "b"}),
        ("move", {"path": "a", "to": "b"}),
        ("mkdir", {"path": "d"}),
        ("chmod", {"path": "a", "mode": "600"}),
        ("delete", {"path": "a"}),
    ):
        runtime = elsewhere(runtime, small_disk / "data")
        error = refused(runtime, operation, **given)
        runtime.close()
        assert error.code == "no_space" and str(small_disk) in error.message, (operation, error.message)
    assert tree_of(work) == before
    (small_disk / "fill").unlink()
    runtime = elsewhere(runtime, small_disk / "data")
    call(runtime, "write", path="a", data="room again")
    runtime.close()


def test_a_data_directory_that_may_not_be_written_is_named(work: Path, runtime: Runtime) -> None:
    call(runtime, "write", path="a", data="original")
    data = Path(runtime.data_dir)
    runtime.close()
    modes = {path: path.stat().st_mode for path in (data, *data.rglob("*"))}
    for path, mode in modes.items():
        path.chmod(mode & ~0o222)
    try:
        with bound_by_modes():
            for operation, given in (("write", {"path": "a", "data": "new"}), ("mkdir", {"path": "d"})):
                error = refused(runtime, operation, **given)
                assert error.code == "data_dir_read_only" and str(data) in error.message, (operation, error.message)
    finally:
        for path, mode in modes.items():
            path.chmod(mode)
    assert tree_of(work).keys() == {"a"}


@pytest.mark.parametrize(
    "line", [b'["/cut" off\n', b"\0" * 60 + b"\n", b"5\n", b"[1, 2]\n", b'["/no/such", "x.hearth-tmp"]']
)
def test_a_damaged_journal_of_a_dead_process_harms_no_change(work: Path, runtime: Runtime, line: bytes) -> None:
    folder = Path(runtime.data_dir) / "temporary"
    folder.mkdir(parents=True)
    (folder / "4194303-1").write_bytes(line)
    call(runtime, "write", path="a", data="x")
    assert (work / "a").read_bytes() == b"x" and not (folder / "4194303-1").exists()


@posix_only
@pytest.mark.skipif(sys.platform != "win32" and os.geteuid() == 0, reason="the administrator may write anywhere")
def test_a_directory_that_may_not_be_written_is_named(work: Path, runtime: Runtime) -> None:
    (work / "d").mkdir()
    (work / "d" / "a").write_bytes(b"original")
    (work / "d").chmod(0o500)
    try:
        assert refused(runtime, "write", path="d/a", data="new").code == "permission_denied"
    finally:
        (work / "d").chmod(0o700)
    assert (work / "d" / "a").read_bytes() == b"original"


@posix_only
@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() != 0, reason="only the administrator can become another")
def test_somebody_who_may_not_write_or_give_away_is_refused_and_nothing_changes(
    open_folder: Path, run_as_nobody: Callable[[Callable[[], Any]], str]
) -> None:
    if run_as_nobody(lambda: os.access(hearth.__file__, os.R_OK)) != "True":
        pytest.skip("an ordinary user cannot read this checkout")
    work = open_folder / "work"
    work.mkdir()
    work.chmod(0o777)
    (work / "others").write_bytes(b"root's file")
    (work / "others").chmod(0o666)
    (work / "closed").mkdir(mode=0o755)
    (work / "closed" / "a").write_bytes(b"original")

    def attempt() -> str:
        from tests.acceptance.dying import open_runtime

        runtime = open_runtime(open_folder)
        codes = [
            refused(runtime, "write", path="closed/a", data="new").code,
            refused(runtime, "write", path="others", data="new").code,
        ]
        in_place = open_runtime(open_folder, in_place=True)
        call(in_place, "write", path="others", data="written in place")
        return " ".join(codes)

    assert run_as_nobody(attempt) == "permission_denied cannot_keep_owner"
    assert (work / "closed" / "a").read_bytes() == b"original"
    assert ((work / "others").read_bytes(), (work / "others").stat().st_uid) == (b"written in place", 0)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that everybody can reach, which those of the tests are not."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        yield Path(folder).resolve()


@pytest.fixture
def run_as_nobody() -> Callable[[Callable[[], Any]], str]:
    """Run a function in a forked process of an ordinary user; what it returns, or how it failed."""

    def run(function: Callable[[], Any]) -> str:
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
                said = str(function())
            except BaseException as error:
                said = f"failed: {error!r}"
            os.write(writing, said.encode())
            os._exit(0)
        os.close(writing)
        with os.fdopen(reading, "rb") as file:
            said = file.read().decode()
        os.waitpid(child, 0)
        return said

    return run
