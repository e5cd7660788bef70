"""The families in the order that help shows them. Loading a family reads a table and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

from hearth.errors import UnknownOperation
from hearth.operation import Family, Operation

FAMILIES = ("machine", "fs", "task", "artifact", "recipe", "run", "self")


def family(name: str) -> Family:
    """The family called `name`. Raises `UnknownOperation`."""
    if name not in FAMILIES:
        raise UnknownOperation(f"there is no family {name!r}", hint=f"the families are {', '.join(FAMILIES)}")
    table = import_module(f"hearth.services.{name}.operations")
    found = table.FAMILY
    assert isinstance(found, Family)
    return found


def find(dotted: str) -> tuple[Family, Operation]:
    """The row of `family.operation`; hyphens and underscores mean the same. Raises `UnknownOperation`."""
    family_name, _, name = dotted.partition(".")
    found = family(family_name)
    row = found.operation(name)
    if row is None:
        from difflib import get_close_matches

        near = get_close_matches(name, [row.name for row in found.operations], 1)
        hint = f"did you mean {family_name}.{near[0]}?" if near else "`hearth operations` lists what there is"
        raise UnknownOperation(f"there is no operation {dotted!r}", hint=hint)
    return found, row


def walk() -> Iterator[tuple[Family, Operation]]:
    """Every row of every family."""
    for name in FAMILIES:
        found = family(name)
        for row in found.operations:
            yield found, row
