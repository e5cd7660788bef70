from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hearth.errors import Cancelled
from hearth.runtime import Runtime
from hearth.services.fs.hash import HashFiles, hash_files


@pytest.fixture
def tree(work: Path) -> Path:
    for number in range(30):
        path = work / f"d{number % 3}" / f"f{number:02}"
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"x" * number * 10_000)
    return work


def test_every_file_is_hashed_in_order(tree: Path, hearth: Callable[..., Any]) -> None:
    files = sorted(path for path in tree.rglob("f*"))
    done = hearth("fs", "hash", *files)
    expected = [f"{hashlib.sha256(each.read_bytes()).hexdigest()}\t{each.relative_to(tree)}" for each in files]
    assert (done.status, done.out.splitlines()) == (0, expected)
    assert hearth("fs", "hash", "-r", ".").out == done.out


def test_a_failed_file_is_told_and_the_others_are_hashed(tree: Path, hearth: Callable[..., Any]) -> None:
    done = hearth("fs", "hash", "gone", "d0/f00", "d1", "--json")
    assert (done.status, done.json["state"]) == (1, "partial")
    assert [each["sha256"] for each in done.json["hashes"]] == [hashlib.sha256(b"").hexdigest()]
    assert [each["code"] for each in done.json["errors"]] == ["not_found", "is_a_directory"]
    assert tree.is_dir()


def test_globs_and_limits_choose_files(tree: Path, runtime: Runtime) -> None:
    some = hash_files(runtime, HashFiles(paths=(".",), recursive=True, globs=("*0", "!d0"), limit=1))
    assert [(each.path, some.stopped, some.state) for each in some.hashes] == [
        (os.path.join("d1", "f10"), "limit", "partial")
    ]
    assert tree.is_dir()


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no FIFOs in directories")
def test_a_fifo_never_blocks_a_hash(tree: Path, runtime: Runtime) -> None:
    os.mkfifo(tree / "fifo")
    (tree / "link").symlink_to("d0/f00")
    one = hash_files(runtime, HashFiles(paths=("fifo",)))
    assert [each.code for each in one.errors] == ["not_regular"]
    every = hash_files(runtime, HashFiles(paths=(".",), recursive=True))
    assert (len(every.hashes), every.skipped, every.state) == (30, {"link": 1, "special": 1}, "completed")


def test_a_cancelled_hash_ends_and_closes_its_files(tree: Path, runtime: Runtime) -> None:
    runtime.cancelled.set()
    with pytest.raises(Cancelled):
        hash_files(runtime, HashFiles(paths=(".",), recursive=True))
    for each in tree.rglob("f*"):
        each.unlink()  # on Windows an open file would refuse
