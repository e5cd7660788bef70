"""Move or rename a file, link or directory."""

from __future__ import annotations

from typing import Annotated

from hearth.model import Cli, Help, Len, PathName, State, model
from hearth.platforms.base import Kind
from hearth.runtime import Runtime
from hearth.services.fs import mutation
from hearth.services.fs.answers import MAX_PATH, DryRun, Group, Receipt, Warnings
from hearth.services.fs.relocation import Move
from hearth.services.fs.targets import into, refuse_holding_roots


@model
class MovePath:
    path: Annotated[str, Len(1, MAX_PATH), PathName(), Cli(argument=True, completes="path"), Help("What to move.")]
    to: Annotated[
        str,
        Len(1, MAX_PATH),
        PathName(),
        Cli(argument=True, completes="path"),
        Help("Its new path; with a / at the end, the directory to move it into."),
    ]
    overwrite: Annotated[bool, Help("Replace a file that stands there; undo brings it back.")] = False
    parents: Annotated[bool, Help("Make missing directories.")] = False
    group: Group = None
    dry_run: DryRun = False


@model
class PathMoved:
    state: Annotated[State, Help("What the call came to.")] = State.COMPLETED
    path: Annotated[str, PathName(), Help("Where it was.")]
    to: Annotated[str, PathName(), Help("Where it is.")]
    kind: Annotated[Kind, Help("What was moved.")]
    overwritten: Annotated[bool, Help("Whether a file was replaced.")]
    receipt: Receipt
    replace_attempts: Annotated[int, Help("How often a rename was tried.")]
    warnings: Warnings = ()


def move(runtime: Runtime, given: MovePath) -> PathMoved:
    """Raises `NotFound`, `AlreadyExists`, `MissingParent`, `OutsideRoot`, `ReadOnlyRoot`, `BackupTooLarge`."""
    with runtime.containment.locate(given.path, follow=False) as place:
        kind = place.found.kind
        refuse_holding_roots(runtime, place)
    step = Move(
        given.path, into(given.to, given.path, runtime), overwrite=given.overwrite, create_parents=given.parents
    )
    done = mutation.apply(runtime, [step], operation="fs.move", group=given.group, dry_run=given.dry_run)
    assert step.change.other is not None
    return PathMoved(
        path=step.change.path,
        to=step.change.other,
        kind=kind,
        overwritten=step.change.before_sha256 is not None,
        receipt=done.receipt.id if done.receipt else None,
        replace_attempts=done.replace_attempts,
        warnings=tuple(done.warnings),
    )
