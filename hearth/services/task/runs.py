"""The outputs of a job's runs, wherever they are by now: in files while the program runs, then in artifacts."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import NamedTuple

from hearth import artifacts as contents
from hearth.engine.order import Sizes, order_of
from hearth.engine.outputs import Outputs
from hearth.engine.transcript import BodySource, FileSource, Printed, stored
from hearth.errors import ArtifactMissing, NotFound
from hearth.platforms.processes import Stream
from hearth.runtime import Runtime
from hearth.services.task.entry import no_job
from hearth.store import artifacts, jobs
from hearth.store.artifacts import Artifact
from hearth.store.jobs import FINAL, Attempt, Job, JobState

NOTHING = Printed(0, None, BodySource(-1))
_TRIES = 4  # a run may end, and its files go, between two looks


class Run(NamedTuple):
    """One run of a job, its outputs open. `grows`: the program may print more."""

    job: Job
    attempt: int
    outputs: dict[Stream, Printed]
    order: tuple[Sizes, ...]  # how much of both there was at one time after the other
    grows: bool


class _Place(NamedTuple):
    """Where a run's outputs are: with `end` what is known of it once it has ended, else in its files."""

    attempt: int
    end: Job | Attempt | None
    artifacts: dict[Stream, Artifact]


@contextmanager
def opened(runtime: Runtime, id_: str, attempt: int | None, streams: Sequence[Stream]) -> Iterator[Run]:
    """A run of a job, by default the newest one. Raises `NotFound`, and `ArtifactMissing` and `ArtifactDamaged` for
    what was kept of it."""
    with ExitStack() as stack:
        yield _opened(runtime, id_, attempt, streams, stack)


def _opened(runtime: Runtime, id_: str, attempt: int | None, streams: Sequence[Stream], stack: ExitStack) -> Run:
    for left in reversed(range(_TRIES)):
        with runtime.store.read() as view:
            job = jobs.find(view, id_)
            if job is None:
                raise no_job(id_)
            place = _place(view, job, attempt)
        with ExitStack() as own:
            outputs = {stream: _open(runtime, job, place, stream, own, may_fail=not left) for stream in streams}
            found = {stream: each for stream, each in outputs.items() if each is not None}
            if len(found) == len(streams):
                stack.push(own.pop_all())
                return Run(job, place.attempt, found, _order(runtime, job, place), grows=_grows(job, place))
    raise AssertionError("the last try answers or raises")


def _grows(job: Job, place: _Place) -> bool:
    return place.end is None and job.state not in FINAL


def _order(runtime: Runtime, job: Job, place: _Place) -> tuple[Sizes, ...]:
    if place.end is not None:
        return order_of(place.end.output_order)
    return Outputs.of(runtime, job, place.attempt).order.read() if place.attempt else ()


def _place(view: sqlite3.Connection, job: Job, attempt: int | None) -> _Place:
    wanted = job.attempt if attempt is None else attempt
    if wanted > job.attempt:
        raise NotFound(
            f"{job.id} has had {job.attempt} run{'' if job.attempt == 1 else 's'}, so there is no run {wanted}",
            id=job.id,
        )
    end: Job | Attempt | None = None
    if wanted < job.attempt or job.state not in (JobState.RUNNING, *FINAL):
        end = next((each for each in jobs.attempts(view, job.seq) if each.attempt == wanted), None)
    elif job.state in FINAL:
        end = job
    return _Place(wanted, end, _artifacts(view, end))


def _artifacts(view: sqlite3.Connection, end: Job | Attempt | None) -> dict[Stream, Artifact]:
    ids = {stream: getattr(end, f"{stream}_artifact", None) for stream in Stream}
    return {
        stream: found
        for stream, id_ in ids.items()
        if id_ is not None and (found := artifacts.find(view, id_)) is not None
    }


def _open(
    runtime: Runtime, job: Job, place: _Place, stream: Stream, stack: ExitStack, *, may_fail: bool
) -> Printed | None:
    """An output; None where it was not where it ought to be, unless there is no other try."""
    printed = getattr(place.end, f"{stream}_bytes", None)
    if artifact := place.artifacts.get(stream):
        return stored(stack.enter_context(contents.opened(runtime, artifact)), artifact.size, printed or 0, artifact.id)
    if place.attempt == 0 or (place.end is not None and not printed) or (job.merged and stream is Stream.STDERR):
        return NOTHING
    outputs = Outputs.of(runtime, job, place.attempt)
    try:
        descriptor = outputs.descriptor(stream)
    except OSError:
        if not may_fail:
            return None
        if place.end is None:  # it is claimed, and nothing of it is there yet
            return NOTHING
        raise ArtifactMissing(f"{stream} of {job.id}, run {place.attempt}, is no longer kept", id=job.id) from None
    stack.callback(os.close, descriptor)
    return FileSource(outputs, stream, descriptor).now()
