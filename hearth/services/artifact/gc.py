"""Delete the artifacts that retention no longer keeps."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from hearth.model import Ge, Help, Items, Le, State, model
from hearth.runtime import Runtime
from hearth.store.retention import Removed, Retention


@model
class CollectArtifacts:
    days: Annotated[
        int | None, Ge(1), Le(36_500), Help("Keep what is younger; by default retention.artifacts_days.")
    ] = None
    most_bytes: Annotated[
        int | None, Ge(0), Le(1 << 50), Help("Keep so much; by default retention.artifacts_max_bytes.")
    ] = None
    dry_run: Annotated[bool, Help("Only tell what would go.")] = False


@model
class SweptArtifacts:
    """What went for one reason."""

    kind: Annotated[str, Help("Why: artifacts (by age), artifacts above quota.")]
    count: Annotated[int, Help("How many went, or would go.")]
    bytes: Annotated[int, Help("Their bytes; a body that several share counts for each.")]


@model
class ArtifactsCollected:
    state: State = State.COMPLETED
    dry_run: Annotated[bool, Help("Whether nothing was removed.")]
    removed: Annotated[tuple[SweptArtifacts, ...], Items(), Help("What went or would go.")]


def collect(runtime: Runtime, given: CollectArtifacts) -> ArtifactsCollected:
    """The oldest go first; those that are pinned stay, and so do those of the last minute. Raises `DatabaseError`."""
    keep = runtime.settings.retention
    if given.days is not None:
        keep = replace(keep, artifacts_days=given.days)
    if given.most_bytes is not None:
        keep = replace(keep, artifacts_max_bytes=given.most_bytes)
    rules = Retention(
        runtime.host, runtime.store, runtime.data_dir, keep, runtime.clock.now_ms(), dry_run=given.dry_run
    )
    swept = (rules.expire_artifacts(), rules.drop_artifacts())
    return ArtifactsCollected(dry_run=given.dry_run, removed=tuple(map(_swept, swept)))


def _swept(removed: Removed) -> SweptArtifacts:
    return SweptArtifacts(kind=removed.kind, count=removed.count, bytes=removed.bytes)
