"""The settings of hearth v0, a JSON file, as today's."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

from hearth.configuration import keys
from hearth.configuration.load import Configuration, place

KNOWN = ("data_dir", "roots", "command_timeout_ms", "max_output_bytes")


class Imported(NamedTuple):
    """What could be taken over, by key, and why the rest could not."""

    taken: dict[str, Any]
    left: dict[str, str]


def convert(config: Configuration, path: str, table: Mapping[str, Any]) -> Imported:
    """v0's keys as today's. Its paths were seen from its working directory, which held the file."""
    base = os.path.dirname(path)
    taken, left = {}, {}
    for key, value in _flat(table):
        flaw = keys.check(key, value) if key in KNOWN else None
        if key not in KNOWN:
            left[key] = "has no counterpart"
        elif flaw is not None:
            left[key] = flaw.message
        else:
            taken[key] = _placed(config, key, value, base)
    return Imported(taken, left)


def _flat(table: Mapping[str, Any]) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for key, value in table.items():
        found += (
            [(f"{key}.{name}", item) for name, item in value.items()] if isinstance(value, dict) else [(key, value)]
        )
    return found


def _placed(config: Configuration, key: str, value: Any, base: str) -> Any:
    if key == "data_dir":
        return place(config.host, value, base)
    if key == "roots":
        return [{"path": place(config.host, root.path, base)} for root in keys.typed(key, value)]
    return value
