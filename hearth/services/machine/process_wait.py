"""Wait until a process ends, or a port listens or closes."""

from __future__ import annotations

from contextlib import closing
from enum import StrEnum
from typing import Annotated

from hearth.errors import Cancelled, WaitRanOut, from_os, invalid
from hearth.model import Cli, Ge, Help, Le, Len, State, model
from hearth.platforms.process_table import ProcessTable
from hearth.runtime import Caller, Runtime
from hearth.services.machine.ending import wait_for_end
from hearth.services.machine.process_facts import MAX_PID, meant_ms, same_start

USUAL_TIMEOUT_MS = 30_000
LOOPBACK = ("127.0.0.1", "::1")
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 0.25  # seconds between two looks at a port, for which systems offer no wait
CONNECT_SECONDS = 0.25


class Until(StrEnum):
    """What a port is waited for."""

    LISTENS = "listens"
    CLOSES = "closes"


@model
class WaitForProcess:
    pid: Annotated[int | None, Ge(1), Le(MAX_PID), Cli(argument=True), Help("The process whose end to wait for.")] = (
        None
    )
    started_at: Annotated[
        str | None, Len(1, 64), Help("The process that started then; another one with its number counts as its end.")
    ] = None
    port: Annotated[int | None, Ge(1), Le(65_535), Help("The TCP port to wait for, in place of a process.")] = None
    address: Annotated[
        str | None, Len(1, 255), Cli(names=("--host",)), Help("Where the port is; this machine by default.")
    ] = None
    until: Annotated[Until, Help("What the port must do.")] = Until.LISTENS
    timeout_ms: Annotated[
        int | None, Ge(1), Le(86_400_000), Help("How long to wait at most; 30 s in one answer, for ever at the shell.")
    ] = None


@model
class WaitOver:
    """What was waited for has happened."""

    state: State = State.COMPLETED
    pid: Annotated[int | None, Help("The process that ended.")] = None
    port: Annotated[int | None, Help("The port.")] = None
    address: Annotated[str | None, Help("Where the port listens.")] = None
    at_once: Annotated[bool, Help("Whether it was so from the start.")]
    waited_ms: Annotated[int, Help("How long it took.")]


def wait(runtime: Runtime, given: WaitForProcess) -> WaitOver:
    """Raises `WaitRanOut`, `Cancelled`, `InvalidInput`, `PermissionDenied`."""
    if (given.pid is None) is (given.port is None):
        raise invalid("pid", "not_one_of", "give either the number of a process or a port")
    begun = runtime.clock.monotonic()
    table = runtime.host.process_table()
    seconds = _seconds(runtime, given)
    at_once, address = _end(runtime, table, given, seconds) if given.pid else _port(runtime, table, given, seconds)
    waited_ms = round((runtime.clock.monotonic() - begun) * 1000)
    return WaitOver(pid=given.pid, port=given.port, address=address, at_once=at_once, waited_ms=waited_ms)


def _seconds(runtime: Runtime, given: WaitForProcess) -> float | None:
    usual = None if runtime.caller is Caller.SHELL else USUAL_TIMEOUT_MS
    found = given.timeout_ms or usual
    return None if found is None else found / 1000


def _end(
    runtime: Runtime, table: ProcessTable, given: WaitForProcess, seconds: float | None
) -> tuple[bool, str | None]:
    assert given.pid is not None
    meant = meant_ms(given.started_at)
    try:
        held = table.hold(given.pid)
    except ProcessLookupError:
        return True, None
    except OSError as error:
        raise from_os(error, f"process {given.pid}") from error
    with closing(held):
        if held.wait(0) or (meant is not None and not same_start(held.started_ms, meant)):
            return True, None
        if not wait_for_end(runtime, held, seconds):
            raise WaitRanOut(f"process {given.pid} still runs", pid=given.pid)
    return False, None


def _port(
    runtime: Runtime, table: ProcessTable, given: WaitForProcess, seconds: float | None
) -> tuple[bool, str | None]:
    assert given.port is not None
    deadline = None if seconds is None else runtime.clock.monotonic() + seconds
    at_once, pause = True, FIRST_PAUSE
    while True:
        address = _listening(table, given)
        if (address is not None) is (given.until is Until.LISTENS):
            return at_once, address
        left = LONGEST_PAUSE if deadline is None else deadline - runtime.clock.monotonic()
        if left <= 0:
            state = "listens" if given.until is Until.CLOSES else "does not listen"
            raise WaitRanOut(f"port {given.port} still {state}", port=given.port)
        if runtime.cancelled.wait(min(pause, left)):
            raise Cancelled("the call was cancelled")
        at_once, pause = False, min(pause * 1.5, LONGEST_PAUSE)


def _listening(table: ProcessTable, given: WaitForProcess) -> str | None:
    """The address at which somebody takes connections."""
    assert given.port is not None
    for address in (given.address,) if given.address else LOOPBACK:
        if table.listens(address, given.port, CONNECT_SECONDS):
            return address
    return None
