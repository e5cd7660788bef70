"""How files are changed: all steps of a call or none, recorded before they happen.

Every step is located through the containment, locked, checked and staged beside its target. Then one durable
transaction says what is going to happen (the staged content is synced meanwhile), then it happens by renames in
open directories, then the receipt is marked applied. Whatever ends the process in between, `recovery` finds the
record, looks at the hashes, and brings the files to before or after.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from hearth import identifiers
from hearth.errors import Conflict, HearthError, from_data_dir, from_os, is_about
from hearth.secrets import guard, redact
from hearth.services.fs import locks
from hearth.services.fs.steps import MakeDirectory, touch
from hearth.services.fs.temporary import SUFFIX, Journal, Temporary, temporary_name
from hearth.store import receipts
from hearth.store.receipts import Receipt

if TYPE_CHECKING:
    from hearth.platforms.base import Directory
    from hearth.runtime import Runtime
    from hearth.services.fs.steps import Step
    from hearth.store.database import Store

REPLACE_WAITS_MS = (10, 20, 40, 80, 160)
RELOCATIONS = 5
_WINDOWS_TRANSIENT = (5, 32, 33)  # access denied, sharing violation, lock violation: a scanner or editor has it open


class Owner:
    """This process, as rows name it."""

    def __init__(self, runtime: Runtime) -> None:
        self.pid = os.getpid()
        self.start = runtime.host.process_start(self.pid) or ""
        self.looked: float | None = None  # when it last looked for what others left
        self.journal = Journal(runtime.host, runtime.data_dir, f"{self.pid}-{self.start or 'unknown'}")

    def close(self) -> None:
        self.journal.close()


def owner_of(runtime: Runtime) -> Owner:
    kept = runtime.opener.keep("fs.owner", lambda: Owner(runtime))
    assert isinstance(kept, Owner)
    return kept


class Mutation:
    """What the steps of one call share. `receipt` is None as long as nothing was recorded."""

    def __init__(self, runtime: Runtime, *, dry_run: bool = False) -> None:
        self.runtime = runtime
        self.host = runtime.host
        self.settings = runtime.settings.fs
        self.dry_run = dry_run
        self.owner = owner_of(runtime)
        self.id = identifiers.new("rec", runtime.clock.now_ms())
        self.receipt: Receipt | None = None
        self.replace_attempts = 0
        self.warnings: list[str] = []
        self.unsynced: list[int] = []
        self._trashed = 0

    def temporary(self, directory: Directory, name: str, mode: int = 0o666) -> Temporary:
        return Temporary(self.owner.journal, directory, name, mode=mode, milliseconds=self.runtime.clock.now_ms())

    def rename(self, directory: Directory, name: str, to: Directory, new_name: str, *, replace: bool) -> None:
        """Rename, again after a pause where the refusal may pass. Raises `OSError`."""
        for attempt, wait_ms in enumerate((*REPLACE_WAITS_MS, None), 1):
            self.replace_attempts = max(self.replace_attempts, attempt)
            try:
                directory.rename(name, to, new_name, replace=replace)
                return
            except OSError as error:
                if wait_ms is None or not _may_pass(error):
                    raise
            self.runtime.clock.sleep(wait_ms / 1000)

    def sync_file(self, descriptor: int) -> None:
        if self.settings.sync:
            self.host.sync_file(descriptor)

    def sync(self, *directories: Directory) -> None:
        if self.settings.sync:
            for directory in directories:
                directory.sync()

    def note_temporary(self, directory: Directory, name: str, suffix: str = SUFFIX) -> str:
        """A name for something that is not meant to stay; `settle_temporary` says that it did not."""
        made = temporary_name(name, self.runtime.clock.now_ms(), suffix)
        self.owner.journal.note(directory.path, made)
        return made

    def settle_temporary(self) -> None:
        self.owner.journal.settle()

    def next_position(self) -> int:
        """A number that no other step of this call has, for what it puts in the trash."""
        self._trashed += 1
        return self._trashed - 1


def _may_pass(error: OSError) -> bool:
    winerror = getattr(error, "winerror", None)
    return winerror in _WINDOWS_TRANSIENT if winerror else isinstance(error, PermissionError)


def apply(
    runtime: Runtime,
    steps: Sequence[Step],
    *,
    operation: str,
    group: str | None = None,
    dry_run: bool = False,
    undoes: Sequence[Receipt] = (),
) -> Mutation:
    """Do all steps, or none. What became of each stands in the steps (`changed`, `change`) and in the answer
    (`receipt`, None when nothing had to change; `replace_attempts`; `warnings`).

    Raises `Conflict`, `AlreadyExists`, `Locked`, `BackupTooLarge`, `NoSpace`, and what containment and system refuse;
    then every file is as it was and no receipt is left.
    """
    if not dry_run:
        from hearth.services.fs import recovery

        recovery.settle_now_and_then(runtime)
    mutation = Mutation(runtime, dry_run=dry_run)
    with ExitStack() as closing:
        for step in steps:
            closing.callback(step.close)
        try:
            whole = list(_located(mutation, steps, closing))
            for step in whole:
                if not step.deferred:
                    step.stage(mutation)
            for _ in range(RELOCATIONS):
                if _locked(mutation, whole, operation, group, undoes):
                    return mutation
        except OSError as error:
            if is_about(error, runtime.data_dir):
                raise from_data_dir(error, runtime.data_dir) from error
            raise from_os(error, steps[0].change.path if len(steps) == 1 else error.filename or "") from error
    raise Conflict("the path kept leading somewhere else while it was being changed", path=steps[0].path)


def _located(mutation: Mutation, steps: Sequence[Step], closing: ExitStack) -> Iterator[Step]:
    """The steps, and before each the directories that it needs."""
    made: set[str] = set()
    for step in steps:
        if step.deferred:
            step.locate_early(mutation.runtime)
            yield step
            continue
        step.locate(mutation.runtime)
        for path in step.missing_parents():
            if path not in made:
                made.add(path)
                parent = MakeDirectory(path, implied=True)
                closing.callback(parent.close)
                parent.create_parents = True  # until the one before it has been made
                parent.locate(mutation.runtime)
                yield parent
        yield step


def _locked(
    mutation: Mutation, steps: list[Step], operation: str, group: str | None, undoes: Sequence[Receipt]
) -> bool:
    """Do the steps under their locks; False when a path led elsewhere once it was locked."""
    if mutation.dry_run:
        for step in steps:
            step.changed = step.prepare(mutation)
        return True
    wanted = {stripe for step in steps for stripe in step.stripes()}
    with locks.hold(mutation.runtime, wanted):
        for step in steps:
            if step.moved_away():
                (step.locate_early if step.deferred else step.locate)(mutation.runtime)
        if not {stripe for step in steps for stripe in step.stripes()} <= wanted:
            return False
        for step in steps:
            if step.deferred:
                step.release()  # what it holds open could not be moved on Windows
        _Run(mutation, steps, operation, group, undoes).run()
    return True


class _Run:
    """One pass over the steps, under their locks."""

    def __init__(
        self, mutation: Mutation, steps: list[Step], operation: str, group: str | None, undoes: Sequence[Receipt]
    ) -> None:
        self.mutation = mutation
        self.steps = steps
        self.operation = operation
        self.group = group
        self.undoes = undoes
        self.done: list[Step] = []
        self.position = 0

    def run(self) -> None:
        store = self.mutation.runtime.store
        try:
            left = len(self.steps)
            for batch in _batches(self.steps):
                left -= len(batch)
                self._batch(batch, left)
            receipt = self.mutation.receipt
            if receipt is None:
                return
            self._mark_applied(store, receipt)
        except BaseException as error:
            self._roll_back(error)
            raise
        for step in self.done:
            step.finish(self.mutation)

    def _mark_applied(self, store: Store, receipt: Receipt) -> None:
        receipt.state = receipts.APPLIED
        if len(receipt.changes) == 1 and not receipt.undoes:
            # Should it get lost, the hashes say the same; so the transaction of the call's event takes it along.
            store.defer(lambda tx: receipts.set_state(tx, receipt, receipts.APPLIED))
            return
        with store.write() as tx:
            receipts.set_state(tx, receipt, receipts.APPLIED)

    def _batch(self, batch: list[Step], left: int) -> None:
        mutation = self.mutation
        prepared: list[Step] = []
        for step in self.done:
            step.release()
        for step in batch:
            if step.deferred:
                step.deferred = False
                step.locate(mutation.runtime)
                step.stage(mutation)
            elif self.done:
                step.locate(mutation.runtime)
            step.changed = step.prepare(mutation)
            if step.changed:
                prepared.append(step)
            else:
                step.discard(mutation)
        if prepared:
            self._record(prepared, left)
        for step in prepared:
            self.done.append(step)
            step.perform(mutation)

    def _record(self, prepared: list[Step], left: int) -> None:
        """Say durably what is going to happen, while the staged content goes to the disk beside it."""
        mutation = self.mutation
        with _Syncing(mutation), mutation.runtime.store.write(durable=mutation.settings.sync) as tx:
            is_new = mutation.receipt is None
            receipt = mutation.receipt or self._receipt()
            receipt.steps = len(self.done) + len(prepared) + left
            if is_new:
                mutation.receipt = receipt
                receipt.seq = receipts.insert(tx, receipt)
            else:
                receipts.set_steps(tx, receipt.seq, receipt.steps)
            for step in prepared:
                step.change.position = self.position
                self.position += 1
                receipts.add_change(tx, receipt.seq, step.change)
                receipt.changes.append(step.change)
        if is_new:
            mutation.runtime.changed(receipt.id)

    def _receipt(self) -> Receipt:
        runtime, owner = self.mutation.runtime, self.mutation.owner
        return Receipt(
            id=self.mutation.id,
            at=runtime.now(),
            operation=self.operation,
            caller=str(runtime.caller),
            conversation=runtime.conversation and redact(runtime.conversation),
            group=guard(runtime.settings.secrets, "group", self.group or runtime.group),
            state=receipts.INTENDED,
            owner_pid=owner.pid,
            owner_start=owner.start,
            steps=len(self.steps),
            undoes=tuple(receipt.id for receipt in self.undoes),
        )

    def _roll_back(self, cause: BaseException) -> None:
        from hearth.services.fs.relocation import know_rewrites

        mutation = self.mutation
        know_rewrites(self.done)
        try:
            for step in self.steps:
                if step not in self.done:
                    step.discard(mutation)
                step.close()
            for step in reversed(self.done):
                step.locate(mutation.runtime)
                step.revert(mutation)
                step.discard(mutation)
                step.close()  # an open directory could not be removed on Windows
            if mutation.receipt is not None:
                with mutation.runtime.store.write() as tx:
                    receipts.delete(tx, mutation.receipt.id)
        except (OSError, HearthError) as error:
            # The record stays open, so recovery tries again once this process has ended.
            cause.add_note(f"taking the change back failed too: {error}")


class _Syncing:
    """Syncs the staged files in a thread beside the transaction; both must have succeeded at the end."""

    def __init__(self, mutation: Mutation) -> None:
        self._mutation = mutation
        self._error: OSError | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> None:
        if self._mutation.settings.sync and self._mutation.unsynced:
            self._thread = threading.Thread(target=self._sync)
            self._thread.start()

    def _sync(self) -> None:
        try:
            for descriptor in self._mutation.unsynced:
                self._mutation.host.sync_file(descriptor)
        except OSError as error:
            self._error = error

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._thread is not None:
            self._thread.join()
        self._mutation.unsynced.clear()
        if self._error is not None and kind is None:
            raise self._error


def _batches(steps: list[Step]) -> Iterator[list[Step]]:
    """Runs of steps that do not build on each other, so that all of a run can be checked before any is done."""
    if len(steps) == 1:
        yield steps
        return
    batch: list[Step] = []
    for step in steps:
        if any(touch(path, other) for each in batch for path in each.paths() for other in step.paths()):
            yield batch
            batch = []
        batch.append(step)
    yield batch
