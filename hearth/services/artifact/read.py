"""The content of an artifact, or a part of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated

from hearth import artifacts
from hearth.content import excerpt as excerpts
from hearth.content.open_text import OpenText, Wanted, open_text
from hearth.content.text import BINARY
from hearth.model import Help, State, model
from hearth.runtime import Runtime
from hearth.services.artifact.entry import Id
from hearth.store.artifacts import Artifact


@model
class ReadArtifact:
    id: Id
    offset: excerpts.FromOffset = None
    limit: excerpts.MostBytes = None
    lines: excerpts.Lines = None
    head: excerpts.Head = None
    tail: excerpts.Tail = None
    number: excerpts.Number = False
    encoding: excerpts.AsEncoding = None
    replace_invalid: excerpts.ReplaceInvalid = False


@model
class ArtifactRead:
    """A part of an artifact. `partial`: cut by a bound, or more follows behind an offset or limit."""

    state: State = State.COMPLETED
    id: Annotated[str, Help("The artifact's whole id.")]
    media_type: Annotated[str, Help("What it holds.")]
    encoding: excerpts.Encoding_ = None
    guessed: excerpts.Guessed = None
    bom: excerpts.Bom = None
    line_ends: excerpts.LineEnds_ = None
    size: excerpts.Size = None
    offset: excerpts.Offset = None
    length: excerpts.Length = None
    next_offset: excerpts.Next = None
    first_line: excerpts.FirstLine = None
    data: excerpts.Data = None
    data_base64: excerpts.Base64 = None


def read(runtime: Runtime, given: ReadArtifact) -> ArtifactRead:
    """Raises `NotFound`, `ArtifactMissing`, `ArtifactDamaged`, `Encoding`."""
    excerpts.refuse_contradictions(given)
    return read_part(runtime, given.id, given)


def read_part(runtime: Runtime, word: str, given: Wanted) -> ArtifactRead:
    """The part of an artifact that is wanted, of about `max_output_bytes` at most."""
    artifact = artifacts.get(runtime, word)
    with opened(runtime, artifact, given.encoding) as file:
        part = excerpts.excerpt(file, given, runtime.settings.max_output_bytes)
    return ArtifactRead(
        state=State.PARTIAL if part.cut else State.COMPLETED,
        id=artifact.id,
        media_type=artifact.media_type,
        encoding=file.form.encoding,
        guessed=file.form.guessed,
        bom=file.form.bom,
        line_ends=file.form.line_ends,
        size=file.size,
        offset=part.start,
        length=part.end - part.start,
        next_offset=part.end if part.end < file.size else None,
        first_line=part.first_line,
        data=part.shown,
        data_base64=part.base64,
    )


@contextmanager
def opened(runtime: Runtime, artifact: Artifact, encoding: str | None) -> Iterator[OpenText]:
    """An artifact's text in the encoding that was asked for, else its maker named, else it seems to have."""
    encoding = encoding or artifact.encoding
    encoding = "base64" if encoding == BINARY else encoding
    with artifacts.opened(runtime, artifact) as descriptor:
        yield open_text(descriptor, artifact.id, artifact.size, encoding, runtime.cancelled)


def stream(runtime: Runtime, given: ReadArtifact) -> Iterator[bytes]:
    """The content as it is, in chunks: bytes unless an encoding or line numbers were asked for, then UTF-8. Raises
    also `ArtifactDamaged`, of a whole content behind its last byte."""
    excerpts.refuse_contradictions(given)
    artifact = artifacts.get(runtime, given.id)
    if given == ReadArtifact(id=given.id):
        yield from artifacts.verified(runtime, artifact)
        return
    with opened(runtime, artifact, given.encoding) as file:
        yield from excerpts.pieces(file, given)
