"""End processes: what was meant and nothing else, and tell what is really gone."""

from __future__ import annotations

from enum import StrEnum
from functools import partial
from typing import Annotated

from hearth.errors import Conflict, NotFound, PermissionDenied, ProtectedProcess, invalid
from hearth.model import Cli, Ge, Help, Items, Le, Len, State, model
from hearth.platforms.process_table import Listed, ProcessTable, Signal
from hearth.runtime import Runtime
from hearth.services.machine.ending import Ending, Outcome, end_group
from hearth.services.machine.process_facts import MAX_PID, check_start, children_of, find, meant_ms, started_at

FAILED = frozenset({Outcome.RUNNING, Outcome.DENIED, Outcome.REFUSED, Outcome.UNSUPPORTED})


class Reason(StrEnum):
    """Why a process is never ended."""

    ITSELF = "it is hearth itself"
    ABOVE = "hearth runs below it"
    SYSTEM = "the machine depends on it"


@model
class KillProcess:
    pid: Annotated[int | None, Ge(1), Le(MAX_PID), Cli(argument=True), Help("The process to end.")] = None
    started_at: Annotated[
        str | None, Len(1, 64), Help("Only if it started then, as process-list told: numbers are used again.")
    ] = None
    name: Annotated[str | None, Len(1, 255), Help("End the process with exactly this name, in place of a number.")] = (
        None
    )
    all: Annotated[bool, Help("With a name: every process that has it, if there are several.")] = False
    tree: Annotated[bool, Help("And everything below it.")] = False
    signal: Annotated[Signal | None, Help("Send only this, in place of asking first and killing after the grace.")] = (
        None
    )
    grace_ms: Annotated[int, Ge(0), Le(600_000), Help("How long they may take to end once they were asked.")] = 5_000
    dry_run: Annotated[bool, Help("Only say what would be ended.")] = False


@model
class Ended:
    """What became of one process."""

    pid: Annotated[int, Help("Its number.")]
    name: Annotated[str, Help("The name of its program.")]
    started_at: Annotated[str | None, Help("When it started.")]
    outcome: Annotated[Outcome, Help("What became of it.")]


@model
class NotEnded:
    """A process that is still there, and why."""

    pid: Annotated[int, Help("Its number.")]
    code: Annotated[str, Help("The kind of problem.")]
    message: Annotated[str, Help("What happened.")]


@model
class ProcessesEnded:
    """`partial` where some that were meant are still there."""

    state: State = State.COMPLETED
    processes: Annotated[tuple[Ended, ...], Items(("pid", "name", "outcome")), Help("What became of each.")]
    errors: Annotated[tuple[NotEnded, ...], Help("Those that were to end and did not.")] = ()
    dry_run: Annotated[bool, Help("Whether nothing was really done.")] = False


def kill(runtime: Runtime, given: KillProcess) -> ProcessesEnded:
    """Raises `NotFound`, `Conflict`, `ProtectedProcess`, `PermissionDenied`, `InvalidInput`."""
    if (given.pid is None) is (given.name is None):
        raise invalid("pid", "not_one_of", "give either a number or a name")
    table = runtime.host.process_table()
    targets = [_by_pid(table, given)] if given.pid is not None else _by_name(runtime, table, given)
    refused = _refused(table, targets)
    if len(refused) == len(targets):
        pid = targets[0].pid
        raise ProtectedProcess(f"process {pid} is not ended: {refused[pid]}", pids=sorted(refused))
    allowed = [each for each in targets if each.pid not in refused]
    try:
        whole = _with_trees(table, allowed) if given.tree else allowed
    except PermissionError:
        return _group_ended(runtime, table, given, allowed)
    ending = Ending(runtime, table, whole, given.signal)
    if given.dry_run:
        return _answer(given, whole, dict.fromkeys((each.pid for each in whole), Outcome.WOULD_END), refused)
    with ending:
        ending.run(given.grace_ms, below=partial(_with_trees, table) if given.tree else None)
    return _answer(given, ending.targets, ending.outcomes, refused, ending.reasons)


def _by_pid(table: ProcessTable, given: KillProcess) -> Listed:
    assert given.pid is not None
    found = find(table, given.pid)
    meant = meant_ms(given.started_at)
    if found is None:
        raise NotFound(f"there is no process {given.pid}", pid=given.pid)
    check_start(found, meant)
    return found


def _by_name(runtime: Runtime, table: ProcessTable, given: KillProcess) -> list[Listed]:
    assert given.name is not None
    meant = meant_ms(given.started_at)
    try:
        found = [each for each in table.processes(commands=False) if runtime.host.same_name(each.name, given.name)]
    except PermissionError as error:
        raise PermissionDenied("the system does not let processes be listed; give a number") from error
    if not found:
        raise NotFound(f"no process is called {given.name}", name=given.name)
    if len(found) > 1 and not given.all:
        raise Conflict(
            f"{len(found)} processes are called {given.name}",
            hint="give the number of one, or --all (all: true) to end every one",
            pids=[each.pid for each in found],
        )
    for each in found:
        check_start(each, meant)
    return found


def _refused(table: ProcessTable, targets: list[Listed]) -> dict[int, Reason]:
    itself, *above = table.ancestors()
    reasons = {}
    for each in targets:
        if each.pid == itself:
            reasons[each.pid] = Reason.ITSELF
        elif each.pid in above:
            reasons[each.pid] = Reason.ABOVE
        elif table.is_system(each):
            reasons[each.pid] = Reason.SYSTEM
    return reasons


def _with_trees(table: ProcessTable, roots: list[Listed]) -> list[Listed]:
    """The roots and all below them, parents first. Raises `PermissionError`."""
    children = children_of(table.processes(commands=False))
    found: dict[int, Listed] = {}
    waiting = list(reversed(roots))
    while waiting:
        process = waiting.pop()
        if process.pid not in found:
            found[process.pid] = process
            waiting += reversed(children.get(process.pid, []))
    return list(found.values())


def _group_ended(runtime: Runtime, table: ProcessTable, given: KillProcess, leaders: list[Listed]) -> ProcessesEnded:
    """Where nobody may list processes, a tree is the group that its root leads."""
    leader = leaders[0]
    if table.group_of(leader.pid) is None:
        raise PermissionDenied(
            f"the system does not let processes be listed, and {leader.pid} leads no group, so its tree is not known",
            hint="end it alone, without --tree (tree: false)",
        )
    if given.dry_run:
        return _answer(given, leaders, {leader.pid: Outcome.WOULD_END}, {})
    outcome = end_group(runtime, table, leader, given.signal, given.grace_ms)
    return _answer(given, leaders, {leader.pid: outcome}, {})


def _answer(
    given: KillProcess,
    targets: list[Listed],
    outcomes: dict[int, Outcome],
    refused: dict[int, Reason],
    reasons: dict[int, str] | None = None,
) -> ProcessesEnded:
    errors = [NotEnded(pid=pid, code="protected_process", message=f"not ended: {why}") for pid, why in refused.items()]
    for each in targets:
        if outcomes[each.pid] in FAILED:
            message = (reasons or {}).get(each.pid) or "it still runs"
            errors.append(NotEnded(pid=each.pid, code=outcomes[each.pid].value, message=message))
    return ProcessesEnded(
        state=State.PARTIAL if errors else State.COMPLETED,
        processes=tuple(
            Ended(pid=each.pid, name=each.name, started_at=started_at(each), outcome=outcomes[each.pid])
            for each in targets
        ),
        errors=tuple(errors),
        dry_run=given.dry_run,
    )
