"""task.wait: wait for jobs, and tell by the exit status how they ended."""

from __future__ import annotations

from typing import Annotated

from hearth.errors import invalid
from hearth.model import Cli, Ge, Help, Hidden, Items, Le, State, model
from hearth.runtime import Runtime, environment
from hearth.services.task import outcome
from hearth.services.task.entry import JobEntry
from hearth.services.task.future_entry import FutureEntry
from hearth.services.task.job_input import LONGEST_MS
from hearth.services.task.outcome import Until
from hearth.services.task.selection import JobFailure, JobsNamed, Selection, select
from hearth.settings import JOB_VARIABLE


@model
class WaitForJobs(JobsNamed):
    until_state: Annotated[
        Until,
        Cli(names=("--until",)),
        Help("What to wait for: any end, the start, or one way to end, which then is what success means."),
    ] = Until.ENDED
    any: Annotated[bool, Help("The first of them is enough.")] = False
    timeout_ms: Annotated[
        int | None, Ge(0), Le(LONGEST_MS), Help("How long to wait at most; for ever at the shell, else 30 s.")
    ] = None
    exit_code: Annotated[bool, Cli(only=True), Help("End with the one job's own exit status.")] = False


@model
class JobsWaitedFor:
    state: Annotated[State, Help("Pending: the wait ran out. Else what became of the jobs.")] = State.COMPLETED
    jobs: Annotated[
        tuple[JobEntry, ...],
        Items(columns=("id", "state", "title", "ran_ms", "exit_code", "message")),
        Help("The jobs as they are now."),
    ]
    futures: Annotated[tuple[FutureEntry, ...], Help("The calls over MCP among them, with their answers.")] = ()
    errors: Annotated[tuple[JobFailure, ...], Help("Those that are not there.")] = ()
    status: Annotated[int, Hidden(), Help("What a shell ends with.")] = 0

    @property
    def exit_status(self) -> int:
        return self.status


def wait(runtime: Runtime, given: WaitForJobs) -> JobsWaitedFor:
    """Wait for all of the jobs or the first; with labels also for those that have ended. Raises `NotFound` when the
    only one is not there, `Cancelled`, `InvalidInput`."""
    with runtime.store.read() as view:
        selection = _without_itself(select(runtime, view, given, ended=True), given)
    if given.exit_code and len(selection.jobs) != 1:
        raise invalid("exit_code", "not_one", "one job has an exit status of its own, not several")
    ids = [job.id for job in selection.jobs] + [call.id for call in selection.futures]
    over = outcome.wait_for(runtime, ids, given.timeout_ms, until=given.until_state, first=given.any)
    unknown = bool(selection.errors)
    return JobsWaitedFor(
        state=State.PARTIAL if unknown else over.state,
        jobs=over.jobs,
        futures=over.futures,
        errors=selection.errors,
        status=outcome.UNKNOWN if unknown else over.status(own=given.exit_code),
    )


def _without_itself(selection: Selection, given: WaitForJobs) -> Selection:
    """A job that waits for its group does not wait for itself."""
    own = environment().get(JOB_VARIABLE)
    if given.ids and given.until_state is not Until.STARTED and any(job.id == own for job in selection.jobs):
        raise invalid("ids", "cyclic", "a job cannot wait for its own end")
    return selection._replace(jobs=[job for job in selection.jobs if job.id != own])
