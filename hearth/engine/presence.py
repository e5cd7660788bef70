"""Seeing to it that somebody looks after the jobs: a worker that lives, or one that is started in the background."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from typing import TYPE_CHECKING

from hearth.engine import leases
from hearth.errors import Locked

if TYPE_CHECKING:
    from hearth.runtime import Runtime
    from hearth.store.workers import WorkerRow

STARTING_S = 30.0  # a worker that was started within this time, lives and has not signed on yet is about to
LOCK_MS = 5_000  # for others to start one
MARKER = "worker.starting"
LOG = "worker.log"

# Neither the current directory nor hearth's own package may come first: their names are not those of Python's modules.
_PROGRAM = "import sys; sys.path.append(sys.argv.pop(1)); from hearth.__main__ import main; sys.exit(main())"


def ensure_worker(runtime: Runtime, *, ring: bool = True) -> bool:
    """Ring the workers, and start one in the background if none lives; whether one was started. Raises
    `DatabaseError`, `OSError`."""
    if ring:
        runtime.host.ring(runtime.bells)
    return not _is_there(runtime) and _start_alone(runtime)


def _is_there(runtime: Runtime) -> bool:
    return bool(workers(runtime)) or is_starting(runtime)


def _start_alone(runtime: Runtime) -> bool:
    """Start a worker, unless another process does that at this very moment."""
    with contextlib.suppress(Locked), runtime.host.lock(f"{_marker(runtime)}.lock", LOCK_MS):
        if not _is_there(runtime):
            _start(runtime)
            return True
    return False


def workers(runtime: Runtime) -> list[WorkerRow]:
    """The workers that live."""
    with runtime.store.read() as view:
        return leases.living(runtime, view)


def usual_parallel(runtime: Runtime) -> int:
    """How many jobs of a group run at once, where it has no limit of its own."""
    return runtime.settings.worker.parallel or os.cpu_count() or 1


def hand_over(runtime: Runtime) -> bool:
    """After a worker has ended: see to it that somebody looks after what is left; whether there is something."""
    from hearth.store import job_queue

    with runtime.store.read() as view:
        idle = job_queue.is_idle(view)
    if not idle:
        ensure_worker(runtime)
    return not idle


def hand_on(runtime: Runtime, worker: str) -> None:
    """After the database was replaced under a worker: what is queued in the one that took its place is looked after,
    too. That may hold a row of this worker, which is about to end. Raises `HearthError`, `OSError`."""
    from hearth.runtime import StoreOpener
    from hearth.store import workers as rows
    from hearth.store.database import FILE_NAME

    if not os.path.exists(os.path.join(runtime.data_dir, FILE_NAME)):
        return
    with contextlib.closing(runtime.for_call(opener=StoreOpener())) as other:
        with other.store.write() as tx:
            rows.delete(tx, worker)
        hand_over(other)


def _marker(runtime: Runtime) -> str:
    return runtime.host.unbounded(os.path.join(runtime.data_dir, MARKER))


def is_starting(runtime: Runtime) -> bool:
    """Whether a process that was started not long ago, and lives, has not become a worker yet."""
    try:
        with open(_marker(runtime), encoding="ascii") as file:
            age = time.time() - os.fstat(file.fileno()).st_mtime
            pid, start = file.read().split()
    except (OSError, ValueError):
        return False
    return abs(age) < STARTING_S and runtime.host.process_start(int(pid)) == start


def signed_on(runtime: Runtime) -> None:
    """Tell that a worker that was started is one now."""
    # Who started it holds the lock until the marker is written.
    with contextlib.suppress(OSError, Locked), runtime.host.lock(f"{_marker(runtime)}.lock", LOCK_MS):
        os.remove(_marker(runtime))


def _start(runtime: Runtime) -> None:
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    words = [sys.executable, "-P", "-c", _PROGRAM, package, "worker", "--background", "--data-dir", runtime.data_dir]
    if runtime.config is not None and (file := runtime.config.flags.config):
        words += ["--config", os.path.abspath(file)]
    pid = runtime.host.start_background(words, _environment(runtime), os.path.join(runtime.data_dir, LOG))
    # Where it cannot be written, a second worker is started in vain, which does no harm.
    with contextlib.suppress(OSError), open(_marker(runtime), "w", encoding="ascii") as marker:
        marker.write(f"{pid} {runtime.host.process_start(pid) or 'gone'}\n")


def _environment(runtime: Runtime) -> dict[str, str]:
    """This process's, and the settings of workers as they are here: the worker stands in no project's folder. It is
    no part of a program of hearth that this process may belong to, and does not end with that."""
    from hearth.settings import JOB_VARIABLE
    from hearth.variables import MARK

    settings = runtime.settings.worker
    values = {f"HEARTH_WORKER_{name.upper()}": getattr(settings, name) for name in settings.__dataclass_fields__}
    inherited = {name: value for name, value in os.environ.items() if name not in (MARK, JOB_VARIABLE)}
    return {**inherited, **{name: str(value) for name, value in values.items()}}
