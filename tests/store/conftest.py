"""A store of its own for each test of this folder."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from hearth.clock import Clock
from hearth.platforms.local import local_host
from hearth.store.database import Store, open_store
from tests.privilege import bound_by_modes


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory that nothing has made yet."""
    return tmp_path / "data" / "hearth"


@pytest.fixture
def store(data: Path) -> Iterator[Store]:
    made = open_store(local_host(), str(data), Clock())
    yield made
    made.close()


@pytest.fixture
def bound_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder in which this process may do what the modes say and no more."""
    folder = tmp_path / "bound"
    folder.mkdir()
    try:
        with bound_by_modes():
            yield folder
    finally:
        for parent, _, _ in os.walk(folder):
            os.chmod(parent, 0o700)


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A file system of 1 MiB."""
    folder = Path(tempfile.mkdtemp())
    words = ["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(folder)]
    if os.name == "nt" or subprocess.run(words, capture_output=True, check=False).returncode:
        folder.rmdir()
        pytest.skip("only an administrator of Linux can make a small file system")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)
    folder.rmdir()
