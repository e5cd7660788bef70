"""List artifacts."""

from __future__ import annotations

from typing import Annotated

from hearth import conversations
from hearth.model import Cli, Ge, Help, Items, Le, Len, Pattern, State, model
from hearth.paging import sequence, time_bound
from hearth.runtime import Runtime
from hearth.services.artifact.entry import ArtifactEntry, entry
from hearth.store import artifacts


@model
class ListArtifacts:
    media_type: Annotated[
        str | None,
        Len(1, 200),
        Pattern("^[!-}]+$", "must be a media type such as text/plain, or its beginning such as text/"),
        Help("Only this type, such as text/plain; text/ for all of text."),
    ] = None
    of_operation: Annotated[
        str | None, Len(1, 100), Cli(names=("--operation",)), Help("Only what this operation made, as machine.exec.")
    ] = None
    label: Annotated[str | None, Len(1, 200), Help("Only with exactly this label.")] = None
    of_run: Annotated[str | None, Len(1, 200), Help("Only of this run.")] = None
    since: Annotated[str | None, Len(1, 40), Help("Not older than this time: ISO 8601 with Z or an offset.")] = None
    until: Annotated[str | None, Len(1, 40), Help("Not newer than this time.")] = None
    pinned: Annotated[bool, Help("Only those that are pinned.")] = False
    limit: Annotated[int, Ge(1), Le(1_000), Cli(names=("-n",)), Help("Most artifacts in an answer.")] = 50
    cursor: Annotated[str | None, Len(1, 40), Help("Go on after an earlier answer's `next_cursor`.")] = None


@model
class ArtifactList:
    state: Annotated[State, Help("Partial: there are more.")] = State.COMPLETED
    artifacts: Annotated[
        tuple[ArtifactEntry, ...],
        Items(columns=("id", "created_at", "size", "media_type", "operation", "label", "run")),
        Help("Artifacts, the newest first."),
    ]
    next_cursor: Annotated[str | None, Help("Where to go on; null at the end.")] = None


def list_artifacts(runtime: Runtime, given: ListArtifacts) -> ArtifactList:
    """Raises `InvalidInput` for a time or cursor that is none."""
    with runtime.store.read() as view:
        found = artifacts.page(
            view,
            before=sequence(given.cursor),
            limit=given.limit + 1,
            since=time_bound("since", given.since, ""),
            until=time_bound("until", given.until, "~"),
            media_type=given.media_type or "",
            operation=given.of_operation,
            label=given.label,
            run=given.of_run,
            pinned=given.pinned,
            conversation=conversations.own(runtime),
        )
    shown = found[: given.limit]
    more = len(found) > given.limit
    return ArtifactList(
        state=State.PARTIAL if more else State.COMPLETED,
        artifacts=tuple(map(entry, shown)),
        next_cursor=str(shown[-1].seq) if more else None,
    )
