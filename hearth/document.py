"""Answers as plain JSON values: the one shape that every surface answers in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hearth.plain import plain

if TYPE_CHECKING:
    from hearth.answers import Answer

VERSION = 1


def document(answer: Answer) -> dict[str, Any]:
    """`{"version", "state", <fields of the result>}`, and `error` after a failure."""
    made: dict[str, Any] = {"version": VERSION, "state": answer.state.value}
    if answer.result is not None:
        made |= plain(answer.result)
        made["state"] = answer.state.value
    if answer.error is not None:
        made["error"] = plain(answer.error.document())
    return made
