"""When recurring jobs are due, as it is asked for."""

from __future__ import annotations

from typing import Annotated

from hearth.engine.timetable import INTERVAL_LEAST_MS, INTERVAL_MOST_MS
from hearth.errors import HearthError, invalid
from hearth.model import Ge, Help, Le, Len
from hearth.runtime import Runtime, environment

Cron = Annotated[
    str | None,
    Len(1, 256),
    Help("The times by the clock: minute, hour, day of month, month, day of week; or a word such as @daily."),
]
Every = Annotated[
    int | None, Ge(INTERVAL_LEAST_MS), Le(INTERVAL_MOST_MS), Help("Or the time from each job's slot to the next.")
]
Zone = Annotated[
    str | None, Len(1, 64), Help("The IANA time zone of that clock, such as Europe/Berlin; by default the system's.")
]


def check(cron: str | None, every_ms: int | None) -> None:
    """Raises `InvalidInput` unless exactly one of them is given."""
    if (cron is None) is (every_ms is None):
        raise invalid("cron", "not_one_of", "give either times by the clock (cron) or an interval (every)")


def zone_of(runtime: Runtime, asked: str | None) -> str:
    """The zone that was asked for, else the system's; UTC where that has no name, which is told. Raises
    `InvalidInput`."""
    from hearth.engine.cron import zone_named

    if asked is not None:
        zone_named(asked)
        return asked
    try:
        name = runtime.host.facts().time_zone(environment())
        zone_named(name)
    except Exception as error:  # machines are odd in many ways; none of them is a reason to fail
        reason = error.message if isinstance(error, HearthError) else str(error)
        runtime.notice(f"hearth: the system's time zone is not known ({reason}), so the times are UTC")
        runtime.notice("  hint: pass --zone")
        return "UTC"
    return name
