"""What an operation is: one row that every surface reads."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from enum import Flag, StrEnum
from importlib import import_module
from typing import Any, get_type_hints


class Effect(StrEnum):
    """What an operation may do to the world."""

    READ = "read"
    WRITE = "write"
    DESTROY = "destroy"


class Surface(Flag):
    """Where an operation can be reached."""

    CLI = 1
    MCP = 2
    SCATTER = 4
    RECIPE = 8
    ALL = 15


@dataclass(frozen=True, slots=True)
class Operation:
    """One row: a name, the function behind it as `module:function`, and what it may do."""

    name: str
    target: str
    effect: Effect
    summary: str
    examples: tuple[str, ...] = ()
    surfaces: Surface = Surface.ALL
    # The words at the shell below the family, where they are not just the name: ("config", "show").
    words: tuple[str, ...] = ()
    # `module:function` of a form that yields bytes or items as they come, for a shell without --json.
    stream: str = ""
    # Ctrl-C and SIGTERM take the call back, so that it ends in its own way, rather than ending hearth.
    hears_signals: bool = False
    # Only reads, but may take seconds: over MCP none of the threads works on it that are kept free for short calls.
    lengthy: bool = False
    # Waits for something until its own `timeout_ms`, so a call over MCP is held for so long.
    waits: bool = False
    # Runs a program whose outputs a shell without --json passes on as they come, and shows nothing else.
    live: bool = False
    # Works without a store: nothing is opened, no event is kept.
    storeless: bool = False
    # Runs although settings are wrong, which then have their defaults: what shows and mends them.
    lenient: bool = False

    @property
    def is_short(self) -> bool:
        """Whether a call never waits for anything."""
        return self.effect is Effect.READ and not (self.hears_signals or self.lengthy or self.waits)

    @property
    def at_shell(self) -> tuple[str, ...]:
        return self.words or (self.name.replace("_", "-"),)


_LOADED: set[str] = set()


@dataclass(frozen=True, slots=True)
class Family:
    """The operations on one noun. `package` holds the modules that the rows' targets name."""

    name: str
    summary: str
    operations: tuple[Operation, ...]
    package: str = ""
    top_level: bool = False  # its operations show beside the families, not below a name of their own

    def operation(self, name: str) -> Operation | None:
        wanted = name.replace("-", "_")
        return next((row for row in self.operations if row.name == wanted), None)

    def load(self, target: str) -> Callable[..., Any]:
        module, _, function = target.partition(":")
        name = f"{self.package or f'hearth.services.{self.name}'}.{module}"
        # What is loaded is loaded once for thousands of calls, and `import_module` is slow to find that out; but
        # `sys.modules` also holds what another thread has only begun to load.
        if name not in _LOADED:
            import_module(name)
            _LOADED.add(name)
        loaded = getattr(sys.modules[name], function)
        assert callable(loaded)
        return loaded  # type: ignore[no-any-return]


def types_of(function: Callable[..., Any]) -> tuple[type, type]:
    """The input and result types, which are the annotations of the function's second parameter and return."""
    known = _TYPES.get(function)
    if known is None:
        hints = get_type_hints(function)
        result = hints.pop("return")
        known = _TYPES[function] = (list(hints.values())[1], result)
    return known


_TYPES: dict[Callable[..., Any], tuple[type, type]] = {}
