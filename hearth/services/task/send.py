"""task.send: text to the standard input of a job that runs."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from hearth.engine.outputs import Outputs
from hearth.engine.spec import Spec
from hearth.engine.waiting import wait_until
from hearth.errors import Conflict, InputClosed, WaitRanOut, invalid
from hearth.model import Cli, Content, Ge, Help, Le, Len, State, model
from hearth.runtime import Caller, Runtime
from hearth.services.task.entry import Id, find
from hearth.store import jobs
from hearth.store.jobs import FINAL, Job, JobState

if TYPE_CHECKING:
    from typing import BinaryIO

CHUNK_BYTES = 65_536
RAN_OUT = 5


@model
class SendText:
    id: Id
    text: Annotated[
        str | None,
        Cli(argument=True),
        Content(),
        Len(0, 1024 * 1024),
        Help("What to send; at the shell - passes on hearth's own standard input, as it comes."),
    ] = None
    newline: Annotated[
        bool | None, Help("End the text with a newline; by default a text at the shell, and nothing else.")
    ] = None
    eof: Annotated[bool, Help("Close the input afterwards, or without a text at once.")] = False
    wait_timeout_ms: Annotated[
        int, Ge(1), Le(600_000), Help("How long to wait for the job to start, and for its program to read.")
    ] = 10_000


@model
class TextSent:
    """What the program's input took. `partial`: it did not read all of it in time."""

    state: State = State.COMPLETED
    id: Annotated[str, Help("The job's whole id.")]
    attempt: Annotated[int, Help("The run that got it.")]
    sent_bytes: Annotated[int, Help("What was taken, in bytes, read or about to be read.")]
    closed: Annotated[bool, Help("Whether the program now reads the end of its input.")]

    @property
    def exit_status(self) -> int:
        return RAN_OUT if self.state is State.PARTIAL else 0


def send(runtime: Runtime, given: SendText) -> TextSent:
    """Write to the input of a job that was submitted with `open_stdin`. Raises `NotFound`, `InputClosed`, `Conflict`
    for a job that has ended, `WaitRanOut` for one that does not start in time, and `Cancelled`."""
    if given.text is None and not given.eof:
        raise invalid("text", "missing", "give a text, or eof")
    until = time.monotonic() + given.wait_timeout_ms / 1000
    job = _running(runtime, given.id, until)
    folder = Outputs.of(runtime, job).folder
    try:
        sent, whole = _send(runtime, given, folder, until)
        if given.eof and whole:
            runtime.detacher.close_stdin(folder)
    except InputClosed:
        _refuse_ended(runtime, job)
        raise
    state = State.COMPLETED if whole else State.PARTIAL
    return TextSent(state=state, id=job.id, attempt=job.attempt, sent_bytes=sent, closed=given.eof and whole)


def _running(runtime: Runtime, word: str, until: float) -> Job:
    with runtime.store.read() as view:
        job = find(runtime, view, word)
    if not Spec.from_json(job.spec).open_stdin:
        raise InputClosed(
            f"the standard input of {job.id} is not open", hint="submit it with open_stdin (--open-stdin)"
        )

    def look(view: sqlite3.Connection) -> Job | None:
        now = jobs.find(view, job.id)
        is_ready = now is None or now.state in FINAL or (now.state is JobState.RUNNING and now.pid is not None)
        return (now or job) if is_ready else None

    found = wait_until(runtime, look, max(0.0, until - time.monotonic()))
    if found is None:
        raise WaitRanOut(f"{job.id} has not started", id=job.id)
    if found.state is not JobState.RUNNING:
        raise _ended(found)
    return found


def _ended(job: Job) -> Conflict:
    return Conflict(f"{job.id} has ended: {job.state}", id=job.id, job_state=job.state.value)


def _refuse_ended(runtime: Runtime, job: Job) -> None:
    with runtime.store.read() as view:
        now = jobs.find(view, job.id)
    if now is not None and now.state in FINAL:
        raise _ended(now)


def _send(runtime: Runtime, given: SendText, folder: str, until: float) -> tuple[int, bool]:
    """How much was taken, and whether that is all."""
    sent = 0
    for data in _pieces(runtime, given):
        # Who types, or prints, on standard input takes the time that it takes.
        left = given.wait_timeout_ms / 1000 if _is_own_input(runtime, given) else max(0.0, until - time.monotonic())
        taken = runtime.detacher.send(folder, data, left)
        sent += taken
        if taken < len(data):
            return sent, False
    return sent, True


def _is_own_input(runtime: Runtime, given: SendText) -> bool:
    return given.text == "-" and runtime.caller is Caller.SHELL


def _pieces(runtime: Runtime, given: SendText) -> Iterator[bytes]:
    if _is_own_input(runtime, given):
        if runtime.stdin is None:
            raise invalid("text", "missing", "standard input is closed")
        yield from _read(runtime.stdin)
        end = bool(given.newline)
    else:
        end = runtime.caller is Caller.SHELL and given.text is not None if given.newline is None else given.newline
    data = b"" if _is_own_input(runtime, given) else (given.text or "").encode("utf-8", "surrogateescape")
    if data or end:
        yield data + b"\n" * end


def _read(file: BinaryIO) -> Iterator[bytes]:
    # Less at a time than is asked for, as it comes, where the file can do that.
    read = getattr(file, "read1", file.read)
    while data := read(CHUNK_BYTES):
        yield data
