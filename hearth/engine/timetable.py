"""When recurring jobs are due: pure functions of the time that they are given.

A slot is one moment at which a timetable makes a job, in milliseconds since 1970, UTC. It is the job's nominal time
and its identity: however late or often a timetable is asked, the same slots come out.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from hearth.errors import invalid

GRACE_MS = 60_000  # so long after its time a slot is late, and not missed
SKIPPED_MOST = 1_000  # missed slots are counted so far; a table of minutes that was off for years has millions
INTERVAL_LEAST_MS = 1_000
INTERVAL_MOST_MS = 366 * 86_400_000
END_MS = 253_370_764_800_000  # the year 9999: local times of its last day have no year


class Missed(StrEnum):
    """What becomes of slots that nobody was there for."""

    SKIP = "skip"
    ONCE = "once"
    ALL = "all"


class Timetable(ABC):
    """Moments that recur. They lie between 1970 and the end of 9998."""

    @abstractmethod
    def next_after(self, ms: int) -> int | None:
        """The first slot later than `ms`; None when there is none any more."""

    @abstractmethod
    def last_upto(self, ms: int) -> int | None:
        """The newest slot not later than `ms`; None when there is none."""

    def between(self, after_ms: int, upto_ms: int, most: int) -> list[int]:
        """The newest `most` slots later than `after_ms` and not later than `upto_ms`, oldest first.

        The work grows with `most`, not with the time between.
        """
        slots: list[int] = []
        while len(slots) < most and (slot := self.last_upto(upto_ms)) is not None and slot > after_ms:
            slots.append(slot)
            upto_ms = slot - 1
        return slots[::-1]


@dataclass(frozen=True, slots=True)
class Interval(Timetable):
    """Elapsed time: every `interval_ms`, counted both ways from `anchor_ms`, whatever clocks on the wall do."""

    interval_ms: int
    anchor_ms: int

    def next_after(self, ms: int) -> int | None:
        ms = max(ms, -1)
        slot = ms + self.interval_ms - (ms - self.anchor_ms) % self.interval_ms
        return slot if slot < END_MS else None

    def last_upto(self, ms: int) -> int | None:
        ms = min(ms, END_MS - 1)
        slot = ms - (ms - self.anchor_ms) % self.interval_ms
        return slot if slot >= 0 else None


def every(interval_ms: int, anchor_ms: int) -> Timetable:
    """A slot every `interval_ms`, 1 s to 366 days; the anchor gives the phase. Raises `InvalidInput`."""
    if not INTERVAL_LEAST_MS <= interval_ms <= INTERVAL_MOST_MS:
        raise invalid("every_ms", "out_of_range", f"must be {INTERVAL_LEAST_MS} to {INTERVAL_MOST_MS} (366 days)")
    return Interval(interval_ms, anchor_ms)


def cron(expression: str, zone: str) -> Timetable:
    """A slot whenever the clock of the IANA `zone` reads what the cron expression says. Raises `InvalidInput`.

    `hearth.engine.cron` says what an expression may be and what changes of the clock do.
    """
    from hearth.engine.cron import Cron

    return Cron.of(expression, zone)


class Due(NamedTuple):
    """The slots to make jobs for, oldest first; how many were dropped (at most SKIPPED_MOST); what to wait for next."""

    slots: tuple[int, ...]
    skipped: int
    next_ms: int | None


def due(table: Timetable, *, next_ms: int, now_ms: int, missed: Missed, most: int) -> Due:
    """What a schedule owes at `now_ms`, when `next_ms` is the slot that it waits for.

    Slots up to GRACE_MS late are made always. Of those that were missed `skip` makes none, `once` the newest,
    `all` the newest `most` (1..100).
    """
    if next_ms > now_ms:
        return Due((), 0, _planned(table, next_ms, now_ms))
    # The planned slot counts even if the table no longer has it, as after new rules of its zone.
    reach = SKIPPED_MOST + most + GRACE_MS // INTERVAL_LEAST_MS + 1
    slots = [next_ms, *table.between(next_ms, now_ms, reach)]
    late = [slot for slot in slots if now_ms - slot > GRACE_MS]
    made = late[len(late) - min(len(late), _made(missed, most)) :]
    skipped = min(len(late) - len(made), SKIPPED_MOST)
    return Due((*made, *slots[len(late) :]), skipped, table.next_after(now_ms))


def _made(missed: Missed, most: int) -> int:
    return {Missed.SKIP: 0, Missed.ONCE: 1, Missed.ALL: most}[missed]


def _planned(table: Timetable, next_ms: int, now_ms: int) -> int:
    """The slot to wait for: `next_ms`, unless two others come before it, because the clock was far ahead once.

    One alone is the slot that was made last, before the clock was put back a little.
    """
    first = table.next_after(now_ms)
    second = None if first is None else table.next_after(first)
    return first if first is not None and second is not None and second < next_ms else next_ms
