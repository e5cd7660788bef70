"""How processes are shown."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

from hearth.clock import parse_timestamp, timestamp
from hearth.errors import Conflict, invalid
from hearth.platforms.process_table import Listed, ProcessTable
from hearth.secrets import redact_command

MAX_PID = (1 << 31) - 1
MAX_COMMAND = 4_096  # characters
SAME_START_MS = 1_000  # Linux counts from the boot, whose time in whole seconds may move by one


def command_line(words: Sequence[str] | None) -> str | None:
    """The words as a shell would be given them, without secrets, at most `MAX_COMMAND` characters."""
    if not words:
        return None
    shown = _joined(redact_command(_bounded(words)))
    return shown if len(shown) <= MAX_COMMAND else shown[: MAX_COMMAND - 3] + "..."


def _bounded(words: Sequence[str]) -> list[str]:
    """As many of the words as can be shown, and some more: a secret must not be cut before it is recognised."""
    kept, left = [], 4 * MAX_COMMAND
    for word in words:
        kept.append(word[:left])
        left -= len(word) + 1
        if left <= 0:
            break
    return kept


def _joined(words: list[str]) -> str:
    if sys.platform == "win32":
        from subprocess import list2cmdline

        return list2cmdline(words)
    from shlex import join

    return join(words)


def started_at(process: Listed) -> str | None:
    return None if process.started_ms is None else timestamp(process.started_ms)


def same_start(one_ms: int | None, other_ms: int | None) -> bool:
    """Whether two readings of a start may be of one process."""
    return one_ms is not None and other_ms is not None and abs(one_ms - other_ms) <= SAME_START_MS


def meant_ms(started: str | None) -> int | None:
    """The start that the caller saw. Raises `InvalidInput`."""
    if started is None:
        return None
    try:
        return parse_timestamp(started)
    except ValueError as error:
        raise invalid("started_at", "wrong_form", f"must be a time such as 2026-01-31T12:00:00.000Z: {error}") from None


def check_start(process: Listed, meant: int | None) -> None:
    """Raises `Conflict` where the number means another process than it did."""
    if meant is not None and not same_start(process.started_ms, meant):
        raise Conflict(
            f"process {process.pid} is another one: it started at {started_at(process)}",
            hint="the process that was meant has ended",
            pid=process.pid,
            started_at=started_at(process),
        )


def find(table: ProcessTable, pid: int) -> Listed | None:
    """The process `pid`, if there is one."""
    return next(table.processes((pid,), commands=False), None)


def children_of(processes: Iterable[Listed]) -> dict[int | None, list[Listed]]:
    """Processes by their parent; under None those whose parent is not among them."""
    by_pid = {each.pid: each for each in processes}
    children: dict[int | None, list[Listed]] = {}
    for each in by_pid.values():
        parent = by_pid.get(each.parent) if each.parent is not None else None
        children.setdefault(parent.pid if parent and _may_be_parent(parent, each) else None, []).append(each)
    return children


def _may_be_parent(parent: Listed, child: Listed) -> bool:
    """Windows keeps the number of a parent that has ended, which another process may have now."""
    if parent.pid == child.pid:
        return False
    if parent.started_ms is None or child.started_ms is None:
        return parent.pid < child.pid
    return parent.started_ms <= child.started_ms
