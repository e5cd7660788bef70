"""A worker that kills itself at the n-th step of its work: `dying_worker.py N FOLDER`.

What it asks of the database, of its programs, of its files and of the bells counts, before and after it happened.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hearth.engine.leases import Kind
from hearth.engine.outputs import Outputs
from hearth.engine.worker import Worker
from hearth.runtime import Runtime
from hearth.store.blobs import Blobs
from hearth.store.database import Store
from tests.acceptance.dying import Countdown, open_runtime


def arm(countdown: Countdown, runtime: Runtime) -> None:
    if sys.platform == "win32":
        from hearth.platforms.windows_detached import WindowsDetached as Program
    else:
        from hearth.platforms.posix_detached import PosixDetached as Program

    acts: list[tuple[type, str]] = [
        (type(runtime.detacher), "launch"),
        (type(runtime.detacher), "find"),
        (Program, "release"),
        (Program, "close"),
        (Outputs, "make_folder"),
        (Outputs, "remove"),
        (Blobs, "store"),
        (type(runtime.host), "ring"),
    ]
    for owner, name in acts:
        setattr(owner, name, countdown.around(getattr(owner, name)))
    transaction = Store.write

    @contextlib.contextmanager
    def write(self: Store, **options: Any) -> Iterator[Any]:
        countdown.step()
        with transaction(self, **options) as tx:
            yield tx
            countdown.step()
        countdown.step()

    Store.write = write  # type: ignore[method-assign]


def main(steps: int, folder: Path) -> None:
    runtime = open_runtime(folder)
    with runtime.store.read():
        """Open before anything counts."""
    arm(Countdown(steps), runtime)
    Worker(runtime, Kind.BACKGROUND, idle_exit_ms=0).run(runtime.cancelled)
    runtime.close()


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
