"""Calls about schedules, at a time that a test sets."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from hearth import dispatch
from hearth.errors import HearthError
from hearth.runtime import Runtime
from tests.clocks import SetClock

Call = Callable[..., Any]
PROGRAM = {"command": sys.executable, "args": ["-S", "-E", "-c", ""]}


def set_clock(runtime: Runtime, at: str = "2026-06-15T12:00:00.000Z") -> SetClock:
    """A clock for the runtime and for the calls that it is used in."""
    made = SetClock(at)
    runtime.clock = made
    return made


def call(runtime: Runtime, verb: str, /, **values: Any) -> Any:
    """The result of a call as JSON makes it. Raises what it is refused with."""
    answer = dispatch.call_json(runtime, f"task.{verb}", values)
    if answer.error is not None:
        raise answer.error
    return answer.result


def schedule(runtime: Runtime, name: str = "nightly", **values: Any) -> Any:
    """A schedule that no worker is started for; what is told about it."""
    when = {} if values.keys() & {"cron", "every_ms"} else {"cron": "30 2 * * *", "zone": "Europe/Berlin"}
    return call(runtime, "schedule", name=name, start=False, **{**PROGRAM, **when, **values}).schedule


def problems(error: pytest.ExceptionInfo[HearthError]) -> list[tuple[str, str]]:
    return [(each["field"], each["code"]) for each in error.value.details["problems"]]
