"""Write an artifact to a file."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Annotated, BinaryIO, cast

from hearth import artifacts
from hearth.model import Cli, Help, Len, PathName, State, model
from hearth.runtime import Runtime
from hearth.services.artifact.entry import Id


@model
class ExportArtifact:
    id: Id
    path: Annotated[str, Len(1, 32_767), PathName(), Cli(argument=True, completes="path"), Help("The file to write.")]
    create_only: Annotated[bool, Help("Refuse a file that exists.")] = False
    parents: Annotated[bool, Help("Make missing directories.")] = True
    group: Annotated[str | None, Len(1, 200), Help("The change set that this belongs to, for undo.")] = None
    dry_run: Annotated[bool, Help("Only say what would happen.")] = False


@model
class ArtifactExported:
    state: State = State.COMPLETED
    id: Annotated[str, Help("The artifact's whole id.")]
    path: Annotated[str, PathName(), Help("The file, links resolved.")]
    sha256: Annotated[str, Help("The hash of the content.")]
    size: Annotated[int, Help("Its bytes.")]
    created: Annotated[bool, Help("Whether the file is new.")]
    changed: Annotated[bool, Help("False: the content was the same, and nothing was done.")]
    receipt: Annotated[str | None, Help("What `hearth fs undo` takes; null when nothing was done.")]
    warnings: Annotated[tuple[str, ...], Help("What is worth knowing.")] = ()


def export(runtime: Runtime, given: ExportArtifact) -> ArtifactExported:
    """Write it as `fs.write` does, so that it can be undone. Nothing is written of a content that is damaged.

    Raises `NotFound`, `ArtifactMissing`, `ArtifactDamaged`, and what `fs.write` raises."""
    artifact = artifacts.get(runtime, given.id)
    content = cast(BinaryIO, _Pieces(artifacts.verified(runtime, artifact)))
    written = runtime.for_call(stdin=content).call(
        "fs.write",
        path=given.path,
        create_only=given.create_only,
        parents=given.parents,
        group=given.group,
        dry_run=given.dry_run,
    )
    return ArtifactExported(
        id=artifact.id,
        path=written.path,
        sha256=artifact.body,
        size=artifact.size,
        created=written.created,
        changed=written.changed,
        receipt=written.receipt,
        warnings=written.warnings,
    )


class _Pieces(io.RawIOBase):
    """An input that gives pieces as they come, each at most as long as is asked for."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._rest = b""

    def read(self, size: int = -1) -> bytes:
        data = self._rest or next(self._pieces, b"")
        self._rest = data[size:] if size >= 0 else b""
        return data[:size] if size >= 0 else data
