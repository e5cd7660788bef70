from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hearth.configuration.load import Configuration, Flags, load, user_directory
from hearth.platforms.local import local_host

Load = Callable[..., Configuration]


@pytest.fixture
def user_file(home: Path) -> Path:  # noqa: ARG001
    """Where the user's own settings go."""
    path = Path(user_directory(local_host())) / "hearth.toml"
    path.parent.mkdir(parents=True)
    return path


@pytest.fixture
def configured(work: Path) -> Load:
    """The configuration as a process in `work` sees it: `configured({"HEARTH_FS_SYNC": "false"}, config="x.toml")`."""

    def run(environ: dict[str, str] | None = None, *, here: Path = work, **flags: object) -> Configuration:
        return load(local_host(), environ or {}, str(here), Flags(**flags))  # type: ignore[arg-type]

    return run
