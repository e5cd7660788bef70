"""Folders of runs that are over, kept for runs to come."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from hearth.engine.spares import MOST, PREFIX, Spares
from hearth.platforms.local import local_host

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="other systems do not tell who has a file open")


@pytest.fixture
def spares(tmp_path: Path) -> Spares:
    (tmp_path / "jobs").mkdir()
    return Spares(local_host(), str(tmp_path))


def run_of(tmp_path: Path, name: str) -> Path:
    folder = tmp_path / "jobs" / name
    folder.mkdir()
    for file in ("stdout", "stderr", "status"):
        (folder / file).write_bytes(b"held\nof the run before\n")
    return folder


def test_the_next_run_gets_the_folder_of_the_last_one_with_nothing_in_its_files(spares: Spares, tmp_path: Path) -> None:
    last, following = run_of(tmp_path, "last"), tmp_path / "jobs" / "next"
    inode = (last / "stdout").stat().st_ino
    spares.keep(str(last))
    assert not last.exists()
    assert spares.give(str(following))
    assert (following / "stdout").stat().st_ino == inode
    assert {file.name: file.read_bytes() for file in following.iterdir()} == {
        "stdout": b"",
        "stderr": b"",
        "status": b"held\n",
    }
    assert not spares.give(str(tmp_path / "jobs" / "third"))


def test_a_folder_is_not_kept_while_another_process_could_write_to_it(spares: Spares, tmp_path: Path) -> None:
    folder = run_of(tmp_path, "run")
    with open(folder / "stdout", "ab") as output:
        other = subprocess.Popen(["sleep", "60"], stdout=output)
    try:
        with open(folder / "stdout", "rb") as seen:
            spares.keep(str(folder))
            assert seen.read() == b"held\nof the run before\n"
    finally:
        other.kill()
        other.wait()
    assert list((tmp_path / "jobs").iterdir()) == []


def test_a_folder_with_anything_else_in_it_is_not_kept(spares: Spares, tmp_path: Path) -> None:
    folder = run_of(tmp_path, "run")
    (folder / "stdin").write_bytes(b"")
    spares.keep(str(folder))
    assert list((tmp_path / "jobs").iterdir()) == []


def test_no_more_than_a_few_are_kept(spares: Spares, tmp_path: Path) -> None:
    for number in range(MOST + 1):
        spares.keep(str(run_of(tmp_path, str(number))))
    assert len(list((tmp_path / "jobs").iterdir())) == MOST


def test_none_is_left_by_a_worker_that_ends_or_that_was_killed(spares: Spares, tmp_path: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    run_of(tmp_path, f"{PREFIX}{gone.pid}-0")
    living = run_of(tmp_path, f"{PREFIX}{os.getppid()}-0")
    spares.keep(str(run_of(tmp_path, "run")))
    spares.remove_left()
    spares.close()
    assert list((tmp_path / "jobs").iterdir()) == [living]
