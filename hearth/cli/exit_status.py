"""What a call's outcome is to a shell."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hearth.model import State

if TYPE_CHECKING:
    from hearth.answers import Answer
    from hearth.errors import HearthError

_BY_STATE = {
    State.COMPLETED: 0,
    State.PENDING: 0,
    State.PARTIAL: 0,
    State.FAILED: 1,
    State.BLOCKED: 1,
    State.CONFLICT: 3,
    State.CANCELLED: 6,
    State.SUPERSEDED: 6,
}

EXEC = "machine.exec"  # it ends as its program does
_BY_CODE = {"program_not_found": 127, "not_executable": 126, "arguments_too_long": 126, "unsafe_argument": 126}


MEANINGS = (
    (0, "completed; pending when no wait was asked for; partial because a page, budget or size ended"),
    (1, "failed, blocked, or partial because an item failed"),
    (2, "the words or the input are wrong"),
    (3, "conflict: it is not what was expected, or was changed meanwhile"),
    (4, "not found"),
    (5, "a wait that was asked for ran out"),
    (6, "cancelled, also a job that was waited for, or superseded"),
    (20, "waits for an approval"),
    (70, "a bug in hearth; the message names the file with the traceback"),
    (124, "a time limit of the whole call ran out, or that of the job that was waited for"),
    (125, "`machine exec`, which else ends as its program does: hearth itself failed"),
    (126, "`machine exec`: the program cannot be run"),
    (127, "`machine exec`: the program was not found"),
    (130, "Ctrl-C"),
    (143, "SIGTERM, or Ctrl-Break on Windows"),
)


def exit_status(answer: Answer) -> int:
    """The exit status of an answer; an error's own one goes first."""
    if answer.error is not None:
        return _of_start(answer.error) if answer.operation == EXEC else answer.error.exit_status
    own = getattr(answer.result, "exit_status", None)
    if own is not None:
        return int(own)
    if answer.state is State.PARTIAL and _failed_items(answer):
        return 1  # an item failed; a page or budget that ended is no failure
    return _BY_STATE[answer.state]


def _of_start(error: HearthError) -> int:
    """What a program that was not run is to a shell, as `env`, `timeout` and `nohup` tell it."""
    return error.exit_status if error.exit_status == 2 else _BY_CODE.get(error.code, 125)


def _failed_items(answer: Answer) -> bool:
    return bool(getattr(answer.result, "errors", None))
