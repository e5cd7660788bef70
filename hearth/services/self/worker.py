"""hearth worker: look after jobs."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated

from hearth.engine import presence
from hearth.engine.leases import Kind
from hearth.engine.worker import Worker
from hearth.errors import DatabaseGone, HearthError
from hearth.model import Ge, Help, Le, State, model
from hearth.runtime import Runtime


@model
class Work:
    idle_exit_ms: Annotated[
        int | None, Ge(0), Le(86_400_000), Help("End after so long without anything to do; never by default.")
    ] = None
    background: Annotated[
        bool, Help("End after worker.idle_exit_s without anything to do; other commands start one so.")
    ] = False


@model
class Worked:
    state: State = State.COMPLETED
    worker: Annotated[str, Help("The worker's id.")]
    handed_over: Annotated[bool, Help("Whether jobs run on, looked after by another worker.")]


def work(runtime: Runtime, given: Work) -> Worked:
    """Look after jobs until a signal comes, or there was nothing to do for long. Programs that run then run on. What is
    left goes to a worker in the background, unless it was that which was ended."""
    idle_exit_ms = given.idle_exit_ms
    if given.background and idle_exit_ms is None:
        idle_exit_ms = runtime.settings.worker.idle_exit_s * 1000
    worker = Worker(runtime, Kind.BACKGROUND if given.background else Kind.FOREGROUND, idle_exit_ms=idle_exit_ms)
    handed_over = False
    if not given.background:
        runtime.notice(f"hearth: looking after the jobs of {runtime.data_dir}, until Ctrl-C")

    def hand_over() -> bool:
        nonlocal handed_over
        # Who ends one that nobody sees means it, such as a system that shuts down.
        is_meant = given.background and runtime.cancelled.is_set()
        handed_over = not is_meant and presence.hand_over(runtime)
        return handed_over

    try:
        worker.run(runtime.cancelled, hand_over=hand_over)
    except DatabaseGone:
        with suppress(HearthError, OSError):  # the next command that needs a worker starts one
            presence.hand_on(runtime, worker.id)
        raise
    return Worked(worker=worker.id, handed_over=handed_over)
