"""task.logs: what a job printed, or prints."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Annotated, Any

from hearth.content import excerpt as excerpts
from hearth.content import text
from hearth.engine.transcript import Moved, Piece, Transcript, alone, together
from hearth.errors import Cancelled, Conflict, invalid
from hearth.model import Cli, Ge, Help, Hidden, Le, Len, State, model
from hearth.platforms.processes import Stream
from hearth.runtime import Runtime
from hearth.services.task import outcome
from hearth.services.task.entry import Id, find, stands
from hearth.services.task.job_input import LONGEST_MS
from hearth.services.task.log_part import Asked, LogFacts, LogPart, Reading, indices, log_part
from hearth.services.task.passing import pass_on
from hearth.services.task.runs import Run, opened
from hearth.store.jobs import FINAL, JobState

_TRIES = 5  # of reading a file whose middle is taken out meanwhile


class LogStream(StrEnum):
    """Which output to show."""

    STDOUT = "stdout"
    STDERR = "stderr"
    BOTH = "both"
    MERGED = "merged"  # both as one


class Order(StrEnum):
    """How well it is known in which order both outputs came."""

    EXACT = "exact"
    SEEN = "seen"  # as far as hearth saw them grow, so that neighbours may have changed places
    UNKNOWN = "unknown"  # stdout stands before stderr


STREAMS = {LogStream.STDOUT: (Stream.STDOUT,), LogStream.STDERR: (Stream.STDERR,)}


@model
class ReadLogs:
    id: Id
    stream: Annotated[LogStream, Help("Which output; both stay apart, merged are both as one.")] = LogStream.BOTH
    attempt: Annotated[int | None, Ge(1), Le(1_000_000), Help("An earlier run, from 1; else the newest.")] = None
    offset: Annotated[int | None, Ge(0), Help("Begin at this byte of what was printed, or at what follows it.")] = None
    limit: excerpts.MostBytes = None
    lines: excerpts.Lines = None
    head: excerpts.Head = None
    tail: excerpts.Tail = None
    encoding: Annotated[
        str | None, Len(1, 40), Help("How it writes, for an answer as text; else UTF-8 or the console's.")
    ] = None
    follow: Annotated[
        bool, Cli(names=("-f",)), Help("Show what comes until the job has ended; elsewhere than at the shell, wait.")
    ] = False
    exit_code: Annotated[bool, Cli(only=True), Help("With --follow: end with the job's own exit status.")] = False
    wait_timeout_ms: Annotated[
        int | None, Ge(1), Le(LONGEST_MS), Help("How long to follow at most; for ever at the shell, else 30 s.")
    ] = None


@model
class JobLogs:
    """What a run printed. `partial`: cut by a bound, or more follows behind an offset, a limit or what is missing."""

    state: State = State.COMPLETED
    id: Annotated[str, Help("The job's whole id.")]
    job_state: Annotated[JobState, Help("Where the job stands.")]
    attempt: Annotated[int, Help("Which run printed this; 0 where there was none yet.")]
    order: Annotated[Order | None, Help("How well the order of merged outputs is known.")] = None
    stdout: Annotated[str | None, Help("What it printed.")] = None
    stderr: Annotated[str | None, Help("What it printed about errors.")] = None
    merged: Annotated[str | None, Help("Both as one.")] = None
    stdout_facts: Annotated[LogFacts | None, Help("The facts about stdout.")] = None
    stderr_facts: Annotated[LogFacts | None, Help("The facts about stderr.")] = None
    merged_facts: Annotated[
        LogFacts | None,
        Help("The facts about merged. Offsets count both outputs; while it runs they may move, unless exact."),
    ] = None
    status: Annotated[int, Hidden(), Help("What a shell ends with.")] = 0

    @property
    def exit_status(self) -> int:
        return self.status


def logs(runtime: Runtime, given: ReadLogs) -> JobLogs:
    """At a shell the exact bytes go to its outputs. Raises `NotFound`, `ArtifactMissing`, `ArtifactDamaged`,
    `InvalidInput`, `Cancelled`."""
    _check(given)
    with runtime.store.read() as view:
        id_ = find(runtime, view, given.id).id
    if given.follow:
        return _follow(runtime, given, id_)
    return _answer(runtime, given, id_) if runtime.live is None else _show(runtime, given, id_)


def _check(given: ReadLogs) -> None:
    excerpts.refuse_contradictions(given)
    if given.encoding is not None:
        text.named(given.encoding)
    if given.exit_code and not given.follow:
        raise invalid("exit_code", "without", "only with follow there is an end to tell of")
    if given.follow and given.attempt is not None:
        raise invalid("attempt", "not_both", "an earlier run has ended, so it cannot be followed")
    if given.follow and _asked(given)._replace(tail=None) != Asked():
        raise invalid("follow", "not_both", "follow begins at the beginning, or with tail at the last lines")


def _asked(given: ReadLogs) -> Asked:
    return Asked(given.offset, given.limit, given.lines, given.head, given.tail)


def _reading(runtime: Runtime, given: ReadLogs) -> Reading:
    stated = text.named(given.encoding)[0] if given.encoding is not None else None
    return Reading(stated, runtime.host.output_encoding(), runtime.cancelled)


def _follow(runtime: Runtime, given: ReadLogs, id_: str) -> JobLogs:
    if runtime.live is None:
        over = outcome.wait_for(runtime, [id_], given.wait_timeout_ms)
        return _answer(runtime, given, id_, over)
    from hearth.services.task.following import follow

    streams = STREAMS.get(given.stream, tuple(Stream))
    over = follow(
        runtime,
        id_,
        timeout_ms=given.wait_timeout_ms,
        streams=streams,
        tail=given.tail,
        as_one=given.stream is LogStream.MERGED,
    )
    job = over.jobs[0]
    status = over.status(own=given.exit_code)
    return JobLogs(state=over.state, id=id_, job_state=job.state, attempt=job.attempt, status=status)


# As an answer.


def _answer(runtime: Runtime, given: ReadLogs, id_: str, over: outcome.Over | None = None) -> JobLogs:
    for _ in range(_TRIES):
        try:
            with opened(runtime, id_, given.attempt, STREAMS.get(given.stream, tuple(Stream))) as run:
                return _texts(runtime, given, run, over)
        except Moved:
            continue
    raise Conflict(f"{id_} prints too fast for this part of its output to be read", id=id_)


def _texts(runtime: Runtime, given: ReadLogs, run: Run, over: outcome.Over | None) -> JobLogs:
    reading, bound, asked = _reading(runtime, given), runtime.settings.max_output_bytes, _asked(given)
    parts: dict[str, LogPart] = {}
    order: Order | None = None
    if given.stream is LogStream.MERGED:
        transcript, order = _merged(run)
        parts["merged"] = log_part(transcript, asked, reading, bound, grows=run.grows)
    else:
        shared = min(bound // 2, run.outputs[Stream.STDERR].size) if len(run.outputs) > 1 else 0
        for stream, printed in run.outputs.items():
            left = bound - shared if stream is Stream.STDOUT else bound - _length(parts.get(Stream.STDOUT))
            parts[stream] = log_part(
                alone(stream, printed), asked, reading, left, grows=run.grows, artifact=printed.artifact
            )
    shown: dict[str, Any] = {str(name): part.text for name, part in parts.items()}
    shown |= {f"{name}_facts": part.facts for name, part in parts.items()}
    cut = any(part.cut for part in parts.values())
    state = State.PARTIAL if cut else State.COMPLETED
    return JobLogs(
        state=state if over is None or over.state is State.COMPLETED else over.state,
        id=run.job.id,
        job_state=run.job.state,
        attempt=run.attempt,
        order=order,
        status=over.status(own=given.exit_code) if over is not None else 0,
        **shown,
    )


def _length(part: LogPart | None) -> int:
    return part.facts.length if part is not None else 0


def _merged(run: Run) -> tuple[Transcript, Order]:
    found = together(run.outputs, run.order)
    if run.job.merged or not all(printed.size for printed in run.outputs.values()):
        return found, Order.EXACT
    return found, Order.SEEN if run.order else Order.UNKNOWN


# At a shell.


def _show(runtime: Runtime, given: ReadLogs, id_: str) -> JobLogs:
    with opened(runtime, id_, given.attempt, STREAMS.get(given.stream, tuple(Stream))) as run:
        _tell_why_nothing(runtime, run)
        for transcript, as_one in _transcripts(given, run):
            _pass_on(runtime, _pieces(runtime, given, transcript), as_one=as_one)
        return JobLogs(id=id_, job_state=run.job.state, attempt=run.attempt)


def _tell_why_nothing(runtime: Runtime, run: Run) -> None:
    job = run.job
    if job.state not in (JobState.RUNNING, JobState.COMPLETED) and not any(each.size for each in run.outputs.values()):
        why = f": {job.message}" if job.message and job.state in FINAL else ""
        runtime.notice(f"hearth: {job.id} {stands(job.state)} and printed nothing{why}")


def _transcripts(given: ReadLogs, run: Run) -> Iterable[tuple[Transcript, bool]]:
    if given.stream is LogStream.MERGED:
        return [(_merged(run)[0], True)]
    if given.stream is LogStream.BOTH and _asked(given) == Asked():
        return [(_merged(run)[0], False)]
    return [(alone(stream, printed), False) for stream, printed in run.outputs.items()]


def _pieces(runtime: Runtime, given: ReadLogs, transcript: Transcript) -> Iterable[Piece]:
    if _asked(given) == Asked():
        return transcript.pieces
    try:
        part = indices(transcript, _asked(given), _reading(runtime, given), None)
    except Moved:
        raise Conflict("this part of the output is not kept any more") from None
    return transcript.part(part.start, part.end)


def _pass_on(runtime: Runtime, parts: Iterable[Piece], *, as_one: bool) -> None:
    at: int | None = None
    for piece in parts:
        missing = piece.at - at if at is not None else 0
        at = piece.at
        if missing:
            runtime.notice(f"hearth: {missing:,} bytes of the middle are not kept")
        at += pass_on(runtime, piece, as_one=as_one)
        if runtime.cancelled.is_set():
            raise Cancelled("the call was cancelled")
