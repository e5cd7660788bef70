"""Say what is right and wrong here, and what to do about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated

from hearth.model import Help, Items, State, model
from hearth.runtime import Runtime
from hearth.services.self.checks import configured, data, jobs, machine
from hearth.services.self.checks.outcome import Finding, Health, fail

CHECKS: tuple[tuple[str, Callable[[Runtime], Iterator[Finding]]], ...] = (
    ("hearth", machine.python),
    ("settings", configured.settings),
    ("data_dir", data.data_directory),
    ("database", data.database),
    ("wal", data.write_ahead_log),
    ("sqlite", data.sqlite),
    ("free_space", data.free_space),
    ("jobs", jobs.look),
    ("job_retention", jobs.kept),
    ("job_outputs", jobs.holes),
    ("roots", configured.roots),
    ("path", machine.path),
    ("programs", machine.programs),
    ("encoding", machine.encoding),
    ("desktop", machine.desktop),
    ("time_zones", machine.time_zones),
    ("processes", machine.processes),
)


@model
class Diagnose:
    pass


@model
class Check:
    check: Annotated[str, Help("What was looked at.")]
    state: Annotated[Health, Help("How it is.")]
    message: Annotated[str, Help("What was found.")]
    hint: Annotated[str | None, Help("What to do.")] = None


@model
class Diagnosis:
    """`failed` when any check fails; a warning is no failure."""

    state: State = State.COMPLETED
    checks: Annotated[
        tuple[Check, ...], Items(columns=("state", "check", "message", "hint")), Help("One row a finding.")
    ]


def diagnose(runtime: Runtime, given: Diagnose) -> Diagnosis:  # noqa: ARG001
    """Never raises: a broken database or wrong settings are what it reports."""
    checks = tuple(
        Check(check=name, state=found.health, message=found.message, hint=found.hint)
        for name, look in CHECKS
        for found in _findings(runtime, look)
    )
    failed = any(each.state is Health.FAIL for each in checks)
    return Diagnosis(state=State.FAILED if failed else State.COMPLETED, checks=checks)


def _findings(runtime: Runtime, look: Callable[[Runtime], Iterator[Finding]]) -> list[Finding]:
    try:
        return list(look(runtime))
    except Exception as error:  # one check that breaks must not hide the others
        return [fail(f"could not be checked: {type(error).__name__}: {error}")]
