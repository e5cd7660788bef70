"""What dead workers left: programs that run on, that ended unseen, or that never started."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from hearth.engine.outputs import Outputs
from hearth.engine.running import LOST, UNKNOWN, Ended, Ending, ended
from hearth.platforms.detached import Detached, Record
from hearth.store import workers
from hearth.store.jobs import Job, JobState

if TYPE_CHECKING:
    from hearth.platforms.process_table import Held
    from hearth.runtime import Runtime


def found(runtime: Runtime, job: Job, outputs: Outputs) -> Detached | Ended:
    """The program of a job that another worker claimed, or what became of it. When this returns, nothing runs that
    could not be adopted."""
    if job.pid is None or job.pid_start is None:
        return _not_yet(job)
    record = Record(job.pid, job.pid_start, job.boot or "", outputs.folder, job.mark or "")
    trace = runtime.detacher.find(record)
    if trace.process is not None:
        return trace.process
    if not trace.started:
        return _not_yet(job)
    ending = Ending(job.ending) if job.ending else None
    if trace.exit is None and ending is None:
        return Ended(job, JobState.LOST, UNKNOWN, "exit_unknown", _why_lost(runtime, job), outputs)
    return ended(job, outputs, trace.exit or UNKNOWN, ending)


def _why_lost(runtime: Runtime, job: Job) -> str:
    if job.boot != runtime.host.boot_id():
        return "the machine was started anew while it ran"
    return LOST


def _not_yet(job: Job) -> Ended:
    """A job goes back to the queue as if it had never been claimed, unless it was cancelled meanwhile."""
    return Ended(job, JobState.CANCELLED if job.ending == Ending.CANCEL else JobState.QUEUED)


class Peers:
    """The other workers, held so that the end of one is seen at once."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._held: dict[str, Held] = {}

    @property
    def waitables(self) -> list[int]:
        """Ready once one of them has ended."""
        return [held.waitable for held in self._held.values() if held.waitable is not None]

    def has_ended(self) -> bool:
        """Whether one of them has."""
        return any(held.wait(0) for held in self._held.values())

    def look(self, me: str) -> None:
        """Hold those that there are now, and no others. Raises `DatabaseError`."""
        with self._runtime.store.read() as view:
            rows = {row.id: row for row in workers.all_of(view) if row.id != me}
        for id_ in self._held.keys() - rows.keys():
            self._held.pop(id_).close()
        for id_, row in rows.items():
            if id_ not in self._held:
                with contextlib.suppress(OSError):
                    self._held[id_] = self._runtime.host.process_table().hold(row.pid)

    def close(self) -> None:
        for held in self._held.values():
            held.close()
        self._held.clear()
