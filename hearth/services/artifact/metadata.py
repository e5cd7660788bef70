"""What is known about an artifact."""

from __future__ import annotations

from typing import Annotated

from hearth import artifacts
from hearth.errors import Cancelled
from hearth.model import Help, State, model
from hearth.runtime import Runtime
from hearth.services.artifact.entry import ArtifactEntry, Id, entry


@model
class DescribeArtifact:
    id: Id
    verify: Annotated[bool, Help("Read all of it and compare its checksum.")] = False


@model
class ArtifactMetadata:
    state: State = State.COMPLETED
    artifact: Annotated[ArtifactEntry, Help("The artifact.")]
    verified: Annotated[bool | None, Help("True once the checksum was compared; null when that was not asked for.")]


def metadata(runtime: Runtime, given: DescribeArtifact) -> ArtifactMetadata:
    """Raises `NotFound`, and where the content is looked at `ArtifactMissing`, `ArtifactDamaged`."""
    artifact = artifacts.get(runtime, given.id)
    if given.verify:
        for _ in artifacts.verified(runtime, artifact):
            if runtime.cancelled.is_set():
                raise Cancelled("the call was cancelled")
    return ArtifactMetadata(artifact=entry(artifact), verified=True if given.verify else None)
