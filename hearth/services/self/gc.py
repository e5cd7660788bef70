"""Removing what retention no longer keeps."""

from __future__ import annotations

from typing import Annotated

from hearth.model import Help, Items, State, model
from hearth.runtime import Runtime
from hearth.store.retention import Removed, Retention, dropped


@model
class CollectGarbage:
    dry_run: Annotated[bool, Help("Only tell what would go.")] = False


@model
class Swept:
    """What went of one kind."""

    kind: Annotated[str, Help("What it was: events, receipts, jobs, artifacts, bodies and others.")]
    count: Annotated[int, Help("How many went, or would go.")]
    bytes: Annotated[int, Help("Their bytes; a backup that several receipts share counts for each.")]


@model
class GarbageCollected:
    state: State = State.COMPLETED
    dry_run: Annotated[bool, Help("Whether nothing was removed.")]
    removed: Annotated[tuple[Swept, ...], Items(), Help("What went or would go, by kind.")]
    dropped_events: Annotated[int, Help("Events that a busy database lost since this was last told.")]


def collect(runtime: Runtime, given: CollectGarbage) -> GarbageCollected:
    """Remove events, receipts, backups, jobs and artifacts that the `retention` settings no longer keep, and what
    nobody names.

    Old content goes before the history that tells of it: a receipt whose backup is gone can't be undone. Everything
    goes in small steps; other processes go on working. Raises `DatabaseError`."""
    retention = Retention(
        runtime.host,
        runtime.store,
        runtime.data_dir,
        runtime.settings.retention,
        runtime.clock.now_ms(),
        dry_run=given.dry_run,
    )
    if not given.dry_run:
        runtime.host.ring(runtime.bells)  # which takes the bells of processes that are gone away
    return GarbageCollected(
        dry_run=given.dry_run,
        removed=tuple(map(_swept, retention.all())),
        dropped_events=dropped(runtime.data_dir, clear=not given.dry_run),
    )


def _swept(removed: Removed) -> Swept:
    return Swept(kind=removed.kind, count=removed.count, bytes=removed.bytes)
