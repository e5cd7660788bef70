"""Fields that the inputs and results of several changing operations share."""

from __future__ import annotations

from typing import Annotated

from hearth.model import Cli, Help, Len, PathName, Pattern

MAX_PATH = 32_767
MAX_NAME = 200

Group = Annotated[str | None, Len(1, MAX_NAME), Help("The change set that this belongs to, for undo.")]
DryRun = Annotated[bool, Help("Only say what would happen.")]
Receipt = Annotated[str | None, Help("What `hearth fs undo` takes; null when nothing was done.")]
Warnings = Annotated[tuple[str, ...], Help("What is worth knowing.")]
PathIn = Annotated[str, Len(1, MAX_PATH), PathName(), Cli(argument=True, completes="path")]
Expected = Annotated[
    str | None,
    Pattern("^([0-9a-fA-F]{64}|absent)$", 'must be 64 hex digits, or "absent"'),
    Help('Refuse another content than this; "absent": refuse a file that exists.'),
]
