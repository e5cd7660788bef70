"""Seeing to it that somebody runs what a call has asked for."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from hearth.engine import presence
from hearth.runtime import Runtime
from hearth.store import job_groups


class Worker(StrEnum):
    """Who will run the jobs."""

    LIVING = "living"  # one that was there
    STARTED = "started"  # one that was started in the background
    NONE = "none"  # nobody before one is started


def see_to(runtime: Runtime, *, start: bool, groups: Iterable[str] = ()) -> Worker:
    """Ring the workers; if there is none, start one in the background, or say that nobody is there. Say it as well
    where one of the `groups` is paused."""
    _tell_paused(runtime, groups)
    if start:
        try:
            return Worker.STARTED if presence.ensure_worker(runtime) else Worker.LIVING
        except OSError as error:  # what was to be stored is stored
            runtime.notice(f"hearth: no worker could be started: {error.strerror}")
    runtime.host.ring(runtime.bells)
    return present(runtime, told=True)


def _tell_paused(runtime: Runtime, groups: Iterable[str]) -> None:
    with runtime.store.read() as view:
        paused = job_groups.paused(view)
    for name in sorted(paused.intersection(groups)):
        runtime.notice(f"hearth: the group {name} is paused; `hearth task resume {name}` lets its jobs start")


def present(runtime: Runtime, *, told: bool) -> Worker:
    """Whether a worker is there; if not, that may be `told`."""
    if presence.workers(runtime):
        return Worker.LIVING
    if told:
        runtime.notice("hearth: no worker is there to run it; `hearth worker` is one")
    return Worker.NONE
