"""The one door: every call of every edge comes through here."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from hearth import catalog
from hearth.answers import Answer
from hearth.errors import HearthError, InternalError, SystemRefused
from hearth.model import State, model
from hearth.operation import Effect, Family, Operation, types_of
from hearth.runtime import Runtime


def call(runtime: Runtime, dotted: str, given: Any) -> Answer:
    """Run `family.operation` on an input model that was already checked."""
    family, row = catalog.find(dotted)
    return run(runtime, family, row, given)


def call_json(runtime: Runtime, dotted: str, value: Any) -> Answer:
    """Check a JSON value as the input of `family.operation`, then run it."""
    from hearth import check

    try:
        family, row = catalog.find(dotted)
        given: Any = check.validate(types_of(family.load(row.target))[0], value)
    except HearthError as error:
        return Answer(dotted, error.state, error=error)
    except Exception as error:  # in a batch the other calls go on
        return Answer(dotted, State.FAILED, error=_internal(runtime, error))
    return run(runtime, family, row, given)


def run(
    runtime: Runtime, family: Family, row: Operation, given: Any, function: Callable[..., Any] | None = None
) -> Answer:
    """Run a row; whatever happens, there is an answer and an event."""
    started = runtime.clock.monotonic()
    answer = _outcome(runtime, f"{family.name}.{row.name}", function or family.load(row.target), given)
    duration_ms = round((runtime.clock.monotonic() - started) * 1000)
    answer = dataclasses.replace(answer, duration_ms=duration_ms)
    _log(runtime, answer)
    if not row.storeless:
        record(runtime, row, given, answer)
    return answer


def _log(runtime: Runtime, answer: Answer) -> None:
    error = answer.error
    if error is None:
        runtime.log.debug(f"{answer.operation}: {answer.state} in {answer.duration_ms} ms")
    else:
        write = runtime.log.warning if isinstance(error, InternalError) else runtime.log.info
        write(f"{answer.operation}: {error.code} in {answer.duration_ms} ms: {error.message}")


def _outcome(runtime: Runtime, name: str, function: Callable[..., Any], given: Any) -> Answer:
    try:
        result = function(runtime, given)
    except BrokenPipeError:
        raise  # the reader of our own output went away; the edge ends quietly
    except HearthError as error:
        return Answer(name, error.state, error=error)
    except MemoryError:
        return Answer(name, State.BLOCKED, error=SystemRefused("the machine ran out of memory"))
    except Exception as error:
        return Answer(name, State.FAILED, error=_internal(runtime, error))
    return Answer(name, result.state, result=result)


def _internal(runtime: Runtime, error: Exception) -> InternalError:
    from hearth.crash import internal

    return internal(runtime.data_dir, error)


def run_stream(runtime: Runtime, family: Family, row: Operation, given: Any, show: Callable[[Any], None]) -> Answer:
    """Run a row's streaming form: `show` gets each piece as it comes, the answer holds no result."""

    def drain(runtime: Runtime, given: Any) -> Any:
        for piece in family.load(row.stream)(runtime, given):
            show(piece)
        return Streamed()

    return run(runtime, family, row, given, drain)


@model
class Streamed:
    """What remains of a stream whose pieces were shown."""

    state: State = State.COMPLETED


def record(runtime: Runtime, row: Operation, given: Any, answer: Answer) -> None:
    """Keep an event of the call. A read never waits for it, and no call fails because of it."""
    from hearth import event_log

    is_read = row.effect is Effect.READ
    try:
        event_log.record(runtime, given, answer, is_read=is_read)
    except HearthError as error:
        told = answer.error is not None and answer.error.message == error.message
        if not is_read and not told:
            runtime.notice(f"hearth: the event of this call was not stored: {error.message}")


Runtime.door = staticmethod(call_json)
