"""Make undone changes again."""

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
class RedoChanges:
    receipt: Annotated[
        str | None,
        Len(1, 64),
        Cli(argument=True, completes="receipt"),
        Help("An undone change, or what the undo answered as `receipt`; its beginning will do."),
    ] = None
    last: Annotated[bool, Help("The newest undo below the roots.")] = False
    group: Annotated[str | None, Len(1, MAX_NAME), Help("All undone changes of this change set or run.")] = None
    dry_run: DryRun = False


def redo(runtime: Runtime, given: RedoChanges) -> ChangesReverted:
    """Raises `NotFound`, `Conflict` (with every file changed since), `BackupMissing`, `ReadOnlyRoot`, `OutsideRoot`."""
    chosen(given.receipt, given.last, given.group)
    recovery.settle(runtime)
    if given.receipt is not None:
        receipt = _undo_of(runtime, find(runtime, given.receipt))
        done_before = superseded(runtime, receipt)
        if done_before is not None:
            return done_before
        wanted = [receipt]
    else:
        wanted = _newest(runtime, given)
    return revert(runtime, wanted, operation="fs.redo", group=given.group or wanted[0].group, dry_run=given.dry_run)


def _undo_of(runtime: Runtime, receipt: receipts.Receipt) -> receipts.Receipt:
    if receipt.operation == "fs.undo":
        return receipt
    with runtime.store.read() as tx:
        found = receipts.get(tx, receipt.undone_by) if receipt.undone_by else None
    if found is None:
        raise invalid("receipt", "not_undone", f"{receipt.id} is not undone")
    return found


def _newest(runtime: Runtime, given: RedoChanges) -> list[receipts.Receipt]:
    with runtime.store.read() as tx:
        if given.group is not None:
            wanted = [each for each in receipts.undos_of_group(tx, given.group) if lists(runtime, each.conversation)]
        else:
            wanted = newest_here(runtime, receipts.not_redone(tx, conversation=runtime.conversation))
    if not wanted:
        raise NotFound("there is nothing to redo", hint="`hearth fs history` lists what was changed")
    return wanted
