"""What goes when: events, receipts, jobs and artifacts by age, backups and artifacts by size, and what no row names.

Everything goes in small steps, so that other processes never wait long for the write lock. Rows go first; what lies
outside the database follows, and what a kill leaves there is found by the next `hearth gc`.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from hearth.clock import parse_timestamp, timestamp
from hearth.store import (
    arrivals,
    artifacts,
    conversations,
    events,
    futures,
    job_removal,
    jobs,
    receipts,
    requests,
    sweeping,
)
from hearth.store.blobs import NEW, Blobs
from hearth.store.database import DROPPED_NAME, Store

if TYPE_CHECKING:
    from hearth.platforms.base import Host
    from hearth.settings import RetentionSettings

DAY_MS = 86_400_000
STEP = 500  # rows a transaction
# A body is written before the row that names it, and a folder of the trash before its receipt.
GRACE_MS = 3_600_000
YOUNG_MS = 60_000
T = TypeVar("T", receipts.Old, artifacts.Old)
BACKUP_PREFIX = "backup-"  # of the folders that `hearth db backup` works in


@dataclass(frozen=True, slots=True)
class Removed:
    """What went, or would go, of one kind."""

    kind: str
    count: int
    bytes: int


class Forgotten(NamedTuple):
    """How many rows and how many bodies went."""

    rows: int
    bodies: int


class Messages(NamedTuple):
    """A kind of rows: how many would go, with their bytes, and a step that lets some go."""

    kind: str
    size: Callable[[sqlite3.Connection], tuple[int, int]]
    step: Callable[[sqlite3.Connection], int]


class Retention:
    """The rules for one data directory at one moment. `dry_run` counts and removes nothing."""

    def __init__(
        self, host: Host, store: Store, data_dir: str, keep: RetentionSettings, now_ms: int, *, dry_run: bool = False
    ) -> None:
        self.host = host
        self.store = store
        self.data_dir = data_dir
        self.blobs = Blobs(host, data_dir)
        self.keep = keep
        self.now_ms = now_ms
        self.dry_run = dry_run

    def days_ago(self, days: int) -> str:
        return timestamp(max(0, self.now_ms - days * DAY_MS))

    @property
    def grace_s(self) -> float:
        """The time before which what nobody names is nobody's."""
        return (self.now_ms - GRACE_MS) / 1000

    def all(self) -> Iterator[Removed]:
        """Every kind in turn."""
        yield self.expire_events()
        yield self.expire_receipts()
        yield self.drop_backups()
        yield self.expire_jobs()
        yield self.remove_environments()
        yield from self.expire_messages()
        yield self.expire_artifacts()
        yield self.drop_artifacts()
        yield self.remove_orphans()
        yield self.empty_trash()
        yield self.remove_left_over()
        yield self.remove_job_folders()
        yield self.remove_crashes()

    def expire_events(self) -> Removed:
        """Events beyond `events_days` and `events_max`."""
        before = self.days_ago(self.keep.events_days)
        with self.store.read() as view:
            upto = events.last_to_go(view, self.keep.events_max)
            count, size = events.expired(view, before=before, upto=upto)
        if not self.dry_run:
            _repeat(self.store, lambda tx: events.delete_expired(tx, before=before, upto=upto, most=STEP))
        return Removed("events", count, size)

    def expire_receipts(self) -> Removed:
        """Receipts beyond `receipts_days`, with their backups."""
        with self.store.read() as view:
            count, size = receipts.expired(view, self.days_ago(self.keep.receipts_days))
        if not self.dry_run:
            while count and self.expire_some_receipts() == STEP:
                pass
        return Removed("receipts", count, size)

    def expire_some_receipts(self) -> int:
        """The oldest of those, at most 500; how many."""
        before = self.days_ago(self.keep.receipts_days)
        return self._forget(lambda tx: receipts.oldest_expired(tx, before, STEP), receipts.remove)

    def drop_backups(self) -> Removed:
        """Backups beyond `backups_max_bytes`, the oldest first; their receipts stay, but can't be undone."""
        before = self.days_ago(self.keep.receipts_days)
        with self.store.read() as view:
            # What expired is counted as such, whether it is gone by now or this is a dry run.
            excess = receipts.backup_bytes(view) - receipts.expired(view, before)[1] - self.keep.backups_max_bytes
            old = list(_until(excess, _oldest_backups(view, before)))
        if not self.dry_run:
            for start in range(0, len(old), STEP):
                part = old[start : start + STEP]
                self._forget(lambda _, part=part: part, receipts.drop_backups)  # type: ignore[misc]
        return Removed("backups", len(old), sum(each.bytes for each in old))

    def _forget(
        self,
        choose: Callable[[sqlite3.Connection], list[receipts.Old]],
        forget: Callable[[sqlite3.Connection, int], None],
    ) -> int:
        with self.store.write() as tx:
            chosen = choose(tx)
            named = {body for each in chosen for body in receipts.bodies(tx, each.seq)}
            for each in chosen:
                forget(tx, each.seq)
            free = [body for body in named if not _is_named(tx, body)]
        for body in free:
            self.blobs.remove(body, untouched_since=self.grace_s)
        for each in chosen:
            sweeping.remove(self.host, self._folder("trash"), each.id)
        return len(chosen)

    def expire_artifacts(self) -> Removed:
        """Artifacts beyond `artifacts_days`."""
        before = self.days_ago(self.keep.artifacts_days)
        with self.store.read() as view:
            count, size = artifacts.expired(view, before)
        if not self.dry_run:
            while count and self.expire_some_artifacts() == STEP:
                pass
        return Removed("artifacts", count, size)

    def expire_some_artifacts(self) -> int:
        """The oldest of those, at most 500; how many."""
        before = self.days_ago(self.keep.artifacts_days)
        with self.store.read() as view:
            old = list(artifacts.oldest(view, before=before, most=STEP))
        return self.forget_artifacts(old).rows

    def drop_artifacts(self) -> Removed:
        """Artifacts beyond `artifacts_max_bytes`, the oldest first. One of the last minute stays: its maker is only
        about to tell of it."""
        before = self.days_ago(self.keep.artifacts_days)
        young = timestamp(max(0, self.now_ms - YOUNG_MS))
        with self.store.read() as view:
            excess = artifacts.total_bytes(view) - artifacts.expired(view, before)[1] - self.keep.artifacts_max_bytes
            old = list(_until(excess, artifacts.oldest(view, since=before, before=young)))
        if not self.dry_run:
            for start in range(0, len(old), STEP):
                self.forget_artifacts(old[start : start + STEP])
        return Removed("artifacts above quota", len(old), sum(each.bytes for each in old))

    def forget_artifacts(self, chosen: Sequence[artifacts.Old]) -> Forgotten:
        """Remove artifacts, and the bodies that nothing else names."""
        if not chosen:
            return Forgotten(0, 0)
        with self.store.write() as tx:
            gone = [each for each in chosen if artifacts.delete(tx, each.id)]
            free = {each.body: each.at for each in gone if not _is_named(tx, each.body)}
        return Forgotten(len(gone), self._remove_bodies(free))

    def _remove_bodies(self, free: Mapping[str, str]) -> int:
        """Remove bodies that nothing names, each with when it was kept; how many went."""
        # Who stores a body again, and has not said so yet, makes it younger than the row that is gone.
        removed = [
            self.blobs.remove(body, untouched_since=(parse_timestamp(at) + 1) / 1000) for body, at in free.items()
        ]
        return sum(removed)

    def expire_jobs(self) -> Removed:
        """Jobs that ended and are beyond `jobs_days` and `jobs_max`, with their artifacts that are not pinned."""
        with self.store.read() as view:
            number = max(job_removal.count(view, self._expired_jobs), self._excess_jobs(view))
            count, size = job_removal.size(view, self._young_jobs, number)
        if not self.dry_run:
            while self.expire_some_jobs(STEP):
                pass
        return Removed("jobs", count, size)

    def expire_some_jobs(self, most: int) -> int:
        """The oldest of those, at most `most`; how many."""
        with self.store.read() as view:
            old = job_removal.oldest(view, self._expired_jobs, most)
            if not old and (excess := self._excess_jobs(view)) > 0:
                old = job_removal.oldest(view, self._young_jobs, min(most, excess))
        return self.forget_jobs(old).rows

    @property
    def _expired_jobs(self) -> job_removal.Which:
        return job_removal.Which(self.days_ago(self.keep.jobs_days))

    @property
    def _young_jobs(self) -> job_removal.Which:
        """All but those of the last minute, whose ends somebody may be about to look at."""
        return job_removal.Which(timestamp(max(0, self.now_ms - YOUNG_MS)))

    def _excess_jobs(self, view: sqlite3.Connection) -> int:
        return job_removal.count(view, job_removal.Which("~")) - self.keep.jobs_max

    def forget_jobs(self, chosen: Sequence[job_removal.Old]) -> Forgotten:
        """Remove jobs that ended, with what they left."""
        if not chosen:
            return Forgotten(0, 0)
        released: list[artifacts.Old] = []
        gone = []
        with self.store.write() as tx:
            for each in chosen:
                if (left := job_removal.forget(tx, each.seq)) is not None:
                    gone.append(each)
                    released += left
            free = {left.body: left.at for left in released if not _is_named(tx, left.body)}
        self._remove_folders_of({each.id for each in gone})
        return Forgotten(len(gone), self._remove_bodies(free))

    def _remove_folders_of(self, ids: set[str]) -> None:
        folder = self._folder("jobs")
        for name in sweeping.names_older(self.host, folder, float("inf")):
            if _run_of(name)[0] in ids:
                sweeping.remove(self.host, folder, name)

    def expire_messages(self) -> Iterator[Removed]:
        """What conversations were to be told, and could ask for: ended calls beyond `jobs_days`, arrivals beyond
        `mailbox_days`, answers for calls that come again, and conversations of which nothing is left."""
        for kind, size_of, step in self._messages():
            with self.store.read() as view:
                number, size = size_of(view)
            if number and not self.dry_run:
                _repeat(self.store, step)
            yield Removed(kind, number, size)

    def expire_some_messages(self) -> None:
        """The oldest of those, at most 500 of each kind."""
        with self.store.write() as tx:
            for _, _, step in self._messages():
                step(tx)

    def _messages(self) -> tuple[Messages, ...]:
        ended, told = self.days_ago(self.keep.jobs_days), self.days_ago(self.keep.mailbox_days)
        answered, lost = timestamp(max(0, self.now_ms - requests.KEPT_MS)), self.days_ago(1)
        return (
            Messages(
                "futures",
                lambda view: futures.expired(view, ended),
                lambda tx: futures.delete_expired(tx, ended, STEP),
            ),
            Messages(
                "arrivals",
                lambda view: arrivals.expired(view, told),
                lambda tx: arrivals.delete_expired(tx, told, STEP),
            ),
            Messages(
                "requests",
                lambda view: requests.expired(view, answered, lost),
                lambda tx: requests.delete_expired(tx, answered, lost, STEP),
            ),
            Messages(
                "conversations",
                lambda view: (conversations.count_idle(view, told), 0),
                lambda tx: conversations.delete_idle(tx, told, STEP),
            ),
        )

    def remove_environments(self) -> Removed:
        """Variables of jobs that are gone."""
        count = size = after = 0
        while True:
            with self.store.read() as view:
                unused = job_removal.unused_environments(view, after, STEP)
            if not unused:
                return Removed("environments", count, size)
            after = unused[-1][0]
            if not self.dry_run:
                with self.store.write() as tx:
                    unused = [each for each in unused if job_removal.delete_environment(tx, each[0])]
            count, size = count + len(unused), size + sum(each[1] for each in unused)

    def remove_job_folders(self) -> Removed:
        """Outputs in files whose jobs ended or are gone; not of what runs, and not what is to be kept later."""
        folder = self._folder("jobs")
        with self.store.read() as view:
            old = sweeping.names_older(self.host, folder, self.grace_s)
            return self._sweep("job files", folder, [name for name in old if _is_left_over(view, name)])

    def remove_orphans(self) -> Removed:
        """Bodies that no row names."""
        count = size = 0
        for kept in self.blobs.kept():
            if kept.touched >= self.grace_s:
                continue
            with self.store.read() as view:
                if _is_named(view, kept.sha256):
                    continue
            if self.dry_run or self.blobs.remove(kept.sha256, untouched_since=self.grace_s):
                count, size = count + 1, size + kept.size
        return Removed("bodies", count, size)

    def empty_trash(self) -> Removed:
        """What was moved to the trash by a receipt that is gone."""
        folder = self._folder("trash")
        with self.store.read() as view:
            old = sweeping.names_older(self.host, folder, self.grace_s)
            return self._sweep("trash", folder, [name for name in old if not receipts.exists(view, name)])

    def remove_left_over(self) -> Removed:
        """Files of writers and backups that were killed."""
        old = sweeping.names_older(self.host, self.data_dir, self.grace_s)
        copies = self._sweep("left over", self.data_dir, [name for name in old if name.startswith(BACKUP_PREFIX)])
        folder = self._folder("blobs", NEW)
        halves = self._sweep("left over", folder, sweeping.names_older(self.host, folder, self.grace_s))
        return Removed("left over", copies.count + halves.count, copies.bytes + halves.bytes)

    def remove_crashes(self) -> Removed:
        """Tracebacks older than the events that tell of them."""
        folder = self._folder("crashes")
        before = (self.now_ms - self.keep.events_days * DAY_MS) / 1000
        return self._sweep("crashes", folder, sweeping.names_older(self.host, folder, before))

    def _folder(self, *names: str) -> str:
        return os.path.join(self.data_dir, *names)

    def _sweep(self, kind: str, folder: str, names: list[str]) -> Removed:
        size = sum(sweeping.size(self.host, folder, name) for name in names)
        if not self.dry_run:
            for name in names:
                sweeping.remove(self.host, folder, name)
        return Removed(kind, len(names), size)


