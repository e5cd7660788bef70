"""Make a directory."""

from __future__ import annotations

from typing import Annotated

from hearth.model import Cli, Help, Len, PathName, State, model
from hearth.runtime import Runtime
from hearth.services.fs import mutation
from hearth.services.fs.answers import MAX_PATH, DryRun, Group, Receipt
from hearth.services.fs.steps import MakeDirectory


@model
class MakeDirectoryAt:
    path: Annotated[
        str, Len(1, MAX_PATH), PathName(), Cli(argument=True, completes="path"), Help("The directory to make.")
    ]
    parents: Annotated[
        bool, Cli(names=("-p",)), Help("Make missing directories on the way; one that exists is fine.")
    ] = False
    group: Group = None
    dry_run: DryRun = False


@model
class DirectoryMade:
    state: Annotated[State, Help("What the call came to.")] = State.COMPLETED
    path: Annotated[str, PathName(), Help("The directory.")]
    created: Annotated[bool, Help("False: it was there.")]
    receipt: Receipt


def mkdir(runtime: Runtime, given: MakeDirectoryAt) -> DirectoryMade:
    """Raises `AlreadyExists`, `MissingParent`, `ReservedName`, `OutsideRoot`, `ReadOnlyRoot`."""
    step = MakeDirectory(given.path, parents=given.parents, existing_ok=given.parents)
    done = mutation.apply(runtime, [step], operation="fs.mkdir", group=given.group, dry_run=given.dry_run)
    return DirectoryMade(path=step.change.path, created=step.changed, receipt=done.receipt.id if done.receipt else None)
