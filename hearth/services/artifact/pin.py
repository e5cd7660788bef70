"""Except artifacts from retention, or no longer."""

from __future__ import annotations

from typing import Annotated

from hearth import artifacts
from hearth.errors import HearthError
from hearth.model import Help, Items, State, model
from hearth.runtime import Runtime
from hearth.services.artifact.entry import ArtifactEntry, ArtifactFailure, Ids, entry
from hearth.store import artifacts as rows


@model
class PinArtifacts:
    ids: Ids


@model
class ArtifactsPinned:
    state: State = State.COMPLETED
    artifacts: Annotated[
        tuple[ArtifactEntry, ...], Items(columns=("id", "pinned", "size", "label")), Help("As they are now.")
    ]
    errors: Annotated[tuple[ArtifactFailure, ...], Help("Those that could not be had.")] = ()


def pin(runtime: Runtime, given: PinArtifacts) -> ArtifactsPinned:
    """Those that do not exist are told in `errors`; raises `NotFound` when it is the only one."""
    return _set(runtime, given, pinned=True)


def unpin(runtime: Runtime, given: PinArtifacts) -> ArtifactsPinned:
    """Those that do not exist are told in `errors`; raises `NotFound` when it is the only one."""
    return _set(runtime, given, pinned=False)


def _set(runtime: Runtime, given: PinArtifacts, *, pinned: bool) -> ArtifactsPinned:
    done: list[ArtifactEntry] = []
    errors: list[ArtifactFailure] = []
    for word in given.ids:
        try:
            artifact = artifacts.get(runtime, word)
            with runtime.store.write(durable=True) as tx:
                rows.pin(tx, artifact.id, pinned=pinned)
            done.append(entry(artifacts.get(runtime, artifact.id)))
        except HearthError as error:
            if len(given.ids) == 1:
                raise
            errors.append(ArtifactFailure(id=word, code=error.code, message=error.message))
    return ArtifactsPinned(
        state=State.PARTIAL if errors else State.COMPLETED, artifacts=tuple(done), errors=tuple(errors)
    )