def tend(retention: Retention, *, number: int) -> None:
    """What a process does in passing, after its `number`-th write: enough to keep up, too little to be felt."""
    retention.expire_some_receipts()
    retention.expire_some_artifacts()
    retention.expire_some_jobs(STEP)
    retention.expire_some_messages()
    if number % 16 == 0:
        retention.drop_backups()


def dropped(data_dir: str, *, clear: bool) -> int:
    """How many events busy databases lost since this was last cleared."""
    path = os.path.join(data_dir, DROPPED_NAME)
    try:
        count = os.stat(path).st_size
        if clear:
            os.remove(path)
    except FileNotFoundError:
        return 0
    return count


def _repeat(store: Store, step: Callable[[sqlite3.Connection], int]) -> None:
    while True:
        with store.write() as tx:
            if step(tx) < STEP:
                return


def _oldest_backups(view: sqlite3.Connection, before: str) -> Iterator[receipts.Old]:
    after = -(1 << 62)
    while found := receipts.oldest_backups(view, after=after, before=before, most=STEP):
        yield from found
        after = found[-1].seq


def _until(excess: int, old: Iterable[T]) -> Iterator[T]:
    for each in old:
        if excess <= 0:
            return
        excess -= each.bytes
        yield each


def _is_left_over(view: sqlite3.Connection, name: str) -> bool:
    """Whether the folder of a run holds nothing that anybody will look at again."""
    id_, attempt = _run_of(name)
    job = jobs.find(view, id_)
    if job is None:
        return True
    return job.ended_at is not None and not (job.in_files and attempt == str(job.attempt))


def _run_of(name: str) -> tuple[str, str]:
    """The job and the number of a run, of whose folder `<job>.<attempt>.<mark>` is the name."""
    id_, _, rest = name.partition(".")
    return id_, rest.partition(".")[0]


def _is_named(view: sqlite3.Connection, body: str) -> bool:
    return receipts.names_body(view, body) or artifacts.names_body(view, body)
