"""Seeing to it that somebody looks after the jobs: a worker that lives, or one that is started in the background."""

from __future__ import annotations

import os
import sys
import time
from typing import TYPE_CHECKING

from hearth.engine import leases
from hearth.variables import MARK

if TYPE_CHECKING:
    from hearth.runtime import Runtime
    from hearth.store.workers import WorkerRow

STARTING_S = 3.0  # a worker that was started within this time and has not signed on yet is about to
MARKER = "worker.starting"
LOG = "worker.log"

# Neither the current directory nor hearth's own package may come first: their names are not those of Python's modules.
_PROGRAM = "import sys; sys.path.append(sys.argv.pop(1)); from hearth.__main__ import main; sys.exit(main())"


def ensure_worker(runtime: Runtime, *, ring: bool = True) -> bool:
    """Ring the workers, and start one in the background if none lives; whether one was started. Raises
    `DatabaseError`, `OSError`."""
    if ring:
        runtime.host.ring(runtime.bells)
    if workers(runtime) or _is_starting(runtime):
        return False
    _start(runtime)
    return True


def workers(runtime: Runtime) -> list[WorkerRow]:
    """The workers that live."""
    with runtime.store.read() as view:
        return leases.living(runtime, view)


def usual_parallel(runtime: Runtime) -> int:
    """How many jobs of a group run at once, where it has no limit of its own."""
    return runtime.settings.worker.parallel or os.cpu_count() or 1


def hand_over(runtime: Runtime) -> bool:
    """After a worker has ended: see to it that somebody looks after what is left; whether there is something."""
    from hearth.store import jobs

    with runtime.store.read() as view:
        idle = jobs.is_idle(view)
    if not idle:
        ensure_worker(runtime)
    return not idle


def _marker(runtime: Runtime) -> str:
    return os.path.join(runtime.data_dir, MARKER)


def _is_starting(runtime: Runtime) -> bool:
    try:
        age = time.time() - os.stat(_marker(runtime)).st_mtime
    except OSError:
        return False
    return 0 <= age < STARTING_S


def signed_on(runtime: Runtime) -> None:
    """Tell that a worker that was started is one now."""
    import contextlib

    with contextlib.suppress(OSError):
        os.remove(_marker(runtime))


def _start(runtime: Runtime) -> None:
    with open(_marker(runtime), "w", encoding="ascii"):
        """Its time says when the start was."""
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    words = [sys.executable, "-P", "-c", _PROGRAM, package, "worker", "--background", "--data-dir", runtime.data_dir]
    if runtime.config is not None and (file := runtime.config.flags.config):
        words += ["--config", os.path.abspath(file)]
    runtime.host.start_background(words, _environment(runtime), os.path.join(runtime.data_dir, LOG))


def _environment(runtime: Runtime) -> dict[str, str]:
    """This process's, and the settings of workers as they are here: the worker stands in no project's folder."""
    settings = runtime.settings.worker
    values = {f"HEARTH_WORKER_{name.upper()}": getattr(settings, name) for name in settings.__dataclass_fields__}
    # Without the mark of the program that this process may be a part of: its end is not the worker's.
    inherited = {name: value for name, value in os.environ.items() if name != MARK}
    return {**inherited, **{name: str(value) for name, value in values.items()}}
