"""Artifacts, for every family: keeping what a program printed or an answer that is too large, and opening it again.

A body is on the disk before the row that names it, so that a row without its body means damage, never an accident.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from hearth import conversations
from hearth.errors import ArtifactDamaged, ArtifactMissing, BackupMissing, NotFound, invalid
from hearth.identifiers import new
from hearth.store import artifacts
from hearth.store.artifacts import Artifact

if TYPE_CHECKING:
    from hearth.runtime import Runtime
    from hearth.store.blobs import Body

LARGE_BYTES = 1024 * 1024  # from this size on every new artifact has the quota looked at, of others each 64th
TEND_EVERY = 64
CHECKED_BYTES = 1024 * 1024  # up to this size nobody notices that the checksum is compared


def record(
    runtime: Runtime,
    body: Body,
    *,
    media_type: str,
    operation: str,
    label: str | None = None,
    encoding: str | None = None,
    pinned: bool = False,
    durable: bool = False,
) -> Artifact:
    """Make a stored body an artifact; `durable` returns only once its row survives a power cut. Artifacts above
    `retention.artifacts_max_bytes` go in passing. Raises `DatabaseError`."""
    now_ms = runtime.clock.now_ms()
    made = Artifact(
        id=new("art", now_ms),
        at=runtime.now(),
        body=body.sha256,
        size=body.size,
        media_type=media_type,
        encoding=encoding,
        label=label,
        operation=operation,
        caller=runtime.caller.value,
        run=runtime.group,
        conversation=runtime.conversation,
        pinned=pinned,
    )
    with runtime.store.write(durable=durable) as tx:
        seq = artifacts.insert(tx, made)
    if body.size >= LARGE_BYTES or seq % TEND_EVERY == 0:
        _tend(runtime)
    return made


def keep(
    runtime: Runtime,
    chunks: Iterable[bytes],
    *,
    media_type: str,
    operation: str,
    label: str | None = None,
    encoding: str | None = None,
) -> Artifact:
    """Store what the chunks hold as an artifact. Raises `NoSpace`, `DatabaseError`."""
    body = runtime.blobs.store(chunks, sync=False)
    return record(runtime, body, media_type=media_type, operation=operation, label=label, encoding=encoding)


def _tend(runtime: Runtime) -> None:
    from hearth.errors import HearthError
    from hearth.store.retention import Retention

    rules = Retention(runtime.host, runtime.store, runtime.data_dir, runtime.settings.retention, runtime.clock.now_ms())
    with contextlib.suppress(HearthError, OSError):  # the call that happens to do this must not fail
        rules.drop_artifacts()


def get(runtime: Runtime, word: str) -> Artifact:
    """The artifact with that id, or at the shell the only one whose id starts so. Raises `NotFound`, `InvalidInput`."""
    from hearth.runtime import Caller

    with runtime.store.read() as view:
        found = artifacts.find(view, word)
        candidates = [found] if found and conversations.sees(runtime, found.conversation) else []
        if not candidates and runtime.caller is Caller.SHELL:
            candidates = artifacts.starting_with(view, word)
    if len(candidates) > 1:
        raise invalid("id", "ambiguous", f"{word} begins several ids, such as {candidates[0].id}")
    if not candidates:
        raise NotFound(f"there is no artifact {word}", hint="`hearth artifact list` shows what there is", id=word)
    return candidates[0]


@contextlib.contextmanager
def opened(runtime: Runtime, artifact: Artifact) -> Iterator[int]:
    """A descriptor of an artifact's body. Raises `ArtifactMissing`, and `ArtifactDamaged` for another size, or up to
    1 MiB another checksum."""
    with _translated(artifact):
        descriptor = runtime.blobs.open(artifact.body)
    try:
        size = os.fstat(descriptor).st_size
        if size != artifact.size:
            raise _damaged(artifact, f"has {size} bytes instead of {artifact.size}")
        if size <= CHECKED_BYTES:
            _check(artifact, descriptor)
        yield descriptor
    finally:
        os.close(descriptor)


def _check(artifact: Artifact, descriptor: int) -> None:
    from hearth.content.digest import sha256_of

    if sha256_of(descriptor)[0] != artifact.body:
        raise _damaged(artifact, "does not have its checksum")
    os.lseek(descriptor, 0, os.SEEK_SET)


def verified(runtime: Runtime, artifact: Artifact) -> Iterator[bytes]:
    """The whole content in pieces of at most 1 MiB. Raises `ArtifactMissing`, and `ArtifactDamaged` after the last
    piece: what was made of the pieces may be used only once all have come."""
    from hashlib import sha256

    digest = sha256()
    with _translated(artifact):
        for data in runtime.blobs.chunks(artifact.body):
            digest.update(data)
            yield data
    if digest.hexdigest() != artifact.body:
        raise _damaged(artifact, "does not have its checksum")


@contextlib.contextmanager
def _translated(artifact: Artifact) -> Iterator[None]:
    try:
        yield
    except BackupMissing as error:
        raise ArtifactMissing(f"the content of {artifact.id} cannot be had: {error.message}", id=artifact.id) from error


def _damaged(artifact: Artifact, what: str) -> ArtifactDamaged:
    return ArtifactDamaged(f"the content of {artifact.id} is damaged: it {what}", id=artifact.id, sha256=artifact.body)
