"""List what was changed."""

from __future__ import annotations

from typing import Annotated

from hearth import conversations
from hearth.errors import NotFound
from hearth.model import Cli, Ge, Help, Items, Le, Len, PathName, State, model
from hearth.paging import sequence, time_bound
from hearth.runtime import Caller, Runtime
from hearth.services.fs.answers import MAX_NAME, MAX_PATH
from hearth.services.fs.unsettled import settle_if_any
from hearth.store import receipts
from hearth.store.receipts import TRASH, Change, Receipt

MAX_ITEMS = 1_000


@model
class ListHistory:
    path: Annotated[
        str | None,
        Len(1, MAX_PATH),
        PathName(),
        Cli(argument=True, completes="path"),
        Help("Only changes of exactly this file or directory."),
    ] = None
    since: Annotated[str | None, Len(1, 40), Help("Not older than this time: ISO 8601 with Z or an offset.")] = None
    until: Annotated[str | None, Len(1, 40), Help("Not newer than this time.")] = None
    caller: Annotated[Caller | None, Help("Only calls that came this way.")] = None
    group: Annotated[str | None, Len(1, MAX_NAME), Help("Only this change set or run.")] = None
    limit: Annotated[int, Ge(1), Le(MAX_ITEMS), Cli(names=("-n",)), Help("Most receipts in an answer.")] = 50
    cursor: Annotated[str | None, Len(1, 40), Help("Go on after an earlier answer's `next_cursor`.")] = None


@model
class ChangeEntry:
    """One step of a change. Sizes in bytes; null where no file was or is."""

    kind: Annotated[str, Help("What was done: write, append, cut, move, copy, mkdir, rmdir, mode or remove.")]
    path: Annotated[str, PathName(), Help("What was changed.")]
    to: Annotated[str | None, PathName(), Help("Of a move, where to; null also when it went to be kept for undo.")]
    before_sha256: Annotated[str | None, Help("Of a write: the old content.")]
    before_size: Annotated[int | None, Help("The old size.")]
    after_sha256: Annotated[str | None, Help("The new content.")]
    after_size: Annotated[int | None, Help("The new size.")]


@model
class ReceiptEntry:
    """One recorded call."""

    id: Annotated[str, Help("What `hearth fs undo` takes.")]
    at: Annotated[str, Help("When.")]
    operation: Annotated[str, Help("Which operation.")]
    caller: Annotated[str, Help("How the call came.")]
    group: Annotated[str | None, Help("Its change set or run.")]
    state: Annotated[
        str, Help("It is applied, undone, intended (not finished yet) or void (taken back after a crash).")
    ]
    undone_by: Annotated[str | None, Help("The receipt of the undo.")]
    path: Annotated[str, PathName(), Help("The first path that is not a directory made on the way.")]
    changes: Annotated[tuple[ChangeEntry, ...], Help("Its steps in order, at most 100.")]
    steps: Annotated[int, Help("How many there are.")]


@model
class History:
    state: Annotated[State, Help("Partial: there are more.")] = State.COMPLETED
    receipts: Annotated[
        tuple[ReceiptEntry, ...],
        Items(columns=("id", "at", "operation", "state", "steps", "path")),
        Help("Recorded calls, the newest first."),
    ]
    next_cursor: Annotated[str | None, Help("Where to go on; null at the end.")] = None


MAX_STEPS = 100


def history(runtime: Runtime, given: ListHistory) -> History:
    """Raises `InvalidInput` for a time or cursor that is none, `OutsideRoot`."""
    before = sequence(given.cursor)
    path = None if given.path is None else _recorded_path(runtime, given.path)
    settle_if_any(runtime)
    with runtime.store.read() as tx:
        found = receipts.page(
            tx,
            path=path,
            before=before,
            limit=given.limit + 1,
            since=time_bound("since", given.since, ""),
            until=time_bound("until", given.until, "~"),
            caller=given.caller,
            group=given.group,
            conversation=conversations.own(runtime),
        )
        for receipt in found:
            receipt.changes = receipts.outline_of(tx, receipt.seq)
    shown = found[: given.limit]
    more = len(found) > given.limit
    return History(
        state=State.PARTIAL if more else State.COMPLETED,
        receipts=tuple(map(_entry, shown)),
        next_cursor=str(shown[-1].seq) if more else None,
    )


def _recorded_path(runtime: Runtime, path: str) -> str:
    """The path as receipts have it, links resolved as far as they exist."""
    try:
        with runtime.containment.locate(path) as place:
            return place.path
    except NotFound:  # the directory that it was in is gone
        return runtime.containment.absolute(path)


def _entry(receipt: Receipt) -> ReceiptEntry:
    named = [change for change in receipt.changes if not change.implied] or receipt.changes
    return ReceiptEntry(
        id=receipt.id,
        at=receipt.at,
        operation=receipt.operation,
        caller=receipt.caller,
        group=receipt.group,
        state="undone" if receipt.undone_by else receipt.state,
        undone_by=receipt.undone_by,
        path=_outside_trash(named[0]) if named else "",
        changes=tuple(map(_change, receipt.changes[:MAX_STEPS])),
        steps=len(receipt.changes),
    )


def _outside_trash(change: Change) -> str:
    if change.path.startswith(TRASH) and change.other is not None:
        return change.other
    return change.path


def _change(change: Change) -> ChangeEntry:
    to = change.other if change.kind == "move" else None
    return ChangeEntry(
        kind=change.kind,
        path=_outside_trash(change),
        to=None if to is None or to.startswith(TRASH) or change.path.startswith(TRASH) else to,
        before_sha256=change.before_sha256,
        before_size=change.before_size,
        after_sha256=change.after_sha256,
        after_size=change.after_size,
    )
