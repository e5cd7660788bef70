"""machine.env: which variables programs get."""

from __future__ import annotations

from typing import Annotated

from hearth import secrets
from hearth.errors import NotFound
from hearth.model import Cli, Help, Items, Len, State, model
from hearth.runtime import Runtime, environment
from hearth.services.machine.start import given_variables
from hearth.variables import EnvPolicy


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
class VariableMissing:
    name: Annotated[str, Help("The name that was asked for.")]
    code: Annotated[str, Help("What is wrong: not_found.")]
    message: Annotated[str, Help("What is wrong, in a sentence.")]


@model
class VariableList:
    state: State = State.COMPLETED
    variables: Annotated[
        tuple[Variable, ...], Items(columns=("name", "value", "withheld")), Help("The variables, by name.")
    ]
    errors: Annotated[tuple[VariableMissing, ...], Help("Names that no variable has under this policy.")] = ()


def show_variables(runtime: Runtime, given: ShowVariables) -> VariableList:
    """The variables that exec would give a program under a policy, and those that it would withhold. Raises `NotFound`
    where only one was asked for and it is not there; of several the answer tells which."""
    found = given_variables(runtime, given.env_policy, {})
    inherited = environment()
    there = sorted({*found.values, *found.withheld})
    asked = {_folded(runtime, name): name for name in given.names}
    names = [name for name in there if not asked or _folded(runtime, name) in asked]
    missing = [asked[key] for key in asked.keys() - {_folded(runtime, name) for name in names}]
    if missing and len(asked) == 1:
        raise NotFound(_absent(missing[0]))
    return VariableList(
        state=State.PARTIAL if missing else State.COMPLETED,
        variables=tuple(
            Variable(
                name=name,
                value=secrets.redact_value(name, inherited[name]) if given.values else None,
                withheld=name in found.withheld,
            )
            for name in names
        ),
        errors=tuple(VariableMissing(name=name, code=NotFound.code, message=_absent(name)) for name in sorted(missing)),
    )


def _folded(runtime: Runtime, name: str) -> str:
    return name.upper() if runtime.host.name == "windows" else name


def _absent(name: str) -> str:
    return f"programs get no variable {name!r}"
