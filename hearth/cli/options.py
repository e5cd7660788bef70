"""What the global options said, and what that means for output."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, field


def columns(descriptor: Callable[[], int]) -> int:
    """How wide a terminal is. Serial lines and fresh pseudo-terminals call themselves 0 wide: 80 then. click would
    import shutil to learn it."""
    try:
        wide = int(os.environ.get("COLUMNS") or os.get_terminal_size(descriptor()).columns)
    except (OSError, ValueError):
        return 80
    return wide if wide > 0 else 80


@dataclass(slots=True)
class Output:
    """How this process shows its answers."""

    json: bool = False
    ndjson: bool = False
    quiet: bool = False
    color: bool = True

    @property
    def is_terminal(self) -> bool:
        return sys.stdout.isatty()

    @property
    def width(self) -> int:
        """The terminal's columns."""
        return columns(sys.stdout.fileno)

    @property
    def colored(self) -> bool:
        return self.color and self.is_terminal and not os.environ.get("NO_COLOR")

    @property
    def machine_readable(self) -> bool:
        return self.json or self.ndjson


@dataclass(slots=True)
class Globals:
    """What the global options said, wherever they stood."""

    output: Output = field(default_factory=Output)
    verbose: bool = False
    data_dir: str | None = None
    config: str | None = None
    roots: list[str] = field(default_factory=list)
    run: str | None = None
    conversation: str | None = None
