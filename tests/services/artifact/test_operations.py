from __future__ import annotations

from hearth.operation import Effect, Surface
from hearth.services.artifact.operations import FAMILY


def test_over_mcp_the_family_only_reads() -> None:
    writing = [row for row in FAMILY.operations if row.effect is not Effect.READ]
    assert {row.name for row in writing} == {"put", "export", "pin", "unpin", "delete", "gc"}
    assert all(row.surfaces == Surface.CLI for row in writing)
    assert all(row.surfaces == Surface.ALL for row in FAMILY.operations if row not in writing)
