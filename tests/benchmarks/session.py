"""Calls in this process, as a batch or a server makes them: one runtime, one store, no start-up."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hearth import catalog, dispatch
from hearth.containment import Root
from hearth.operation import types_of
from hearth.platforms.local import local_host
from hearth.runtime import Caller, Runtime
from hearth.settings import FsSettings, Settings
from tests.benchmarks.measure import Sample


@dataclass(frozen=True, slots=True)
class Session:
    """A runtime whose only root is `work`."""

    runtime: Runtime
    work: Path

    def call(self, operation: str, **given: Any) -> Any:
        """The result of a call. Raises what the call answered with."""
        family, row = catalog.find(operation)
        answer = dispatch.call(self.runtime, operation, types_of(family.load(row.target))[0](**given))
        if answer.error is not None:
            raise answer.error
        return answer.result

    def timed(self, operation: str, **given: Any) -> Sample:
        """One call, by wall clock and by this process's processor time."""
        family, row = catalog.find(operation)
        prepared = types_of(family.load(row.target))[0](**given)
        cpu, wall = time.process_time(), time.perf_counter()
        answer = dispatch.call(self.runtime, operation, prepared)
        sample = Sample((time.perf_counter() - wall) * 1000, (time.process_time() - cpu) * 1000)
        if answer.error is not None:
            raise answer.error
        return sample


@contextmanager
def session(folder: Path, *, sync: bool) -> Iterator[Session]:
    """A session with a data directory and a root of its own below `folder`."""
    work = folder / "work"
    work.mkdir(parents=True, exist_ok=True)
    runtime = Runtime(
        host=local_host(),
        settings=Settings(fs=FsSettings(sync=sync)),
        data_dir=str(folder / "data"),
        roots=(Root(str(work)),),
        base=str(work),
        caller=Caller.BATCH,
    )
    try:
        yield Session(runtime, work)
    finally:
        runtime.close()
