"""Commands that belong to the shell alone: they reach operations rather than being some."""

from __future__ import annotations

from collections.abc import Callable

import click

COMMANDS: dict[str, Callable[[], click.Command]] = {}
SUMMARIES: dict[str, str] = {}
