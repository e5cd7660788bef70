"""A process that changes files and kills itself at the n-th step that could leave a trace.

`dying.py N FOLDER`, the calls on standard input.

Every call that reaches the disk through the host, a directory or the database counts, before and after it happened.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from hearth import dispatch
from hearth.containment import Root
from hearth.platforms.local import local_host
from hearth.runtime import Runtime
from hearth.settings import FsSettings, HardLinks, Settings
from hearth.store.database import Store

KILL = 9
ACTS = ("create_file", "make_directory", "make_link", "rename", "remove_file", "remove_directory", "set_mode", "sync")


class Countdown:
    """Kills the process when it reaches zero."""

    def __init__(self, steps: int) -> None:
        self.left = steps
        self._lock = threading.Lock()

    def step(self) -> None:
        with self._lock:
            self.left -= 1
            if self.left == 0:
                os.kill(os.getpid(), KILL)

    def around(self, act: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*args: Any, **options: Any) -> Any:
            self.step()
            result = act(*args, **options)
            self.step()
            return result

        return counted


def arm(countdown: Countdown, runtime: Runtime) -> None:
    directory = type(runtime.host.open_root(runtime.base))
    for name in ACTS:
        setattr(directory, name, countdown.around(getattr(directory, name)))
    for name in ("copy_metadata", "sync_file"):
        setattr(runtime.host, name, countdown.around(getattr(runtime.host, name)))
    for name in ("write", "ftruncate"):
        setattr(os, name, countdown.around(getattr(os, name)))
    transaction = Store.write

    @contextlib.contextmanager
    def write(self: Store, **options: Any) -> Iterator[Any]:
        countdown.step()
        with transaction(self, **options) as tx:
            yield tx
            countdown.step()
        countdown.step()

    Store.write = write  # type: ignore[method-assign]


def open_runtime(folder: Path, *, in_place: bool = False, sync: bool = True) -> Runtime:
    links = HardLinks.IN_PLACE if in_place else HardLinks.REPORT
    return Runtime(
        host=local_host(),
        settings=Settings(fs=FsSettings(hard_links=links, sync=sync)),
        data_dir=str(folder / "data"),
        roots=(Root(str(folder / "work")),),
        base=str(folder / "work"),
    )


def main(steps: int, calls: list[list[Any]], folder: Path) -> None:
    runtime = open_runtime(folder, in_place=True)
    countdown = Countdown(0)
    arm(countdown, runtime)
    for operation, given in calls[:-1]:
        assert dispatch.call_json(runtime, operation, given).error is None
    countdown.left = steps
    operation, given = calls[-1]
    answer = dispatch.call_json(runtime, operation, given)
    countdown.left = 0
    assert answer.error is None, answer.error
    runtime.close()


if __name__ == "__main__":
    main(int(sys.argv[1]), json.load(sys.stdin), Path(sys.argv[2]))
