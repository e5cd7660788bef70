"""machine.batch: several programs at once."""

from __future__ import annotations

import threading
from typing import Annotated

from hearth import secrets
from hearth.cancellation import Cancellation
from hearth.errors import Cancelled, HearthError
from hearth.model import Cli, Help, Hidden, Items, Len, State, model
from hearth.runtime import Runtime
from hearth.services.machine.exec import ProgramEnded, RunProgram, run_bounded


@model
class RunPrograms:
    commands: Annotated[
        tuple[RunProgram, ...],
        Cli(argument=True, metavar="COMMAND"),
        Len(1, 16),
        Help("Programs, each as the input of exec; at the shell also as words in quotes."),
    ]
    fail_fast: Annotated[bool, Help("End the others as soon as one has failed.")] = False


@model
class BatchedProgram:
    index: Annotated[int, Help("Its place in the call, from 0.")]
    command: Annotated[str, Help("Its words, secrets taken out.")]
    state: Annotated[State, Help("What became of it.")]
    exit_code: Annotated[int | None, Help("Its exit code; null when a signal ended it, or it never ran.")] = None
    result: Annotated[ProgramEnded | None, Hidden(), Help("What exec answers; null where it did not run.")] = None


@model
class BatchError:
    index: Annotated[int, Help("The place of the program that failed.")]
    code: Annotated[str, Help("Why: exit_code, signal, timed_out, or an error's code.")]
    message: Annotated[str, Help("Why, in a sentence.")]


@model
class ProgramsEnded:
    state: State = State.COMPLETED
    results: Annotated[
        tuple[BatchedProgram, ...],
        Items(columns=("index", "state", "exit_code", "command")),
        Help("What became of each, in the order of the call."),
    ]
    errors: Annotated[tuple[BatchError, ...], Help("What failed.")] = ()


def run_programs(runtime: Runtime, given: RunPrograms) -> ProgramsEnded:
    """Run up to 16 programs at once and wait for all. `partial` when some failed, `failed` when all did; what could
    not be started counts as failed. Raises `Cancelled` when the call is taken back."""
    stop = Cancellation()
    batch = _Batch(runtime.for_call(cancelled=stop, live=None), given, stop)

    def pass_on() -> None:
        (stop.interrupt if runtime.cancelled.by_interrupt else stop.set)()

    with runtime.cancelled.calls(pass_on):
        batch.run()
    if runtime.cancelled.is_set():
        raise Cancelled("the call was cancelled; its programs were ended")
    return batch.answer()


class _Batch:
    """The programs of one call, a thread each."""

    def __init__(self, runtime: Runtime, given: RunPrograms, stop: Cancellation) -> None:
        self._runtime = runtime
        self._given = given
        self._stop = stop
        self._inline_bytes = runtime.settings.max_output_bytes // len(given.commands)
        self._outcomes: list[ProgramEnded | HearthError | None] = [None] * len(given.commands)
        self._bug: Exception | None = None

    def run(self) -> None:
        threads = [
            threading.Thread(target=self._one, args=(index,), name=f"program-{index}")
            for index in range(len(self._given.commands))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(0.5)  # on Windows a wait without a limit could not be interrupted
        if self._bug is not None:
            raise self._bug

    def _one(self, index: int) -> None:
        try:
            self._outcomes[index] = outcome = self._outcome(self._given.commands[index])
        except Exception as error:
            self._bug = error
            self._stop.set()
            return
        if self._given.fail_fast and self._state(outcome) not in (State.COMPLETED, State.PARTIAL):
            self._stop.set()

    def _outcome(self, command: RunProgram) -> ProgramEnded | HearthError:
        try:
            return run_bounded(self._runtime, command, inline_bytes=self._inline_bytes)
        except HearthError as error:
            return error

    @staticmethod
    def _state(outcome: ProgramEnded | HearthError | None) -> State:
        assert outcome is not None
        return outcome.state

    def answer(self) -> ProgramsEnded:
        results = tuple(self._result(index) for index in range(len(self._outcomes)))
        errors = tuple(error for index in range(len(self._outcomes)) if (error := self._error(index)) is not None)
        state = State.COMPLETED
        if errors:
            state = State.FAILED if len(errors) == len(results) else State.PARTIAL
        elif any(each.state is State.PARTIAL for each in results):
            state = State.PARTIAL
        return ProgramsEnded(state=state, results=results, errors=errors)

    def _result(self, index: int) -> BatchedProgram:
        command, outcome = self._given.commands[index], self._outcomes[index]
        ended = outcome if isinstance(outcome, ProgramEnded) else None
        return BatchedProgram(
            index=index,
            command=" ".join(secrets.redact_command((command.command, *command.args)))[:200],
            state=self._state(outcome),
            exit_code=ended.exit_code if ended else None,
            result=ended,
        )

    def _error(self, index: int) -> BatchError | None:
        outcome = self._outcomes[index]
        if isinstance(outcome, HearthError):
            return BatchError(index=index, code=outcome.code, message=outcome.message)
        assert outcome is not None
        if outcome.state in (State.COMPLETED, State.PARTIAL):
            return None
        code, message = _why(outcome)
        return BatchError(index=index, code=code, message=message)


def _why(ended: ProgramEnded) -> tuple[str, str]:
    if ended.state is State.CANCELLED:
        return "cancelled", "it was ended because another one had failed"
    if ended.timed_out:
        return "timed_out", "its time limit ran out"
    if ended.signal is not None:
        return "signal", f"signal {ended.signal} ended it"
    return "exit_code", f"it ended with {ended.exit_code}"
