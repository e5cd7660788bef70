"""From a claimed job to a program that is held back."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from hearth import identifiers
from hearth.containment import translated
from hearth.engine.outputs import Outputs
from hearth.engine.spares import Spares
from hearth.engine.spec import Spec
from hearth.errors import Conflict, from_os
from hearth.platforms.detached import DetachedLaunch
from hearth.settings import JOB_VARIABLE
from hearth.variables import MARK, EnvPolicy, variables

if TYPE_CHECKING:
    from hearth.platforms.base import Directory
    from hearth.platforms.detached import Detached
    from hearth.runtime import Runtime


def new_mark(runtime: Runtime) -> str:
    return identifiers.new("prg", runtime.clock.now_ms())


def held_back(
    runtime: Runtime,
    job_id: str,
    spec: Spec,
    inherited: str,
    mark: str,
    outputs: Outputs,
    spares: Spares,
) -> Detached:
    """The job's program, which has not started yet. Raises `HearthError`: the program or its directory is not to be
    had, the disk is full."""
    found = _variables(runtime, spec, inherited)
    with _directory(runtime, spec.cwd) as directory, translated(spec.command):
        program = runtime.host.find_program(spec.command, found, directory.path)
        if not spares.give(outputs.folder):
            outputs.make_folder()
        launch = DetachedLaunch(
            program=program,
            words=(spec.command, *spec.args),
            directory=runtime.host.start_directory(directory),
            environment=found,
            own={"PWD": directory.path, MARK: mark, JOB_VARIABLE: job_id},
            folder=outputs.folder,
            stdin=None if spec.stdin is None else spec.stdin.encode("utf-8", "surrogateescape"),
            open_stdin=spec.open_stdin,
            merge=spec.merge,
            cpu_seconds=spec.cpu_seconds,
            memory_bytes=spec.memory_bytes,
            mark=mark,
        )
        return runtime.detacher.launch(launch)


def _variables(runtime: Runtime, spec: Spec, inherited: str) -> Mapping[str, str]:
    """What was inherited when the job was submitted, and what the job names. Of the worker's own only what
    `machine.env_allow` names: such variables may be secrets, so that they are in no database."""
    allowed = ((name, os.environ[name]) for name in runtime.settings.machine.env_allow if name in os.environ)
    merged = _merged(tuple(allowed), inherited)
    if not spec.env:
        return merged
    return variables(EnvPolicy.INHERIT, merged, spec.env, allowed=merged, windows=runtime.host.name == "windows").values


@lru_cache(maxsize=8)
def _merged(allowed: tuple[tuple[str, str], ...], inherited: str) -> Mapping[str, str]:
    """The same object for the same variables, by which a detacher knows those that it has met before."""
    return {**dict(allowed), **json.loads(inherited)}


@contextlib.contextmanager
def _directory(runtime: Runtime, path: str) -> Iterator[Directory]:
    """The directory that was checked when the job was submitted. Raises `Conflict` when its name leads elsewhere."""
    try:
        directory = runtime.host.open_root(path)
    except OSError as error:
        raise from_os(error, path) from error
    with contextlib.closing(directory):
        if os.path.normcase(runtime.host.real_path(path)) != os.path.normcase(path):
            raise Conflict(f"{path} leads elsewhere than when the job was submitted", path=path)
        yield directory
