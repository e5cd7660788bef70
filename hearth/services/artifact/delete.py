"""Delete artifacts."""

from __future__ import annotations

from typing import Annotated

from hearth import artifacts
from hearth.errors import ArtifactPinned, HearthError
from hearth.model import Help, Items, State, model
from hearth.runtime import Runtime
from hearth.services.artifact.entry import ArtifactFailure, Ids
from hearth.store.artifacts import Old


@model
class DeleteArtifacts:
    ids: Ids
    pinned: Annotated[bool, Help("Delete those that are pinned too.")] = False


@model
class Deleted:
    """An artifact that is gone."""

    id: Annotated[str, Help("Its whole id.")]
    size: Annotated[int, Help("Its bytes.")]
    body_removed: Annotated[
        bool, Help("False: its content is still needed by another artifact or for undo, or is being stored again.")
    ]


@model
class ArtifactsDeleted:
    state: State = State.COMPLETED
    deleted: Annotated[tuple[Deleted, ...], Items(), Help("Those that are gone.")]
    errors: Annotated[tuple[ArtifactFailure, ...], Help("Those that are not.")] = ()


def delete(runtime: Runtime, given: DeleteArtifacts) -> ArtifactsDeleted:
    """Each on its own; those that stay are told in `errors`. Raises `NotFound` or `ArtifactPinned` when it is the
    only one."""
    done: list[Deleted] = []
    errors: list[ArtifactFailure] = []
    for word in given.ids:
        try:
            done.append(_delete(runtime, word, pinned=given.pinned))
        except HearthError as error:
            if len(given.ids) == 1:
                raise
            errors.append(ArtifactFailure(id=word, code=error.code, message=error.message))
    return ArtifactsDeleted(
        state=State.PARTIAL if errors else State.COMPLETED, deleted=tuple(done), errors=tuple(errors)
    )


def _delete(runtime: Runtime, word: str, *, pinned: bool) -> Deleted:
    from hearth.store.retention import Retention

    artifact = artifacts.get(runtime, word)
    if artifact.pinned and not pinned:
        raise ArtifactPinned(f"{artifact.id} is pinned", id=artifact.id)
    rules = Retention(runtime.host, runtime.store, runtime.data_dir, runtime.settings.retention, runtime.clock.now_ms())
    forgotten = rules.forget_artifacts([Old(artifact.id, artifact.at, artifact.body, artifact.size)])
    return Deleted(id=artifact.id, size=artifact.size, body_removed=forgotten.bodies > 0)
