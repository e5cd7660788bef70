from __future__ import annotations

from pathlib import Path

import pytest

from hearth.configuration.load import user_directory
from hearth.platforms.local import local_host


@pytest.fixture
def user_file(home: Path) -> Path:  # noqa: ARG001
    """Where the user's own settings go."""
    path = Path(user_directory(local_host())) / "hearth.toml"
    path.parent.mkdir(parents=True)
    return path
