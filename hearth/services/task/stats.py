"""task.stats: how busy the queue is, how long jobs wait and run, and how they end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from hearth.clock import parse_timestamp, timestamp
from hearth.errors import invalid
from hearth.model import Cli, Ge, Help, Items, Le, Len, State, model
from hearth.paging import time_bound
from hearth.runtime import Runtime
from hearth.services.task.workers import WorkerEntry, entries
from hearth.settings import DAY_MS
from hearth.store import job_figures
from hearth.store.job_figures import Ended, Unfinished
from hearth.store.jobs import JobState

MOST_ENDED = 5_000  # so that an answer takes as long with a million of finished jobs
HOUR_MS = 3_600_000


@model
class GetStats:
    since: Annotated[
        str | None, Len(1, 40), Help("Count what ended from this time on; by default in the last 24 hours.")
    ] = None
    last_ms: Annotated[
        int | None, Ge(1_000), Le(3_660 * DAY_MS), Cli(names=("-l",)), Help("Or what ended in so long before now.")
    ] = None


@model
class Reason:
    """How many jobs ended in one way other than completed."""

    reason: Annotated[str, Help("The job's reason, or its state where that tells enough.")]
    count: Annotated[int, Help("How many.")]


@model
class GroupStats:
    """The figures of one group, or of all."""

    group: Annotated[str | None, Help("The group; null: all of them.")]
    scheduled: Annotated[int, Help("Jobs that are not due yet.")]
    waiting: Annotated[int, Help("Jobs that wait for others.")]
    queued: Annotated[int, Help("Jobs that could start.")]
    running: Annotated[int, Help("Jobs that run.")]
    queued_for_ms: Annotated[int | None, Help("How long the first of the queued ones has been.")]
    ended: Annotated[int, Help("Jobs that ended since `since_at`.")]
    ended_per_hour: Annotated[float, Help("The same for an hour.")]
    completed: Annotated[int, Help("Those of them that completed.")]
    waited_median_ms: Annotated[int | None, Help("How long half of them were queued at most.")]
    waited_p95_ms: Annotated[int | None, Help("How long 95 of 100 were queued at most.")]
    waited_max_ms: Annotated[int | None, Help("The longest that one was queued.")]
    ran_median_ms: Annotated[int | None, Help("How long half of them ran at most.")]
    ran_p95_ms: Annotated[int | None, Help("How long 95 of 100 ran at most.")]
    ran_max_ms: Annotated[int | None, Help("The longest that one ran.")]
    failures: Annotated[tuple[Reason, ...], Help("How the others ended, the most frequent first.")]


@model
class Stats:
    state: State = State.COMPLETED
    since_at: Annotated[str, Help("From when on jobs that ended count: later than asked for where they are many.")]
    total: Annotated[GroupStats, Help("All groups together.")]
    groups: Annotated[
        tuple[GroupStats, ...],
        Items(
            columns=(
                "group", "queued", "running", "ended", "completed", "waited_median_ms",
                "waited_p95_ms", "ran_median_ms", "ran_p95_ms",
            )
        ),
        Help("Each group that has unfinished jobs, or some that ended since."),
    ]  # fmt: skip
    workers: Annotated[tuple[WorkerEntry, ...], Help("Who looks after them.")]


def stats(runtime: Runtime, given: GetStats) -> Stats:
    """Of the newest 5,000 jobs that ended: with more, `since_at` is later than asked for. Raises `InvalidInput`."""
    now = runtime.now()
    asked = _since(given, parse_timestamp(now))
    with runtime.store.read() as view:
        unfinished = job_figures.unfinished(view)
        ended = job_figures.ended(view, asked, MOST_ENDED)
        workers = entries(runtime, view)
    since = max(asked, ended[-1].ended_at) if len(ended) == MOST_ENDED else asked
    hours = max(parse_timestamp(now) - parse_timestamp(since), 1) / HOUR_MS
    names = sorted({each.group for each in unfinished} | {each.group for each in ended})
    by_group: dict[str, tuple[list[Unfinished], list[Ended]]] = {name: ([], []) for name in names}
    for left in unfinished:
        by_group[left.group][0].append(left)
    for over in ended:
        by_group[over.group][1].append(over)
    return Stats(
        since_at=since,
        total=_figures(None, unfinished, ended, hours, now),
        groups=tuple(_figures(name, *by_group[name], hours, now) for name in names),
        workers=workers,
    )


def _since(given: GetStats, now_ms: int) -> str:
    if given.since is not None and given.last_ms is not None:
        raise invalid("since", "not_both", "since and last_ms exclude each other")
    return time_bound("since", given.since, timestamp(now_ms - (given.last_ms or DAY_MS)))


def _figures(
    group: str | None, unfinished: Sequence[Unfinished], ended: Sequence[Ended], hours: float, now: str
) -> GroupStats:
    queued = [each.first_queued_at for each in unfinished if each.state is JobState.QUEUED and each.first_queued_at]
    reasons = Counter(each.reason or each.state for each in ended if each.state != JobState.COMPLETED)
    return GroupStats(
        group=group,
        **{
            state.value: sum(each.number for each in unfinished if each.state is state)
            for state in (JobState.SCHEDULED, JobState.WAITING, JobState.QUEUED, JobState.RUNNING)
        },
        queued_for_ms=max(0, parse_timestamp(now) - parse_timestamp(min(queued))) if queued else None,
        ended=len(ended),
        ended_per_hour=round(len(ended) / hours, 2),
        completed=sum(each.state == JobState.COMPLETED for each in ended),
        **_spread("waited", (each.waited_ms for each in ended)),
        **_spread("ran", (each.ran_ms for each in ended)),
        failures=tuple(Reason(reason=reason, count=count) for reason, count in reasons.most_common()),
    )


def _spread(name: str, values: Iterable[int | None]) -> dict[str, Any]:
    known = sorted(value for value in values if value is not None)

    def at(share: float) -> int | None:
        # The nearest rank: a value that there was, never one between two.
        return known[max(0, -int(-len(known) * share // 1) - 1)] if known else None

    return {f"{name}_median_ms": at(0.5), f"{name}_p95_ms": at(0.95), f"{name}_max_ms": at(1.0)}
