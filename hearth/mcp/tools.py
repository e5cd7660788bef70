"""The tools that are served, from a file: no family is loaded before one of its operations is called."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from hearth.settings import ServeTools

FILE = "tools.json"
READ_TWIN = "_read"


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool: its family, its operations, and all fields of these."""

    name: str
    family: str
    operations: frozenset[str]
    fields: frozenset[str]


class Tools:
    """What `tools/list` says, and what the names mean."""

    def __init__(self, listed: list[dict[str, Any]]) -> None:
        self.listed = listed
        self._by_name = {each["name"]: _tool(each) for each in listed}

    def find(self, name: str) -> Tool | None:
        return self._by_name.get(name)


def load(which: ServeTools = ServeTools.FAMILY) -> Tools:
    """The tools of the families; `split` adds those that only read."""
    made = json.loads(files("hearth.mcp").joinpath(FILE).read_text("utf-8"))
    return Tools([*made["tools"], *(made["read"] if which is ServeTools.SPLIT else [])])


def _tool(listed: dict[str, Any]) -> Tool:
    properties = listed["inputSchema"]["properties"]
    return Tool(
        name=listed["name"],
        family=listed["name"].removesuffix(READ_TWIN),
        operations=frozenset(properties["operation"]["enum"]),
        fields=frozenset(properties) - {"operation"},
    )
