"""What this machine is and has."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

from hearth.clock import timestamp
from hearth.model import Help, State, model
from hearth.runtime import Runtime, environment

T = TypeVar("T")

MOVING_S, LASTING_S = 1.0, 30.0  # how old a fact may be that changes all the time, and one that rarely does


@model
class HostInfo:
    pass


@model
class Processors:
    model: Annotated[str | None, Help("What the maker calls it.")]
    logical: Annotated[int | None, Help("How many the system counts.")]
    physical: Annotated[int | None, Help("How many cores there are.")]
    usable: Annotated[int | None, Help("How many this process may use.")]
    load: Annotated[float | None, Help("Programs that ran or waited, on average over a minute; not on Windows.")]


@model
class Memory:
    total_bytes: Annotated[int, Help("All of it.")]
    available_bytes: Annotated[int, Help("What programs can get without swapping.")]
    limit_bytes: Annotated[int | None, Help("What a container lets its processes use, where that is less.")]


@model
class Disk:
    path: Annotated[str, Help("Where it is seen.")]
    file_system: Annotated[str | None, Help("Its kind.")]
    total_bytes: Annotated[int, Help("All of it.")]
    free_bytes: Annotated[int, Help("What this user can still fill.")]
    read_only: Annotated[bool, Help("Whether it can only be read.")]


@model
class Display:
    name: Annotated[str, Help("What the system calls it.")]
    width: Annotated[int | None, Help("Pixels.")]
    height: Annotated[int | None, Help("Pixels.")]


@model
class Machine:
    """A part that cannot be found is null, and `unknown` says why."""

    state: State = State.COMPLETED
    hostname: Annotated[str | None, Help("The machine's name.")]
    system: Annotated[str, Help("Either linux, macos or windows.")]
    release: Annotated[str | None, Help("The system's name and version as people know them.")]
    kernel: Annotated[str | None, Help("The kernel's version.")]
    architecture: Annotated[str | None, Help("The machine's architecture.")]
    hearth: Annotated[str, Help("The version of hearth.")]
    python: Annotated[str, Help("The version of Python.")]
    python_path: Annotated[str, Help("Where Python is.")]
    pid: Annotated[int, Help("The process that answers.")]
    user: Annotated[str | None, Help("Who runs it.")]
    elevated: Annotated[bool | None, Help("Whether it may do what an administrator may.")]
    container: Annotated[str | None, Help("The kind of container around it, if any.")]
    time_zone: Annotated[str | None, Help("The IANA name of the zone.")]
    booted_at: Annotated[str | None, Help("When the machine started.")]
    processors: Annotated[Processors | None, Help("Its processors.")]
    memory: Annotated[Memory | None, Help("Its memory.")]
    disks: Annotated[tuple[Disk, ...] | None, Help("Its local disks, and what the roots lie on.")]
    displays: Annotated[tuple[Display, ...] | None, Help("Its screens; none where nobody could see one.")]
    shells: Annotated[tuple[str, ...] | None, Help("The shells that are installed, the user's own first.")]
    unknown: Annotated[dict[str, str], Help("Why a part is null, by its name.")]


class _Known:
    """What a process that lives long found out a moment ago."""

    def __init__(self) -> None:
        self._found: dict[str, tuple[float, Any]] = {}

    def get(self, name: str, find: Callable[[], T], now: float, seconds: float) -> T:
        """What was found within the last `seconds`, else what `find` finds now."""
        at, value = self._found.get(name, (0.0, None))
        if name not in self._found or now - at >= seconds:
            at, value = self._found[name] = now, find()
        found: T = value
        return found

    def close(self) -> None:
        """Nothing is held."""


class _Asked:
    """Asks for one fact after another; one that cannot be had takes none of the others along."""

    def __init__(self, runtime: Runtime) -> None:
        self.unknown: dict[str, str] = {}
        self._known: _Known = runtime.opener.keep("host facts", _Known)
        self._now = runtime.clock.monotonic()

    def __call__(self, name: str, find: Callable[[], T], *, seconds: float = 0.0) -> T | None:
        """What `find` finds, or found within the last `seconds`; None where it cannot be had."""
        try:
            return self._known.get(name, find, self._now, seconds)
        except Exception as error:  # psutil, drivers and odd machines raise whatever they like
            self.unknown[name] = str(error) or type(error).__name__
            return None


def host_info(runtime: Runtime, given: HostInfo) -> Machine:  # noqa: ARG001
    """Starts no program and asks no network, so that it is quick on every machine. For one process the numbers are a
    second old at most, and what rarely changes half a minute."""
    from hearth import __version__

    facts, environ, ask = runtime.host.facts(), environment(), _Asked(runtime)
    places = (os.path.abspath(os.sep), *(root.path for root in runtime.roots))
    return Machine(
        hostname=ask("hostname", facts.hostname),
        system=runtime.host.name,
        release=ask("release", facts.release, seconds=LASTING_S),
        kernel=ask("kernel", facts.kernel),
        architecture=ask("architecture", facts.architecture),
        hearth=__version__,
        python=".".join(map(str, sys.version_info[:3])),
        python_path=sys.executable,
        pid=os.getpid(),
        user=ask("user", facts.user, seconds=LASTING_S),
        elevated=ask("elevated", facts.is_elevated),
        container=ask("container", facts.container, seconds=LASTING_S),
        time_zone=ask("time_zone", lambda: facts.time_zone(environ), seconds=LASTING_S),
        booted_at=ask("booted_at", lambda: timestamp(facts.booted_ms()), seconds=LASTING_S),
        processors=ask("processors", lambda: Processors(**facts.processors()._asdict()), seconds=MOVING_S),
        memory=ask(
            "memory", lambda: Memory(**_in_bytes(facts.memory(), "total", "available", "limit")), seconds=MOVING_S
        ),
        disks=ask(
            "disks",
            lambda: tuple(Disk(**_in_bytes(each, "total", "free")) for each in facts.disks(places)),
            seconds=MOVING_S,
        ),
        displays=ask(
            "displays", lambda: tuple(Display(**each._asdict()) for each in facts.displays(environ)), seconds=LASTING_S
        ),
        shells=ask("shells", lambda: tuple(facts.shells(environ)), seconds=LASTING_S),
        unknown=ask.unknown,
    )


def _in_bytes(found: Any, *names: str) -> dict[str, Any]:
    return {f"{name}_bytes" if name in names else name: value for name, value in found._asdict().items()}
