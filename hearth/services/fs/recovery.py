"""Settles what processes left that ended in the middle of a change.

A receipt that is open while its process is gone is judged by what stands on the disk. All of its steps done: it is
applied. Otherwise what was done is taken back, newest first, and it is void. Then the temporary names of dead
processes go. A process that lives is never disturbed, and a receipt whose paths lie under no root of this process
is left for one that may touch them.
"""

from __future__ import annotations

import contextlib
import os
from typing import TYPE_CHECKING

from hearth.errors import HearthError, NotFound
from hearth.services.fs import locks, temporary, tree
from hearth.services.fs.steps import Standing
from hearth.store import receipts

if TYPE_CHECKING:
    from hearth.runtime import Runtime
    from hearth.services.fs.mutation import Mutation, Owner
    from hearth.services.fs.steps import Step
    from hearth.store.receipts import Receipt


LOOK_EVERY_S = 1.0


def settle(runtime: Runtime) -> list[str]:
    """Settle what dead processes left; the ids of the receipts that were settled."""
    from hearth.services.fs.mutation import owner_of

    owner = owner_of(runtime)
    with runtime.store.read() as tx:
        left = receipts.open_ones(tx)
    owner.looked = runtime.clock.monotonic()
    dead = [receipt for receipt in left if _is_dead(runtime, owner, receipt)]
    if not dead:
        runtime.opener.keep("fs.swept", lambda: _Swept(runtime, owner))
        return []
    # What was staged goes first, since it may stand in a directory that is to be removed.
    sweep(runtime, owner, temporary.SUFFIX)
    settled = [receipt.id for receipt in dead if _settle(runtime, owner, receipt)]
    sweep(runtime, owner, temporary.SUFFIX, temporary.PARKED_SUFFIX)
    return settled


def settle_now_and_then(runtime: Runtime) -> None:
    """As `settle`, at most once a second in a process that changes file after file."""
    from hearth.services.fs.mutation import owner_of

    looked = owner_of(runtime).looked
    if looked is None or runtime.clock.monotonic() - looked >= LOOK_EVERY_S:
        settle(runtime)


class _Swept:
    """Sweeps once when a process starts to change files."""

    def __init__(self, runtime: Runtime, owner: Owner) -> None:
        sweep(runtime, owner, temporary.SUFFIX, temporary.PARKED_SUFFIX)

    def close(self) -> None:
        """Nothing is kept open."""


def sweep(runtime: Runtime, owner: Owner, *suffixes: str) -> None:
    """Remove the temporary names of dead processes that end in one of the suffixes."""
    folder = os.path.join(runtime.data_dir, temporary.FOLDER)
    try:
        journals = os.listdir(folder)
    except OSError:
        return
    for journal in journals:
        pid, _, start = journal.partition("-")
        is_own = (pid, start) == (str(owner.pid), owner.start or "unknown")
        if pid.isdigit() and not is_own and runtime.host.process_start(int(pid)) != start:
            _sweep(runtime, folder, journal, suffixes)


def _sweep(runtime: Runtime, folder: str, journal: str, suffixes: tuple[str, ...]) -> None:
    try:
        names = temporary.noted(folder, journal)
    except OSError:  # another process swept it just before
        return
    left = [noted for noted in names if not (noted[1].endswith(suffixes) and _is_gone(runtime, *noted))]
    if not left:
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(folder, journal))


def _is_gone(runtime: Runtime, directory: str, name: str) -> bool:
    """Remove a temporary name; whether nothing is left of it."""
    try:
        with runtime.containment.locate(os.path.join(directory, name), follow=False, write=True) as place:
            tree.remove(place.directory, place.name)
    except NotFound:  # its directory is gone, so it is too
        return True
    except (HearthError, OSError):
        return False
    return True


def _is_dead(runtime: Runtime, owner: Owner, receipt: Receipt) -> bool:
    if receipt.owner_pid == owner.pid and receipt.owner_start == owner.start:
        return False
    return runtime.host.process_start(receipt.owner_pid) != receipt.owner_start


def _settle(runtime: Runtime, owner: Owner, receipt: Receipt) -> bool:
    from hearth.services.fs.inverse import recorded
    from hearth.services.fs.mutation import Mutation
    from hearth.services.fs.relocation import know_rewrites

    with runtime.store.read() as tx:
        receipt.changes = receipts.changes_of(tx, receipt.seq)
    mutation = Mutation(runtime)
    mutation.receipt = receipt
    steps = [recorded(change) for change in receipt.changes]
    know_rewrites(steps)
    try:
        with locks.hold(runtime, _stripes(runtime, steps)):
            with runtime.store.write() as tx:
                if not receipts.claim(tx, receipt, owner.pid, owner.start):
                    return False
            state = _bring_to_one_side(mutation, receipt, steps)
            with runtime.store.write(durable=True) as tx:
                receipts.set_state(tx, receipt, state)
    except (HearthError, OSError) as error:
        runtime.notice(f"hearth: {receipt.id}, which another process left unfinished, could not be settled: {error}")
        return False
    finally:
        for step in steps:
            step.close()
    return True


def _stripes(runtime: Runtime, steps: list[Step]) -> set[int]:
    stripes: set[int] = set()
    for step in steps:
        step.deferred = True  # some places exist only between two steps
        step.locate_early(runtime)
        stripes.update(step.stripes())
        step.close()
    return stripes


def _bring_to_one_side(mutation: Mutation, receipt: Receipt, steps: list[Step]) -> str:
    standings = [_standing(mutation, step) for step in steps]
    if len(steps) == receipt.steps and all(standing is Standing.AFTER for standing in standings):
        return receipts.APPLIED
    for step, standing in zip(reversed(steps), reversed(standings), strict=True):
        step.locate(mutation.runtime)
        if standing is not Standing.OTHER or not step.change.in_place:
            step.revert(mutation)
        step.discard(mutation)
        step.close()
    return receipts.VOID


def _standing(mutation: Mutation, step: Step) -> Standing:
    try:
        step.locate(mutation.runtime)
        standing = step.standing(mutation)
    except (HearthError, OSError):
        return Standing.OTHER
    finally:
        step.close()
    if standing is Standing.MIXED and _was_changed_later(mutation, step):
        return Standing.OTHER
    return standing


def _was_changed_later(mutation: Mutation, step: Step) -> bool:
    """Whether another call changed the path since, so that what looks half written is that call's content."""
    assert mutation.receipt is not None
    with mutation.runtime.store.read() as tx:
        return receipts.is_newer(tx, step.change.path, mutation.receipt.seq)
