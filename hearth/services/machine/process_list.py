"""The processes that run on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum
from typing import Annotated, Any

from hearth.errors import Cancelled, PermissionDenied
from hearth.model import Cli, Ge, Help, Items, Le, Len, State, model
from hearth.platforms.process_table import Listed, ProcessTable
from hearth.platforms.process_table import Port as Found
from hearth.runtime import Runtime
from hearth.services.machine.process_facts import children_of, command_line, started_at


class Sort(StrEnum):
    """What processes are ordered by: cpu and memory with the most first, started with the newest first."""

    PID = "pid"
    NAME = "name"
    USER = "user"
    CPU = "cpu"
    MEMORY = "memory"
    STARTED = "started"


@model
class ListProcesses:
    text: Annotated[
        str | None,
        Len(1, 1_000),
        Cli(argument=True),
        Help("Only those whose name or shown command line holds this, in whatever case."),
    ] = None
    pids: Annotated[tuple[Annotated[int, Ge(0)], ...], Len(0, 1_000), Cli(names=("--pid",)), Help("Only these.")] = ()
    name: Annotated[str | None, Len(1, 255), Help("Only those with exactly this name.")] = None
    user: Annotated[str | None, Len(1, 255), Help("Only those of this user.")] = None
    port: Annotated[int | None, Ge(1), Le(65_535), Help("Only those that use this port of this machine.")] = None
    ports: Annotated[bool, Help("Tell the ports of each process, too.")] = False
    tree: Annotated[bool, Help("Parents before their children; what was found brings everything below it.")] = False
    sort: Annotated[Sort, Help("What comes first; in a tree, among siblings.")] = Sort.PID
    sample_ms: Annotated[
        int | None, Ge(1), Le(10_000), Help("Measure the processor use during this time, not since the start.")
    ] = None
    limit: Annotated[int, Ge(1), Le(100_000), Cli(names=("-n",)), Help("Most processes in one answer.")] = 1_000


@model
class Port:
    """A port that a process uses."""

    protocol: Annotated[str, Help("Either tcp or udp.")]
    address: Annotated[str, Help("The address on this machine.")]
    port: Annotated[int, Help("The port on this machine.")]
    state: Annotated[str | None, Help("For tcp: listen, established, ...")] = None
    peer: Annotated[str | None, Help("The other end of a connection.")] = None


@model
class Process:
    """A process; null is what the system does not tell this user."""

    pid: Annotated[int, Help("Its number.")]
    parent: Annotated[int | None, Help("The number of the process that it comes from.")]
    name: Annotated[str, Help("The name of its program.")]
    command: Annotated[str | None, Help("Its command line, without secrets.")]
    user: Annotated[str | None, Help("Whose it is.")]
    state: Annotated[str | None, Help("What it does: running, sleeping, stopped, zombie, ...")]
    cpu_percent: Annotated[float | None, Help("Processor use; 100 is all of one processor.")]
    cpu_ms: Annotated[int | None, Help("Processor time since it started.")]
    memory_bytes: Annotated[int | None, Help("Memory that it holds (resident).")]
    started_at: Annotated[str | None, Help("When it started; names it beyond doubt together with its number.")]
    depth: Annotated[int | None, Help("In a tree: how many of its ancestors stand above it.")] = None
    ports: Annotated[tuple[Port, ...] | None, Help("Its ports, if they were asked for.")] = None


@model
class ProcessList:
    state: State = State.COMPLETED
    processes: Annotated[
        tuple[Process, ...],
        Items(("pid", "parent", "user", "cpu_percent", "memory_bytes", "started_at", "name", "command")),
        Help("The processes."),
    ]
    found: Annotated[int, Help("How many there are, also above the limit.")]
    stopped: Annotated[str | None, Help("The bound that ended it: limit.")] = None


def list_processes(runtime: Runtime, given: ListProcesses) -> ProcessList:
    """Raises `PermissionDenied` where the system lets nobody list processes, or only an administrator their ports;
    `Cancelled`."""
    table = runtime.host.process_table()
    use = _cpu_use(runtime, table, given)
    processes = _listed(table, given)
    ports = _ports(table) if given.ports or given.port else {}
    wanted = [each for each in processes if _is_wanted(each, given, ports)]
    order = _by(given.sort, use)
    wanted.sort(key=order)
    placed: list[tuple[Listed, int | None]] = [(each, None) for each in wanted]
    if given.tree:
        placed = list(_tree(sorted(processes, key=order), {each.pid for each in wanted}))
    cut = len(placed) > given.limit
    return ProcessList(
        state=State.PARTIAL if cut else State.COMPLETED,
        processes=tuple(
            _shown(each, depth, use, ports if given.ports else None) for each, depth in placed[: given.limit]
        ),
        found=len(placed),
        stopped="limit" if cut else None,
    )


def _listed(table: ProcessTable, given: ListProcesses) -> list[Listed]:
    only = given.pids if given.pids and not given.tree else None
    try:
        return list(table.processes(only))
    except PermissionError as error:
        raise PermissionDenied(f"the system does not let processes be listed: {error}") from error


def _ports(table: ProcessTable) -> dict[int, list[Found]]:
    try:
        return table.ports()
    except PermissionError as error:
        raise PermissionDenied(str(error)) from error


def _is_wanted(process: Listed, given: ListProcesses, ports: dict[int, list[Found]]) -> bool:
    if given.pids and process.pid not in given.pids:
        return False
    if given.name is not None and process.name != given.name:
        return False
    if given.user is not None and process.user != given.user:
        return False
    if given.port is not None and all(each.port != given.port for each in ports.get(process.pid, ())):
        return False
    return given.text is None or _holds(process, given.text.casefold())


def _holds(process: Listed, text: str) -> bool:
    # What is shown, not what is hidden: else words would be guessed out of a secret.
    return text in process.name.casefold() or text in (command_line(process.command) or "").casefold()


Use = Callable[[Listed], float | None]


def _cpu_use(runtime: Runtime, table: ProcessTable, given: ListProcesses) -> Use:
    """Processor use in percent: during a sample, or since the start of each process."""
    if given.sample_ms is None:
        now_ms = runtime.clock.now_ms()
        return lambda process: _share(process.cpu_ms, process.started_ms, now_ms)
    begun = runtime.clock.monotonic()
    before = {(each.pid, each.started_ms): each.cpu_ms for each in table.processes(given.pids or None, commands=False)}
    if runtime.cancelled.wait(given.sample_ms / 1000):
        raise Cancelled("the call was cancelled")

    def during(process: Listed) -> float | None:
        used = before.get((process.pid, process.started_ms), 0)
        if process.cpu_ms is None or used is None:
            return None
        passed_ms = (runtime.clock.monotonic() - begun) * 1000
        return round(max(0, process.cpu_ms - used) / passed_ms * 100, 1)

    return during


def _share(cpu_ms: int | None, started_ms: int | None, now_ms: int) -> float | None:
    if cpu_ms is None or started_ms is None:
        return None
    return round(cpu_ms / max(1, now_ms - started_ms) * 100, 1)


def _by(sort: Sort, use: Use) -> Callable[[Listed], Any]:
    keys: dict[Sort, Callable[[Listed], Any]] = {
        Sort.PID: lambda each: each.pid,
        Sort.NAME: lambda each: (each.name.casefold(), each.pid),
        Sort.USER: lambda each: (each.user or "", each.pid),
        Sort.CPU: lambda each: (-(use(each) or 0), each.pid),
        Sort.MEMORY: lambda each: (-(each.memory_bytes or 0), each.pid),
        Sort.STARTED: lambda each: (-(each.started_ms or 0), -each.pid),
    }
    return keys[sort]


def _tree(processes: list[Listed], wanted: set[int]) -> Iterator[tuple[Listed, int]]:
    """The wanted ones and all below them, each below its parent."""
    children = children_of(processes)
    waiting = [(each, 0) for each in reversed(children.get(None, []))]
    while waiting:
        process, depth = waiting.pop()
        inside = depth > 0 or process.pid in wanted
        if inside:
            yield process, depth
        waiting += [(child, depth + inside) for child in reversed(children.get(process.pid, []))]


def _shown(process: Listed, depth: int | None, use: Use, ports: dict[int, list[Found]] | None) -> Process:
    return Process(
        pid=process.pid,
        parent=process.parent,
        name=process.name,
        command=command_line(process.command),
        user=process.user,
        state=process.state,
        cpu_percent=use(process),
        cpu_ms=process.cpu_ms,
        memory_bytes=process.memory_bytes,
        started_at=started_at(process),
        depth=depth,
        ports=None if ports is None else tuple(Port(**each._asdict()) for each in ports.get(process.pid, ())),
    )
