"""machine.which: which file a program's name means, as exec would find it."""

from __future__ import annotations

from typing import Annotated

from hearth.errors import HearthError
from hearth.model import Cli, Help, Items, Len, PathName, State, model
from hearth.runtime import Runtime, environment


@model
class FindPrograms:
    names: Annotated[
        tuple[Annotated[str, Len(1, 4_096)], ...],
        Cli(argument=True, metavar="NAME"),
        Len(1, 64),
        Help("Names of programs, or paths to them."),
    ]


@model
class Program:
    name: Annotated[str, Help("The name that was asked for.")]
    path: Annotated[str, PathName(), Help("The file that it means.")]


@model
class ProgramMissing:
    name: Annotated[str, Help("The name that was asked for.")]
    code: Annotated[str, Help("What is wrong: program_not_found or not_executable.")]
    message: Annotated[str, Help("What is wrong, in a sentence that lists what was searched.")]


@model
class ProgramList:
    state: State = State.COMPLETED
    programs: Annotated[tuple[Program, ...], Items(columns=("name", "path")), Help("What was found.")]
    errors: Annotated[tuple[ProgramMissing, ...], Help("What was not.")] = ()


def find_programs(runtime: Runtime, given: FindPrograms) -> ProgramList:
    """The files that programs' names mean. Raises `ProgramNotFound` or `NotExecutable` where only one was asked for
    and it is not there; of several the answer tells which."""
    found, missing = [], []
    for name in given.names:
        try:
            found.append(Program(name=name, path=runtime.host.find_program(name, environment(), runtime.base)))
        except HearthError as error:
            if len(given.names) == 1:
                raise
            missing.append(ProgramMissing(name=name, code=error.code, message=error.message))
    state = State.PARTIAL if missing else State.COMPLETED
    return ProgramList(state=state, programs=tuple(found), errors=tuple(missing))
