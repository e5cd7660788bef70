"""Copy a file, link or directory."""

from __future__ import annotations

import os
from typing import Annotated

from hearth.containment import Place
from hearth.errors import IsDirectory
from hearth.model import Cli, Help, Len, PathName, State, model
from hearth.platforms.base import Kind
from hearth.runtime import Runtime
from hearth.services.fs import mutation
from hearth.services.fs.answers import MAX_PATH, DryRun, Group, Receipt, Warnings
from hearth.services.fs.backup import chunks
from hearth.services.fs.content import Write
from hearth.services.fs.relocation import Copy
from hearth.services.fs.targets import into


@model
class CopyPath:
    path: Annotated[str, Len(1, MAX_PATH), PathName(), Cli(argument=True, completes="path"), Help("What to copy.")]
    to: Annotated[
        str,
        Len(1, MAX_PATH),
        PathName(),
        Cli(argument=True, completes="path"),
        Help("The path of the copy; with a / at the end, the directory to copy into."),
    ]
    recursive: Annotated[bool, Cli(names=("-r",)), Help("Copy a directory with everything below it.")] = False
    follow: Annotated[bool, Help("Copy what a link at the end of the path leads to, not the link.")] = False
    overwrite: Annotated[bool, Help("Replace the content of a file that stands there; undo brings it back.")] = False
    parents: Annotated[bool, Help("Make missing directories.")] = False
    group: Group = None
    dry_run: DryRun = False


@model
class PathCopied:
    state: Annotated[State, Help("What the call came to.")] = State.COMPLETED
    path: Annotated[str, PathName(), Help("What was copied.")]
    to: Annotated[str, PathName(), Help("Where the copy is.")]
    kind: Annotated[Kind, Help("What was copied.")]
    entries: Annotated[int, Help("How many files, links and directories.")]
    size: Annotated[int, Help("How many bytes.")]
    receipt: Receipt
    warnings: Warnings = ()


def copy(runtime: Runtime, given: CopyPath) -> PathCopied:
    """Raises `NotFound`, `AlreadyExists`, `IsDirectory`, `NotRegular`, `NoSpace`, `OutsideRoot`, `ReadOnlyRoot`."""
    with runtime.containment.locate(given.path, follow=given.follow) as place:
        kind = place.found.kind
        if kind is Kind.DIRECTORY and not given.recursive:
            raise IsDirectory(
                f"{place.path} is a directory", hint="pass --recursive (recursive: true) to copy all of it"
            )
        if kind in (Kind.DIRECTORY, Kind.LINK):
            return _copy_whole(runtime, given, place)
        return _copy_file(runtime, given, place)


def _copy_file(runtime: Runtime, given: CopyPath, place: Place) -> PathCopied:
    source = place.open_file()
    try:
        step = Write(
            into(given.to, given.path, runtime),
            chunks(source),
            create_only=not given.overwrite,
            create_parents=given.parents,
            keep_like=source,
        )
        done = mutation.apply(runtime, [step], operation="fs.copy", group=given.group, dry_run=given.dry_run)
    finally:
        os.close(source)
    return PathCopied(
        path=place.path,
        to=step.change.path,
        kind=Kind.FILE,
        entries=1,
        size=step.change.after_size or 0,
        receipt=done.receipt.id if done.receipt else None,
        warnings=tuple(done.warnings),
    )


def _copy_whole(runtime: Runtime, given: CopyPath, place: Place) -> PathCopied:
    step = Copy(place.path, into(given.to, given.path, runtime), create_parents=given.parents)
    done = mutation.apply(runtime, [step], operation="fs.copy", group=given.group, dry_run=given.dry_run)
    return PathCopied(
        path=place.path,
        to=step.change.path,
        kind=place.found.kind,
        entries=step.entries,
        size=step.change.after_size or 0,
        receipt=done.receipt.id if done.receipt else None,
        warnings=tuple(done.warnings),
    )
