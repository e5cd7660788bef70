"""What is told about an artifact, and how operations are given one."""

from __future__ import annotations

from typing import Annotated

from hearth.model import Cli, Help, Len, model
from hearth.store.artifacts import Artifact

Id = Annotated[str, Len(1, 64), Cli(argument=True, completes="artifact"), Help("The id; at the shell its beginning.")]
Ids = Annotated[
    tuple[Annotated[str, Len(1, 64)], ...],
    Len(1, 1_000),
    Cli(argument=True, completes="artifact"),
    Help("Ids; at the shell their beginnings."),
]


@model
class ArtifactEntry:
    """An artifact."""

    id: Annotated[str, Help("What the other operations take.")]
    created_at: Annotated[str, Help("When it was kept.")]
    size: Annotated[int, Help("Its bytes.")]
    media_type: Annotated[str, Help("What it holds, such as text/plain.")]
    encoding: Annotated[str | None, Help("How its text is stored, where its maker said so.")]
    label: Annotated[str | None, Help("What people know it by, such as stdout or a file name.")]
    operation: Annotated[str, Help("What made it.")]
    caller: Annotated[str, Help("How that call came.")]
    run: Annotated[str | None, Help("The run that it belongs to.")]
    conversation: Annotated[str | None, Help("The conversation that it belongs to.")]
    pinned: Annotated[bool, Help("Whether retention leaves it alone.")]
    sha256: Annotated[str, Help("The hash of its content.")]


@model
class ArtifactFailure:
    """One that could not be had."""

    id: Annotated[str, Help("As it was given.")]
    code: Annotated[str, Help("The error's code.")]
    message: Annotated[str, Help("What is wrong.")]


def entry(artifact: Artifact) -> ArtifactEntry:
    return ArtifactEntry(
        id=artifact.id,
        created_at=artifact.at,
        size=artifact.size,
        media_type=artifact.media_type,
        encoding=artifact.encoding,
        label=artifact.label,
        operation=artifact.operation,
        caller=artifact.caller,
        run=artifact.run,
        conversation=artifact.conversation,
        pinned=artifact.pinned,
        sha256=artifact.body,
    )
