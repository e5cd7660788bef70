"""machine.env: which variables programs get."""

from __future__ import annotations

from typing import Annotated

from hearth import secrets
from hearth.model import Cli, Help, Items, Len, State, model
from hearth.runtime import Runtime, environment
from hearth.services.machine.start import given_variables
from hearth.services.machine.variables import EnvPolicy


@model
class ShowVariables:
    names: Annotated[
        tuple[Annotated[str, Len(1, 32_768)], ...],
        Cli(argument=True, metavar="NAME"),
        Len(0, 1_000),
        Help("Only these."),
    ] = ()
    env_policy: Annotated[EnvPolicy, Help("The policy, as of exec.")] = EnvPolicy.INHERIT
    values: Annotated[bool, Help("Tell values too; never a secret's.")] = False


@model
class Variable:
    name: Annotated[str, Help("Its name.")]
    value: Annotated[str | None, Help("Its value, secrets taken out; null where it was not asked for.")]
    withheld: Annotated[bool, Help("Whether programs do not get it because it looks like a secret.")]


@model
class VariableList:
    state: State = State.COMPLETED
    variables: Annotated[
        tuple[Variable, ...], Items(columns=("name", "value", "withheld")), Help("The variables, by name.")
    ]


def show_variables(runtime: Runtime, given: ShowVariables) -> VariableList:
    """The variables that exec would give a program under a policy, and those that it would withhold."""
    found = given_variables(runtime, given.env_policy, {})
    inherited = environment()
    names = sorted({*found.values, *found.withheld})
    return VariableList(
        variables=tuple(
            Variable(
                name=name,
                value=secrets.redact_value(name, inherited[name]) if given.values else None,
                withheld=name in found.withheld,
            )
            for name in names
            if not given.names or name in given.names
        )
    )
