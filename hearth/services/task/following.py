"""Showing what a job prints, as it comes."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from hearth.engine import presence
from hearth.engine.outputs import Outputs
from hearth.engine.transcript import FileSource, Moved, Printed, alone, pieces
from hearth.engine.waiting import SLOW_LOOK_S
from hearth.platforms.processes import Stream
from hearth.runtime import Runtime
from hearth.services.task import outcome
from hearth.services.task.entry import entries, no_job, stands
from hearth.services.task.passing import pass_on
from hearth.services.task.runs import opened
from hearth.store import jobs
from hearth.store.jobs import FINAL, Job, JobState

if TYPE_CHECKING:
    from hearth.platforms.bells import Bell
    from hearth.platforms.folder_watch import FolderWatch

LOOK_S = 0.1  # between two looks at files where nothing tells that they grew
REST_S = 0.01  # after a look, so that a program that prints all the time costs little


def follow(
    runtime: Runtime,
    id_: str,
    *,
    timeout_ms: int | None,
    streams: Sequence[Stream] = tuple(Stream),
    tail: int | None = None,
    as_one: bool = False,
    starts: bool = True,
) -> outcome.Over:
    """Pass outputs on, of this run and those that follow it, until the job has ended; what became of it. `tail`:
    begin at the last lines; `as_one`: both outputs go to stdout; `starts`: there is a worker meanwhile. Ctrl-C ends the
    following and not the job. Raises `NotFound`, `ArtifactMissing`, and `BrokenPipeError` when nobody reads on."""
    deadline = None if timeout_ms is None else time.monotonic() + timeout_ms / 1000
    with ExitStack() as stack:
        bell = stack.enter_context(contextlib.closing(runtime.host.make_bell(runtime.bells)))
        followed = stack.enter_context(contextlib.closing(_Followed(runtime, id_, streams, tail, as_one=as_one)))
        stack.enter_context(runtime.cancelled.calls(lambda: _ring(runtime)))
        while True:
            bell.clear()
            job = followed.look()
            is_late = deadline is not None and time.monotonic() >= deadline
            if job.state in FINAL or is_late or runtime.cancelled.is_set():
                return _over(runtime, job)
            if starts:
                presence.ensure_worker(runtime, ring=False)
            followed.wait(bell, SLOW_LOOK_S if deadline is None else min(SLOW_LOOK_S, deadline - time.monotonic()))


def _over(runtime: Runtime, job: Job) -> outcome.Over:
    with runtime.store.read() as view:
        over = outcome.Over(entries(view, [job]), ran_out=job.state not in FINAL)
    if over.ran_out:
        runtime.notice(f"hearth: {job.id} is {job.state} still; `hearth task cancel {job.id}` ends it")
    elif job.state is not JobState.COMPLETED:
        why = over.jobs[0].message
        runtime.notice(f"hearth: {job.id} {stands(job.state)}" + (f": {why}" if why else ""))
    return over


class _Followed:
    """A job, and how much of its run was passed on."""

    def __init__(
        self, runtime: Runtime, id_: str, streams: Sequence[Stream], tail: int | None, *, as_one: bool
    ) -> None:
        self._runtime = runtime
        self._id = id_
        self._streams = streams
        self._tail = tail
        self._as_one = as_one
        self._first: int | None = None  # the run that the following began with
        self._over = 0  # the newest run of which all was passed on
        self._mark: str | None = None  # of the run whose files are open
        self._at = dict.fromkeys(streams, 0)
        self._files: dict[Stream, FileSource] = {}
        self._watch: FolderWatch | None = None
        self._open = ExitStack()

    def look(self) -> Job:
        """Pass on what there is; the job."""
        with self._runtime.store.read() as view:
            job = jobs.find(view, self._id)
        if job is None:
            raise no_job(self._id)
        if self._first is None:
            self._first = max(job.attempt, 1)
            self._over = self._first - 1
        for attempt in range(self._over + 1, job.attempt + 1):
            if attempt < job.attempt or job.state is not JobState.RUNNING:
                self._finish(attempt)
            elif job.pid is not None:
                self._go_on(job)
        self._tail = None
        return job

    def _go_on(self, job: Job) -> None:
        """Pass on what the program has printed since."""
        if job.mark != self._mark:
            self.close()
            self._at = dict.fromkeys(self._streams, 0)  # a run that was taken back had printed nothing
            try:
                self._begin(job)
            except OSError:  # it has ended just now, which the next look will see
                self.close()
                return
            self._announce(job.attempt)
        self.grow()

    def _begin(self, job: Job) -> None:
        outputs = Outputs.of(self._runtime, job)
        self._watch = self._runtime.host.watch_folder(outputs.folder)
        self._open.callback(self._watch.close)
        for stream in self._streams:
            if not (job.merged and stream is Stream.STDERR):
                descriptor = outputs.descriptor(stream)
                self._open.callback(os.close, descriptor)
                self._files[stream] = FileSource(outputs, stream, descriptor)
        self._mark = job.mark

    def grow(self) -> None:
        for stream, file in self._files.items():
            self._pass_on(stream, file.now())

    def _finish(self, attempt: int) -> None:
        """Pass on the rest of a run that has ended."""
        if self._mark is None:
            self._announce(attempt)
        self.close()
        with opened(self._runtime, self._id, attempt, self._streams) as run:
            for stream, printed in run.outputs.items():
                self._pass_on(stream, printed)
        if not self._runtime.cancelled.is_set():
            self._over = attempt
            self._at = dict.fromkeys(self._streams, 0)

    def _announce(self, attempt: int) -> None:
        if self._first is not None and attempt > self._first:
            self._runtime.notice(f"hearth: run {attempt} of {self._id}")

    def _pass_on(self, stream: Stream, printed: Printed) -> None:
        if self._tail is not None:
            self._at[stream] = _start_of_tail(self._runtime, stream, printed, self._tail)
        for piece in pieces(stream, printed, self._at[stream]):
            if missing := piece.at - self._at[stream]:
                self._runtime.notice(f"hearth: {missing:,} bytes of {stream} are not kept")
            self._at[stream] = piece.at
            self._at[stream] += pass_on(self._runtime, piece, as_one=self._as_one)
            if self._at[stream] < piece.at + piece.length:
                return

    def wait(self, bell: Bell, seconds: float) -> None:
        """Pass on what comes, until the bell rings or the time is over."""
        host, until = self._runtime.host, time.monotonic() + seconds
        waitable = self._watch.waitable if self._watch else None
        while (left := until - time.monotonic()) > 0:
            is_told = waitable is not None or not self._files
            ready = host.wait_any([bell.waitable, *([] if waitable is None else [waitable])],
                                  left if is_told else min(left, LOOK_S))  # fmt: skip
            if bell.waitable in ready:
                return
            if self._watch is not None:
                self._watch.clear()
            self.grow()
            if host.wait_any([bell.waitable], min(REST_S, left)):
                return

    def close(self) -> None:
        self._open.close()
        self._files.clear()
        self._watch = self._mark = None


def _start_of_tail(runtime: Runtime, stream: Stream, printed: Printed, tail: int) -> int:
    from hearth.services.task.log_part import Asked, Reading, indices

    transcript = alone(stream, printed)
    try:
        part = indices(transcript, Asked(tail=tail), Reading(None, None, runtime.cancelled), None)
    except Moved:
        return printed.gap.end if printed.gap else printed.size
    return transcript.offset_of(part.start)


def _ring(runtime: Runtime) -> None:
    runtime.host.ring(runtime.bells)
