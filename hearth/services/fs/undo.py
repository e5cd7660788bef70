"""Take changes back."""

from __future__ import annotations

from typing import Annotated

from hearth.conversations import lists
from hearth.errors import NotFound, invalid
from hearth.model import Cli, Help, Len, model
from hearth.runtime import Runtime
from hearth.services.fs import recovery
from hearth.services.fs.answers import MAX_NAME, DryRun
from hearth.services.fs.undoing import ChangesReverted, chosen, find, newest_here, revert, superseded
from hearth.store import receipts


@model
class UndoChanges:
    receipt: Annotated[
        str | None,
        Len(1, 64),
        Cli(argument=True, completes="receipt"),
        Help("What a change answered as `receipt`, or its beginning if no other has it."),
    ] = None
    last: Annotated[bool, Help("The newest change below the roots that is not undone.")] = False
    group: Annotated[str | None, Len(1, MAX_NAME), Help("All changes of this change set or run.")] = None
    dry_run: DryRun = False


def undo(runtime: Runtime, given: UndoChanges) -> ChangesReverted:
    """Raises `NotFound`, `Conflict` (with every file changed since), `BackupMissing`, `ReadOnlyRoot`, `OutsideRoot`."""
    chosen(given.receipt, given.last, given.group)
    recovery.settle(runtime)
    if given.receipt is not None:
        receipt = find(runtime, given.receipt)
        if receipt.undoes:
            raise invalid("receipt", "is_undo", f"{receipt.id} is itself an undo or redo", hint="use `hearth fs redo`")
        done_before = superseded(runtime, receipt)
        if done_before is not None:
            return done_before
        wanted = [receipt]
    else:
        wanted = _newest(runtime, given)
    group = given.group or wanted[0].group
    return revert(runtime, wanted, operation="fs.undo", group=group, dry_run=given.dry_run)


def _newest(runtime: Runtime, given: UndoChanges) -> list[receipts.Receipt]:
    with runtime.store.read() as tx:
        if given.group is not None:
            wanted = [each for each in receipts.of_group(tx, given.group) if lists(runtime, each.conversation)]
        else:
            wanted = newest_here(runtime, receipts.not_undone(tx, conversation=runtime.conversation))
    if not wanted:
        raise NotFound("there is nothing to undo", hint="`hearth fs history` lists what was changed")
    return wanted
