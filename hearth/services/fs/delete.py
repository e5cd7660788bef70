"""Delete a file, link or directory."""

from __future__ import annotations

from typing import Annotated

from hearth.errors import NotEmpty
from hearth.model import Cli, Help, Len, PathName, State, model
from hearth.platforms.base import Kind
from hearth.runtime import Runtime
from hearth.services.fs import mutation
from hearth.services.fs.answers import MAX_PATH, DryRun, Expected, Group, Receipt, Warnings
from hearth.services.fs.relocation import FRESH, Move, Remove
from hearth.services.fs.steps import is_empty
from hearth.services.fs.targets import refuse_holding_roots


@model
class DeletePath:
    path: Annotated[str, Len(1, MAX_PATH), PathName(), Cli(argument=True, completes="path"), Help("What to delete.")]
    recursive: Annotated[bool, Cli(names=("-r",)), Help("Delete a directory with everything below it.")] = False
    permanent: Annotated[bool, Help("Keep nothing for undo.")] = False
    expected_sha256: Expected = None
    group: Group = None
    dry_run: DryRun = False


@model
class PathDeleted:
    state: Annotated[State, Help("What the call came to.")] = State.COMPLETED
    path: Annotated[str, PathName(), Help("What was deleted; of a link, the link itself.")]
    kind: Annotated[Kind, Help("What it was.")]
    entries: Annotated[int, Help("How many files, links and directories.")]
    size: Annotated[int, Help("How many bytes.")]
    receipt: Receipt
    warnings: Warnings = ()


def delete(runtime: Runtime, given: DeletePath) -> PathDeleted:
    """Raises `NotFound`, `NotEmpty`, `BackupTooLarge`, `Conflict`, `OutsideRoot`, `ReadOnlyRoot`."""
    with runtime.containment.locate(given.path, follow=False, write=True) as place:
        kind = place.found.kind
        refuse_holding_roots(runtime, place)
        if kind is Kind.DIRECTORY and not given.recursive and not is_empty(place):
            raise NotEmpty(f"{place.path} is not empty", path=place.path)
    step: Move | Remove
    if given.permanent:
        step = Remove(given.path, expected=given.expected_sha256)
    else:
        step = Move(given.path, FRESH, expected=given.expected_sha256)
    done = mutation.apply(runtime, [step], operation="fs.delete", group=given.group, dry_run=given.dry_run)
    return PathDeleted(
        path=step.change.path,
        kind=kind,
        entries=step.entries,
        size=step.size,
        receipt=done.receipt.id if done.receipt else None,
        warnings=tuple(done.warnings),
    )
