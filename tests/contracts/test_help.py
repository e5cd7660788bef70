"""What `--help` says of every command, kept so that a change of it is seen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hearth import catalog
from hearth.cli import edge

Hearth = Callable[..., Any]
FOLDER = "tests/snapshots/help"


def commands() -> dict[str, tuple[str, ...]]:
    """Every command and group, by its words."""
    made: dict[str, tuple[str, ...]] = {"hearth": ()}
    for family in [*map(catalog.family, catalog.FAMILIES), edge.FAMILY]:
        first = () if family.top_level else (family.name,)
        for row in family.operations:
            words = (*first, *row.at_shell)
            for length in range(1, len(words) + 1):
                made[" ".join(words[:length])] = words[:length]
    return made


COMMANDS = commands()


@pytest.mark.parametrize("name", COMMANDS)
def test_help_is_what_was_last_agreed(
    name: str, hearth: Hearth, generated: Callable[[str, str], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    done = hearth(*COMMANDS[name], "--help")
    assert (done.status, done.err) == (0, "")
    assert done.out.isascii(), "help must print on any code page"
    generated(f"{FOLDER}/{name.replace(' ', '.')}.txt", done.out)


def test_no_help_is_kept_of_a_command_that_is_gone(request: pytest.FixtureRequest) -> None:
    folder = Path(__file__).parents[2] / FOLDER
    gone = [path for path in folder.iterdir() if path.stem.replace(".", " ") not in COMMANDS]
    if request.config.getoption("--update"):
        for path in gone:
            path.unlink()
        gone = []
    assert gone == []
