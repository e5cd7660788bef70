"""Takes recorded changes back: what undo and redo share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Annotated

from hearth.conversations import sees
from hearth.errors import (
    BackupMissing,
    Conflict,
    HearthError,
    NotApplied,
    NotEmpty,
    NotFound,
    OutsideRoot,
    ReadOnlyRoot,
    invalid,
)
from hearth.model import Help, Items, PathName, State, model
from hearth.runtime import Runtime
from hearth.services.fs import mutation
from hearth.services.fs.inverse import inverse, recorded
from hearth.services.fs.steps import touch
from hearth.store import receipts
from hearth.store.receipts import TRASH, Change, Receipt

_TAKEN_BACK = {
    "write": "restored",
    "append": "cut back",
    "cut": "appended",
    "move": "moved back",
    "copy": "removed",
    "mkdir": "removed",
    "rmdir": "made",
    "mode": "mode restored",
}


@model
class Reverted:
    """One file or directory."""

    path: Annotated[str, PathName(), Help("Which one.")]
    action: Annotated[str, Help("What was done to it.")]


@model
class ChangesReverted:
    """What came of an undo or a redo."""

    state: Annotated[State, Help("Superseded: it was undone (or redone) before, and nothing was done.")] = (
        State.COMPLETED
    )
    receipts: Annotated[tuple[str, ...], Help("The receipts that were taken back, the newest first.")]
    changes: Annotated[tuple[Reverted, ...], Items(columns=("action", "path")), Help("What was done.")]
    receipt: Annotated[str | None, Help("The receipt of this call itself; `hearth fs redo` takes it back.")] = None
    replace_attempts: Annotated[int, Help("How often a rename was tried; more than 1 after refusals that passed.")] = 0
    undone_by: Annotated[str | None, Help("Of a superseded call: what did it before.")] = None
    undone_at: Annotated[str | None, Help("When that was.")] = None


def chosen(receipt: str | None, last: bool, group: str | None) -> None:
    """Raise `InvalidInput` unless exactly one way of choosing was given."""
    if (receipt is not None) + last + (group is not None) != 1:
        raise invalid("receipt", "missing", "give a receipt, or last, or group: one of them")


LOOK_BACK = 10_000  # receipts: how far the newest one below the roots is looked for


def newest_here(runtime: Runtime, candidates: Iterable[Receipt]) -> list[Receipt]:
    """The first of them that changed something below the roots: a data directory may serve several projects."""
    for receipt in islice(candidates, LOOK_BACK):
        if any(runtime.containment.covers(path) for change in receipt.changes for path in _own_paths(change)):
            return [receipt]
    return []


def _own_paths(change: Change) -> list[str]:
    """The user's paths of a change; one of the two may lie in hearth's trash."""
    return [path for path in (change.path, change.other) if path is not None and not path.startswith(TRASH)]


def find(runtime: Runtime, prefix: str) -> Receipt:
    """The receipt that an id, or its beginning, names. Raises `NotFound`, `InvalidInput`."""
    wanted = prefix if prefix.startswith("rec_") else f"rec_{prefix}"
    with runtime.store.read() as tx:
        found = [each for each in receipts.find(tx, wanted.lower()) if sees(runtime, each.conversation)]
    if not found:
        raise NotFound(f"there is no receipt {prefix}", hint="`hearth fs history` lists them")
    if len(found) > 1:
        raise invalid("receipt", "ambiguous", f"more than one receipt begins with {prefix}")
    return found[0]


def revert(
    runtime: Runtime, wanted: Sequence[Receipt], *, operation: str, group: str | None, dry_run: bool
) -> ChangesReverted:
    """Take back every change of the receipts, which come newest first; all, or none.

    Raises `Conflict` with every file that was changed since, `BackupMissing`, and what containment refuses.
    """
    with runtime.store.read() as tx:
        for receipt in wanted:
            receipt.changes = receipts.changes_of(tx, receipt.seq)
    changes = [change for receipt in wanted for change in reversed(receipt.changes)]
    _refuse_conflicts(runtime, changes)
    answer = ChangesReverted(
        receipts=tuple(receipt.id for receipt in wanted), changes=tuple(_reverted(change) for change in changes)
    )
    steps = [step for change in changes for step in inverse(runtime, change)]
    if dry_run or not steps:
        return answer
    for step in steps[1:]:
        step.deferred = True
    try:
        done = mutation.apply(runtime, steps, operation=operation, group=group, undoes=wanted)
    except NotEmpty as error:
        path = error.details["path"]
        hint = "something was put into it since; nothing was undone"
        told = {"path": path, "operation": "mkdir", "expected_sha256": None}
        raise Conflict(f"changed since: {path}", hint=hint, conflicts=[told]) from error
    return ChangesReverted(
        receipts=answer.receipts,
        changes=answer.changes,
        receipt=done.receipt.id if done.receipt else None,
        replace_attempts=done.replace_attempts,
    )


def _reverted(change: Change) -> Reverted:
    action = _TAKEN_BACK.get(change.kind, "")
    if change.kind == "write" and change.before_sha256 is None:
        action = "removed"
    if change.kind == "move" and change.other is not None:
        if change.other.startswith(TRASH):
            action = "restored"
        elif change.path.startswith(TRASH):
            return Reverted(path=change.other, action="removed")
    return Reverted(path=change.path, action=action)


def _refuse_conflicts(runtime: Runtime, changes: Sequence[Change]) -> None:
    """Look at every file before one is touched; only its newest change can be judged by what stands there now."""
    looking = mutation.Mutation(runtime, dry_run=True)
    conflicts: list[dict[str, object]] = []
    seen: list[str] = []
    for change in changes:
        if change.kind == "remove":
            raise BackupMissing(f"{change.path} was deleted for good", path=change.path)
        paths = [path for path in (change.path, change.other) if path is not None and not path.startswith(TRASH)]
        is_newest = not any(touch(path, other) for path in paths for other in seen)
        seen.extend(paths)
        if is_newest and not change.implied and not _is_intact(runtime, change, looking):
            conflicts.append(_conflict(change))
    if conflicts:
        names = ", ".join(str(each["path"]) for each in conflicts)
        raise Conflict(f"changed since: {names}", hint="nothing was undone", conflicts=conflicts)


def _is_intact(runtime: Runtime, change: Change, looking: mutation.Mutation) -> bool:
    step = recorded(change)
    try:
        step.locate(runtime)
        return step.is_intact(looking)
    except (OutsideRoot, ReadOnlyRoot):
        raise
    except (HearthError, OSError):
        return False
    finally:
        step.close()


def _conflict(change: Change) -> dict[str, object]:
    return {"path": change.path, "operation": change.kind, "expected_sha256": change.after_sha256}


def superseded(runtime: Runtime, receipt: Receipt) -> ChangesReverted | None:
    """The answer for a receipt that was taken back before. Raises for one that never came to be."""
    if receipt.state != receipts.APPLIED:
        raise NotApplied(f"{receipt.id} is {receipt.state}: it changed nothing", receipt=receipt.id)
    if receipt.undone_by is None:
        return None
    with runtime.store.read() as tx:
        by = receipts.get(tx, receipt.undone_by)
    return ChangesReverted(
        state=State.SUPERSEDED,
        receipts=(receipt.id,),
        changes=(),
        undone_by=receipt.undone_by,
        undone_at=by.at if by else None,
    )
