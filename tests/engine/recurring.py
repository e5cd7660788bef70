"""Schedules in a store, and time that passes for them as it does for a worker."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from hearth import identifiers
from hearth.clock import parse_timestamp, timestamp
from hearth.engine import recurring
from hearth.engine.spec import Spec
from hearth.runtime import Runtime
from hearth.store import job_queue, jobs, schedules
from hearth.store.schedules import Schedule
from tests.clocks import SetClock

DAY, HOUR, MINUTE = 86_400_000, 3_600_000, 60_000


def schedule(runtime: Runtime, cron: str | None = None, zone: str = "UTC", **columns: Any) -> Schedule:
    """A schedule from now on, of a program that ends at once."""
    spec = Spec(command=sys.executable, args=("-S", "-E", "-c", ""), cwd=runtime.base)
    job = {"priority": 0, "group_name": "default", "title": "x", "spec": spec.to_json(), "merged": False}
    now_ms = runtime.clock.now_ms()
    every_ms = columns.get("every_ms")
    first = recurring.table_of(cron, every_ms, zone, now_ms).next_after(now_ms)
    usual: dict[str, Any] = {
        "name": f"s{now_ms}",
        "missed": "once",
        "missed_most": 10,
        "overlap": "skip",
        "enabled": True,
        "next_at": None if first is None else timestamp(first),
    }
    with runtime.store.write() as tx:
        made = Schedule(
            **{**usual, **columns},
            id=identifiers.new("sch", now_ms),
            cron=cron,
            zone=zone,
            created_at=runtime.now(),
            anchor_at=runtime.now(),
            job=json.dumps({**job, "caller": "batch", "run": None}),
            labels=json.dumps(["nightly"]),
            environment=jobs.environment(tx, {}),
        )
        schedules.insert(tx, made)
    return made


def fire(runtime: Runtime) -> None:
    """What a worker does as soon as something is due."""
    with runtime.store.write() as tx:
        recurring.fire(tx, runtime)


def end_jobs(runtime: Runtime) -> None:
    with runtime.store.write() as tx:
        tx.execute(
            "UPDATE jobs SET state = 'completed', ended_at = :now, unmet = 0 WHERE ended_at IS NULL",
            {"now": runtime.now()},
        )


def pass_time(runtime: Runtime, clock: SetClock, upto: str) -> None:
    """Let a worker do what it does at each time that it waits for; jobs are over at once."""
    while (due := next_due(runtime)) is not None and due <= timestamp(parse_timestamp(upto)):
        clock.set(max(due, str(clock)))
        fire(runtime)
        end_jobs(runtime)
    clock.set(upto)


def next_due(runtime: Runtime) -> str | None:
    with runtime.store.read() as view:
        return job_queue.next_due(view)


def slots(runtime: Runtime, *states: str) -> list[str]:
    """The slots that have jobs, in the order in which these were made."""
    with runtime.store.read() as view:
        rows = view.execute("SELECT slot_at, state FROM jobs WHERE schedule IS NOT NULL ORDER BY seq").fetchall()
    return [slot for slot, state in rows if not states or state in states]


def now_of(runtime: Runtime, named: str) -> Schedule:
    with runtime.store.read() as view:
        found = schedules.find(view, named)
    assert found is not None
    return found


def gaps(times: Sequence[str]) -> list[int]:
    """Milliseconds between each and the next."""
    found = [parse_timestamp(each) for each in times]
    return [later - earlier for earlier, later in pairwise(found)]
