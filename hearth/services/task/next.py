"""task.next: when jobs of a schedule will be made."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, tzinfo
from typing import Annotated, NamedTuple

from hearth.clock import parse_timestamp, timestamp
from hearth.engine import recurring
from hearth.engine.timetable import Timetable
from hearth.errors import invalid
from hearth.model import Cli, Ge, Help, Items, Le, Len, State, model
from hearth.runtime import Runtime
from hearth.services.task import when
from hearth.services.task.schedule_entry import find


@model
class ShowNext:
    name: Annotated[
        str | None, Len(1, 100), Cli(argument=True, completes="schedule"), Help("The name or id of a schedule.")
    ] = None
    cron: when.Cron = None
    every_ms: when.Every = None
    zone: when.Zone = None
    limit: Annotated[int, Ge(1), Le(1_000), Cli(names=("-n",)), Help("How many times.")] = 5


@model
class Slot:
    """A time for which a job is made."""

    at: Annotated[str, Help("In UTC.")]
    local: Annotated[str, Help("On the clock of the zone, with its offset.")]


@model
class NextSlots:
    state: State = State.COMPLETED
    slots: Annotated[tuple[Slot, ...], Items(), Help("The times, the first one first.")]
    zone: Annotated[str, Help("The time zone.")]
    enabled: Annotated[bool | None, Help("Whether the schedule makes jobs; null without one.")]


class _Times(NamedTuple):
    table: Timetable
    zone: str
    planned_ms: int | None = None  # what a schedule waits for, whatever its table says by now
    enabled: bool | None = None


def next_slots(runtime: Runtime, given: ShowNext) -> NextSlots:
    """Of a schedule, or of times that are not stored. Of a disabled one: as if it were enabled now. Raises
    `InvalidInput`, `NotFound`."""
    from hearth.engine.cron import zone_named

    times = _of_schedule(runtime, given) if given.name is not None else _asked(runtime, given)
    zone = zone_named(times.zone)
    return NextSlots(
        slots=tuple(_slot(ms, zone) for ms in _slots(times, runtime.clock.now_ms(), given.limit)),
        zone=times.zone,
        enabled=times.enabled,
    )


def _of_schedule(runtime: Runtime, given: ShowNext) -> _Times:
    if (given.cron, given.every_ms, given.zone) != (None, None, None):
        raise invalid("name", "not_both", "a schedule has its own times; give its name alone, or none")
    with runtime.store.read() as view:
        found = find(runtime, view, given.name or "")
    if not found.enabled:
        runtime.notice(f"hearth: {found.name} is disabled; `hearth task enable {found.name}` lets it make these jobs")
    planned_ms = parse_timestamp(found.next_at) if found.next_at else None
    return _Times(recurring.table(found), found.zone, planned_ms, found.enabled)


def _asked(runtime: Runtime, given: ShowNext) -> _Times:
    when.check(given.cron, given.every_ms)
    zone = when.zone_of(runtime, given.zone)
    return _Times(recurring.table_of(given.cron, given.every_ms, zone, runtime.clock.now_ms()), zone)


def _slots(times: _Times, now_ms: int, limit: int) -> Iterator[int]:
    slot = times.planned_ms if (times.planned_ms or 0) > now_ms else times.table.next_after(now_ms)
    while slot is not None and limit:
        yield slot
        slot, limit = times.table.next_after(slot), limit - 1


def _slot(ms: int, zone: tzinfo) -> Slot:
    at = timestamp(ms)
    local = datetime.fromisoformat(at).astimezone(zone)
    return Slot(at=at, local=local.isoformat(timespec="milliseconds" if ms % 1000 else "seconds"))
