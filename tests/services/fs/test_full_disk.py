"""No room, no permission: the original stays as it was, and nothing is left beside it."""

from __future__ import annotations

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
from hearth.runtime import Runtime
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
