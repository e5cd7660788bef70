"""From the words of a call to something that can be started: program, directory, environment, input."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, NamedTuple

from hearth import identifiers
from hearth.containment import Place
from hearth.errors import NotDirectory, Unsupported, invalid
from hearth.platforms.base import Kind
from hearth.platforms.processes import Launch
from hearth.runtime import Runtime, environment
from hearth.variables import MARK, EnvPolicy, Variables, check_names, variables

if TYPE_CHECKING:
    from hearth.services.machine.exec import RunProgram


class Start(NamedTuple):
    """What is about to be started, and how the answer calls it."""

    launch: Launch
    cwd: str
    withheld: tuple[str, ...]


@contextmanager
def prepared(runtime: Runtime, given: RunProgram) -> Iterator[Start]:
    """Everything that a start needs, found and open; let go of once the block ends."""
    check_names(given.env)
    _check_words(given)
    _check_limits(runtime, given)
    with ExitStack() as stack:
        place = stack.enter_context(_directory(runtime, given))
        directory = place.open_directory()
        stack.callback(directory.close)
        found = given_variables(runtime, given.env_policy, given.env)
        program = runtime.host.find_program(given.command, found.values, directory.path)
        mark = identifiers.new("prg", runtime.clock.now_ms())
        marks = " ".join(each for each in (found.values.get(MARK), mark) if each)
        launch = Launch(
            program,
            (given.command, *given.args),
            runtime.host.start_directory(directory),
            {**found.values, "PWD": directory.path, MARK: marks},
            _stdin(runtime, given, stack),
            given.cpu_seconds,
            given.memory_bytes,
            mark,
        )
        yield Start(launch, directory.path, found.withheld)


def _check_words(given: RunProgram) -> None:
    for index, word in enumerate(given.args):
        if "\0" in word:
            raise invalid(f"args.{index}", "wrong_form", "a word cannot hold a NUL character")


def _check_limits(runtime: Runtime, given: RunProgram) -> None:
    if given.memory_bytes is not None and runtime.host.name == "macos":
        raise Unsupported("macOS does not limit the memory of a program")


def _directory(runtime: Runtime, given: RunProgram) -> Place:
    """The directory to start in. A program may write, so it starts where hearth may."""
    place = runtime.containment.working_directory(given.cwd)
    try:
        if place.found.kind is not Kind.DIRECTORY:
            raise NotDirectory(f"{place.path} is not a directory", path=place.path)
    except BaseException:
        place.close()
        raise
    return place


def given_variables(runtime: Runtime, policy: EnvPolicy, named: Mapping[str, str]) -> Variables:
    """The environment of a program of this call."""
    return variables(
        policy,
        environment(),
        named,
        allowed=runtime.settings.machine.env_allow,
        windows=runtime.host.name == "windows",
    )


def _stdin(runtime: Runtime, given: RunProgram, stack: ExitStack) -> int | None:
    """A descriptor that the program reads; None where its input is empty."""
    if given.stdin is not None and given.stdin_from is not None:
        raise invalid("stdin_from", "not_both", "stdin and stdin_from exclude each other")
    if given.stdin_from is not None:
        with runtime.containment.locate(given.stdin_from) as place:
            descriptor = place.open_file()
        stack.callback(os.close, descriptor)
        return descriptor
    if given.stdin is None:
        return None
    if given.stdin == "-" and runtime.stdin is not None:
        return _own_input(runtime, stack)
    return _scratch(given.stdin.encode("utf-8", "surrogateescape"), stack)


def _own_input(runtime: Runtime, stack: ExitStack) -> int:
    assert runtime.stdin is not None
    try:
        return runtime.stdin.fileno()
    except (OSError, ValueError):  # not a file of the system
        return _scratch(runtime.stdin.read(), stack)


def _scratch(data: bytes, stack: ExitStack) -> int:
    """A file that is gone with the block: unlike a pipe it never has to be fed while outputs are read."""
    import tempfile

    file = stack.enter_context(tempfile.TemporaryFile())  # noqa: SIM115
    file.write(data)
    file.seek(0)
    return file.fileno()
