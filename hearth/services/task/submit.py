"""task.submit: queue programs to run."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from hearth.errors import InvalidInput, Problem, invalid
from hearth.model import Cli, Ge, Help, Hidden, Items, Le, Len, PathName, State, model
from hearth.runtime import Runtime
from hearth.services.task import outcome
from hearth.services.task.entry import JobEntry
from hearth.services.task.job_input import LONGEST_MS, JobFields, JobInput
from hearth.services.task.staff import Worker, see_to
from hearth.store.jobs import JobState


@model
class SubmitJobs(JobFields):
    jobs: Annotated[tuple[JobInput, ...], Len(0, 64), Help("Or several jobs, which may depend on each other.")] = ()
    file: Annotated[
        str | None,
        PathName(),
        Cli(only=True),
        Help("Or a file of jobs: [[jobs]] tables of TOML, or JSON of the same form, or a JSON list of jobs."),
    ] = None
    allow_missing: Annotated[bool, Help("Let jobs depend on ids that do not exist yet.")] = False
    start: Annotated[bool, Cli(only=True), Help("Start a worker in the background if there is none.")] = True
    wait: Annotated[bool, Help("Answer only once the jobs have ended.")] = False
    wait_timeout_ms: Annotated[
        int | None, Ge(1), Le(LONGEST_MS), Help("How long to wait at most; for ever at the shell, else 30 s.")
    ] = None
    follow: Annotated[
        bool, Cli(names=("-f",), only=True), Help("At the shell: show what the job prints as it comes.")
    ] = False
    exit_code: Annotated[
        bool, Cli(only=True), Help("With --wait or --follow: end with the one job's own exit status.")
    ] = False

    @property
    def is_live(self) -> bool:
        """Whether outputs are passed on instead of an answer."""
        return self.follow


@model
class JobQueued:
    """A job that was accepted."""

    id: Annotated[str, Help("What the other operations take.")]
    state: Annotated[JobState, Help("Where it stands.")]
    title: Annotated[str, Help("Its command, secrets taken out.")]
    deduplicated: Annotated[bool, Help("Whether an earlier call with this key had made it.")] = False
    message: Annotated[str | None, Help("With `wait`: why it did not complete.")] = None


@model
class JobsQueued:
    state: Annotated[State, Help("Pending; with `wait` what became of the jobs.")] = State.COMPLETED
    jobs: Annotated[
        tuple[JobQueued, ...],
        Items(columns=("id", "state", "title", "message")),
        Help("The jobs, in the order of the call."),
    ]
    worker: Annotated[Worker, Help("Who will run them.")]
    ended: Annotated[tuple[JobEntry, ...], Hidden(), Help("With `wait`: the jobs as they ended.")] = ()
    status: Annotated[int, Hidden(), Help("What a shell that waited ends with.")] = 0

    @property
    def exit_status(self) -> int:
        return self.status


def submit(runtime: Runtime, given: SubmitJobs) -> JobsQueued:
    """Accept jobs, all of them or none; they survive a power cut from then on. Raises `InvalidInput` with every
    problem, `Conflict` for a key that was used for something else, `SecretRefused`, and what `containment.locate`
    raises about a `cwd`."""
    from hearth.services.task.accept import accept

    _check(given)
    asked = _asked(runtime, given)
    if (given.follow or given.exit_code) and len(asked) != 1:
        raise invalid("follow", "not_one", "one job can be followed, not several")
    queued = accept(runtime, asked, allow_missing=given.allow_missing)
    worker = see_to(runtime, start=given.start, groups={each.group for each in asked})
    if not (given.wait or given.follow):
        return JobsQueued(state=State.PENDING, jobs=queued, worker=worker)
    timeout_ms = given.wait_timeout_ms
    if given.follow and runtime.live is not None:
        from hearth.services.task.following import follow

        over = follow(runtime, queued[0].id, timeout_ms=timeout_ms, starts=given.start)
    else:
        over = outcome.wait_for(runtime, [each.id for each in queued], timeout_ms, starts=given.start)
    ended = {job.id: job for job in over.jobs}
    return JobsQueued(
        state=over.state,
        jobs=tuple(_standing(each, ended.get(each.id)) for each in queued),
        worker=worker,
        ended=over.jobs,
        status=over.status(own=given.exit_code),
    )


def _check(given: SubmitJobs) -> None:
    if given.wait or given.follow:
        return
    alone = {"exit_code": given.exit_code, "wait_timeout_ms": given.wait_timeout_ms is not None}
    problems = [Problem(name, "not_alone", "goes with wait or follow") for name, said in alone.items() if said]
    if problems:
        raise InvalidInput(*problems)


def _standing(queued: JobQueued, job: JobEntry | None) -> JobQueued:
    return queued if job is None else replace(queued, state=job.state, message=job.message)


def _asked(runtime: Runtime, given: SubmitJobs) -> tuple[JobFields, ...]:
    ways = [given.command is not None, bool(given.jobs), given.file is not None]
    if sum(ways) != 1:
        raise invalid("command", "not_one_of", "give a command, or jobs, or a file of jobs")
    if given.command is None:
        _refuse_shared(given)
    if given.jobs:
        return given.jobs
    if given.file is not None:
        from hearth.services.task.job_file import read

        asked: tuple[JobFields, ...] = read(runtime, given.file)
        return asked
    return (given,)


def _refuse_shared(given: SubmitJobs) -> None:
    """What is said beside a list of jobs would hold for none of them."""
    usual = JobFields()
    said = [name for name in JobFields.__dataclass_fields__ if getattr(given, name) != getattr(usual, name)]
    if said:
        raise InvalidInput(*(Problem(name, "not_both", "goes with a command; say it of each job") for name in said))
