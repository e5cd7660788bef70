"""Bytes of an artifact from an offset on."""

from __future__ import annotations

from hearth.content import excerpt as excerpts
from hearth.model import model
from hearth.runtime import Runtime
from hearth.services.artifact.entry import Id
from hearth.services.artifact.read import ArtifactRead, ReadArtifact, read_part


@model
class ReadRange:
    id: Id
    offset: excerpts.FromOffset = None
    limit: excerpts.MostBytes = None
    encoding: excerpts.AsEncoding = None


def read_range(runtime: Runtime, given: ReadRange) -> ArtifactRead:
    """Raises `NotFound`, `ArtifactMissing`, `ArtifactDamaged`, `Encoding`."""
    wanted = ReadArtifact(id=given.id, offset=given.offset or 0, limit=given.limit, encoding=given.encoding)
    return read_part(runtime, given.id, wanted)
