"""What is wrong with the settings."""

from __future__ import annotations

from typing import Annotated

from hearth.model import Help, Items, State, model
from hearth.runtime import Runtime
from hearth.services.self.configured import configuration


@model
class CheckSettings:
    pass


@model
class SettingProblem:
    where: Annotated[str, Help("The file or the variable.")]
    key: Annotated[str, Help("The key in it; empty where the whole file is meant.")]
    code: Annotated[str, Help("A stable word.")]
    message: Annotated[str, Help("What is wrong.")]


@model
class IgnoredSetting:
    where: Annotated[str, Help("The project's file.")]
    key: Annotated[str, Help("The key in it.")]


@model
class SettingReport:
    """`failed` when something is wrong; what is only left out is no failure."""

    state: State = State.COMPLETED
    problems: Annotated[
        tuple[SettingProblem, ...], Items(columns=("where", "key", "message")), Help("One row a problem.")
    ]
    ignored: Annotated[tuple[IgnoredSetting, ...], Help("What waits for `hearth config trust`.")]
    unknown_variables: Annotated[tuple[str, ...], Help("Variables named HEARTH_* that set nothing.")]


def check(runtime: Runtime, given: CheckSettings) -> SettingReport:  # noqa: ARG001
    """Never raises; problems are its result."""
    config = configuration(runtime)
    return SettingReport(
        state=State.FAILED if config.problems else State.COMPLETED,
        problems=tuple(
            SettingProblem(where=each.where, key=each.key, code=each.code, message=each.message)
            for each in config.problems
        ),
        ignored=tuple(IgnoredSetting(where=where, key=key) for where, key in config.ignored),
        unknown_variables=config.unknown_variables,
    )
