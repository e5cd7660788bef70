"""task.cancel: end jobs, and say so only once they are gone."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated

from hearth.engine import futures, presence
from hearth.engine.moves import move
from hearth.engine.running import Ending
from hearth.engine.spec import Spec
from hearth.engine.waiting import wait_until
from hearth.errors import Cancelled
from hearth.model import Ge, Help, Hidden, Items, Le, State, model
from hearth.runtime import Runtime
from hearth.services.task.outcome import RAN_OUT
from hearth.services.task.selection import JobFailure, JobsNamed, select
from hearth.store import futures as rows
from hearth.store import job_queue, jobs
from hearth.store.futures import Future, FutureState
from hearth.store.jobs import FINAL, Job, JobState

PATIENCE_S = 10.0  # beyond the grace: for a worker to start, to kill, and to see what it killed gone


class Outcome(StrEnum):
    """What came of cancelling a job."""

    CANCELLED = "cancelled"  # nothing of it runs any more, or ever will
    SUPERSEDED = "superseded"  # it had ended, or ended on its own in this moment
    PENDING = "pending"  # it was asked to end


@model
class CancelJobs(JobsNamed):
    grace_ms: Annotated[
        int | None,
        Ge(0),
        Le(600_000),
        Help("How long they may take to end before they are killed; by default what each was submitted with."),
    ] = None
    wait: Annotated[bool, Help("Answer once they are gone.")] = True


@model
class JobCancelled:
    """What came of one job."""

    id: Annotated[str, Help("The job.")]
    state: Annotated[JobState, Help("Where it stands now.")]
    outcome: Annotated[Outcome, Help("Whether it was cancelled, had ended before, or is still to end.")]
    title: Annotated[str, Help("Its command, secrets taken out.")]


@model
class CallCancelled:
    """What came of one call over MCP."""

    id: Annotated[str, Help("The call.")]
    state: Annotated[FutureState, Help("Where it stands now.")]
    outcome: Annotated[Outcome, Help("Whether it was cancelled, had ended before, or is still to end.")]
    operation: Annotated[str, Help("What was called.")]


@model
class JobsCancelled:
    state: Annotated[State, Help("Superseded: all of them had ended before. Pending: some are not gone yet.")] = (
        State.COMPLETED
    )
    jobs: Annotated[tuple[JobCancelled, ...], Items(columns=("id", "state", "outcome", "title")), Help("The jobs.")]
    futures: Annotated[tuple[CallCancelled, ...], Help("The calls over MCP among them.")] = ()
    errors: Annotated[tuple[JobFailure, ...], Help("Those that are not there.")] = ()
    ran_out: Annotated[bool, Hidden(), Help("Whether they were waited for, and are not gone.")] = False

    @property
    def exit_status(self) -> int | None:
        return RAN_OUT if self.ran_out else None


def cancel(runtime: Runtime, given: CancelJobs) -> JobsCancelled:
    """End jobs: TERM to the whole tree, after the grace KILL; one that has not started never will. Those that wait for
    its success are blocked. What has ended stays as it is. Raises `NotFound` when the only one is not there,
    `InvalidInput`, `Cancelled`."""
    with runtime.store.write(durable=True) as tx:
        found, errors, calls = select(runtime, tx, given)
        # What waits for another of them is usually younger; so it is cancelled too, and not blocked.
        asked = {job.id: _ask(tx, runtime, job, given.grace_ms) for job in reversed(found)}
        asked |= {each.id: Outcome.PENDING for each in calls if rows.want_end(tx, each.id)}
    pending = [job for job in found if asked[job.id] is Outcome.PENDING]
    if pending:
        presence.ensure_worker(runtime)
    else:
        runtime.host.ring(runtime.bells)
    if given.wait and (pending or calls):
        _wait(runtime, pending, calls, given.grace_ms)
    told = _told(runtime, found, asked)
    told_calls = tuple(_told_call(runtime, each, asked) for each in calls)
    outcomes = {job.outcome for job in told} | {call.outcome for call in told_calls}
    return JobsCancelled(
        state=_state(outcomes, errors),
        jobs=told,
        futures=told_calls,
        errors=errors,
        ran_out=given.wait and Outcome.PENDING in outcomes,
    )


def _ask(tx: sqlite3.Connection, runtime: Runtime, job: Job, grace_ms: int | None) -> Outcome:
    if job.state is JobState.RUNNING:
        job_queue.want_end(tx, job.seq, Ending.CANCEL, grace_ms=grace_ms)
        return Outcome.PENDING
    if job.state not in FINAL and move(tx, job, JobState.CANCELLED, ended_at=runtime.now()):
        return Outcome.CANCELLED
    return Outcome.SUPERSEDED


def _wait(runtime: Runtime, pending: list[Job], calls: tuple[Future, ...], grace_ms: int | None) -> None:
    left, left_calls = [job.id for job in pending], [each.id for each in calls]

    def look(view: sqlite3.Connection) -> bool | None:
        while left and ((job := jobs.standing(view, left[-1])) is None or job.state in FINAL):
            left.pop()
        while left_calls and _has_ended(runtime, view, left_calls[-1]):
            left_calls.pop()
        return not (left or left_calls) or None

    own_ms = max((Spec.from_json(job.spec).grace_ms for job in pending), default=0)
    longest_ms = own_ms if grace_ms is None else grace_ms
    try:
        wait_until(runtime, look, longest_ms / 1000 + PATIENCE_S, starts=bool(pending))
    except Cancelled:
        raise Cancelled("no longer waiting; the jobs were asked to end") from None


def _told(runtime: Runtime, found: list[Job], asked: Mapping[str, Outcome]) -> tuple[JobCancelled, ...]:
    told = []
    with runtime.store.read() as view:
        for job in found:
            now = jobs.standing(view, job.id)
            state = now.state if now is not None else job.state
            outcome = asked[job.id]
            if outcome is Outcome.PENDING and state in FINAL:
                outcome = Outcome.CANCELLED if state is JobState.CANCELLED else Outcome.SUPERSEDED
            told.append(JobCancelled(id=job.id, state=state, outcome=outcome, title=job.title))
    return tuple(told)


def _has_ended(runtime: Runtime, view: sqlite3.Connection, id_: str) -> bool:
    future = rows.find(view, id_)
    return future is None or future.has_ended or not futures.lives(runtime, future)


def _told_call(runtime: Runtime, call: Future, asked: Mapping[str, Outcome]) -> CallCancelled:
    with runtime.store.read() as view:
        now = rows.find(view, call.id) or call
    now = futures.settled(runtime, now)
    outcome = asked.get(call.id, Outcome.SUPERSEDED)
    if outcome is Outcome.PENDING and now.has_ended:
        outcome = Outcome.CANCELLED if now.state is FutureState.CANCELLED else Outcome.SUPERSEDED
    return CallCancelled(id=now.id, state=now.state, outcome=outcome, operation=now.operation)


def _state(outcomes: set[Outcome], errors: tuple[JobFailure, ...]) -> State:
    if errors:
        return State.PARTIAL
    if Outcome.PENDING in outcomes:
        return State.PENDING
    return State.SUPERSEDED if outcomes == {Outcome.SUPERSEDED} else State.COMPLETED
