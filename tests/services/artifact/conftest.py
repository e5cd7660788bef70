"""A runtime for tests that make many artifacts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from hearth.platforms.local import local_host
from hearth.runtime import Runtime
from hearth.settings import Settings


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runtime]:
    """A runtime that the examples of a module share."""
    folder = tmp_path_factory.mktemp("shared")
    made = Runtime(host=local_host(), settings=Settings(), data_dir=str(folder), roots=(), base=str(folder))
    yield made
    made.close()
