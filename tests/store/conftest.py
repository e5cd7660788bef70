"""A store of its own for each test of this folder."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hearth.clock import Clock
from hearth.platforms.local import local_host
from hearth.store.database import Store, open_store


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory that nothing has made yet."""
    return tmp_path / "data" / "hearth"


@pytest.fixture
def store(data: Path) -> Iterator[Store]:
    made = open_store(local_host(), str(data), Clock())
    yield made
    made.close()
