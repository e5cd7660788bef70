"""A store of its own for each test of this folder."""

from __future__ import annotations

import os
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


@pytest.fixture(autouse=True)
def copied_database() -> None:
    """None: here databases are made as users' are."""


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
