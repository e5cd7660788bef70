"""Keep a file, or what comes on standard input."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from hearth import artifacts
from hearth.containment import translated
from hearth.content.text import SAMPLE_BYTES, detect, named
from hearth.errors import Cancelled, invalid
from hearth.model import Cli, Help, Len, PathName, Pattern, State, model
from hearth.runtime import Runtime
from hearth.services.artifact.entry import ArtifactEntry, entry

if TYPE_CHECKING:
    from hearth.store.blobs import Body

CHUNK_BYTES = 1 << 20


@model
class PutArtifact:
    path: Annotated[
        str | None,
        Len(1, 32_767),
        PathName(),
        Cli(argument=True, completes="path"),
        Help("The file to keep; without it, standard input."),
    ] = None
    media_type: Annotated[
        str | None,
        Len(3, 200),
        Pattern("^[A-Za-z0-9!#$&^_.+-]+/[A-Za-z0-9!#$&^_.+-]+$", "must be a media type such as text/plain"),
        Help("What it holds; else told by the name and the first bytes."),
    ] = None
    encoding: Annotated[str | None, Len(1, 40), Help("How its text is stored, where reading should not guess.")] = None
    label: Annotated[str | None, Len(1, 200), Help("What people know it by; by default the file's name.")] = None
    pinned: Annotated[bool, Help("Keep it whatever its age and size.")] = False


@model
class ArtifactPut:
    state: State = State.COMPLETED
    artifact: Annotated[ArtifactEntry, Help("The new artifact.")]


def put(runtime: Runtime, given: PutArtifact) -> ArtifactPut:
    """Raises `NotFound`, `OutsideRoot`, `NotRegular`, `IsDirectory`, `NoSpace`, `InvalidInput`."""
    encoding = named(given.encoding)[0] if given.encoding else None
    name = os.path.basename(given.path.rstrip("/" + os.sep)) if given.path else None
    chunks = _standard_input(runtime) if given.path is None else _file(runtime, given.path)
    with runtime.blobs.writer(sync=runtime.settings.fs.sync, keep_bytes=SAMPLE_BYTES) as writer:
        for chunk in chunks:
            if runtime.cancelled.is_set():
                raise Cancelled("the call was cancelled")
            writer.write(chunk)
    assert writer.body is not None
    made = artifacts.record(
        runtime,
        writer.body,
        media_type=given.media_type or _media_type(name, writer.body),
        operation="artifact.put",
        label=given.label or name,
        encoding=encoding,
        pinned=given.pinned,
        durable=True,
    )
    return ArtifactPut(artifact=entry(made))


def _standard_input(runtime: Runtime) -> Iterator[bytes]:
    stdin = runtime.stdin
    if stdin is None:
        raise invalid("path", "missing", "is required where there is no standard input")
    return iter(lambda: stdin.read(CHUNK_BYTES), b"")


def _file(runtime: Runtime, path: str) -> Iterator[bytes]:
    with runtime.containment.locate(path) as place:
        descriptor = place.open_file()
        where = place.path
    try:
        with translated(where):
            yield from iter(lambda: os.read(descriptor, CHUNK_BYTES), b"")
    finally:
        os.close(descriptor)


def _media_type(name: str | None, body: Body) -> str:
    from hearth.content.mime import guess

    by_name = guess(name) if name else None
    if by_name:
        return by_name
    form = detect(body.head, whole=body.size == len(body.head))
    return "application/octet-stream" if form.is_binary else "text/plain"
