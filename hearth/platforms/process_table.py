"""The processes of a machine: what every platform offers for looking at them, waiting for them and ending them."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple, Protocol


class Signal(StrEnum):
    """What can be sent to a process. Windows knows `term` (its windows are asked to close) and `kill` only."""

    TERM = "term"
    KILL = "kill"
    INT = "int"
    HUP = "hup"
    QUIT = "quit"
    USR1 = "usr1"
    USR2 = "usr2"
    STOP = "stop"
    CONT = "cont"


class Listed(NamedTuple):
    """A process as it was when it was looked at; None where the system does not tell, or not to this user."""

    pid: int
    parent: int | None
    name: str
    command: tuple[str, ...] | None
    user: str | None
    state: str | None  # running, sleeping, stopped, zombie, ...
    cpu_ms: int | None  # processor time since it started
    memory_bytes: int | None  # resident
    started_ms: int | None  # since 1970


class Port(NamedTuple):
    """A port that a process listens on or is connected from."""

    protocol: str  # tcp, udp
    address: str
    port: int
    state: str | None  # listen, established, ...; None for udp
    peer: str | None  # the other end of a connection: address:port


class Held(Protocol):
    """One process, held so that its number cannot come to mean another one. Errors are `OSError`s:
    `ProcessLookupError` when it has ended, `PermissionError` when the system refuses."""

    pid: int

    @property
    def started_ms(self) -> int | None:
        """When it started, as in `Listed`."""

    def wait(self, seconds: float) -> bool:
        """Whether it ended within that time. A process that has ended but was not collected has ended."""

    @property
    def waitable(self) -> int | None:
        """For `Host.wait_any`, ready once it has ended; None where the system offers none."""

    def ask_to_end(self) -> bool:
        """Ask it to end: TERM; on Windows its windows to close. False where there is nothing that could be asked."""

    def send(self, what: Signal) -> None:
        """Send a signal. Raises `ValueError` for one that the system does not have."""

    def close(self) -> None: ...


class ProcessTable(Protocol):
    """The processes of this machine."""

    def processes(self, pids: tuple[int, ...] | None = None, *, commands: bool = True) -> Iterator[Listed]:
        """Each process, in the order of their numbers, or those of `pids` that exist. Without `commands` their
        command lines are not read. Raises `PermissionError` where the system does not let anybody list them."""

    def ports(self) -> dict[int, list[Port]]:
        """Ports by process. Raises `PermissionError` where the system tells nobody but an administrator."""

    def ancestors(self) -> list[int]:
        """This process and those that it comes from."""

    def is_system(self, process: Listed) -> bool:
        """Whether the machine itself depends on it."""

    def hold(self, pid: int) -> Held:
        """Raises `ProcessLookupError`, `PermissionError`."""

    def group_of(self, pid: int) -> int | None:
        """The group that `pid` leads; None when it leads none, or there are no groups."""

    def send_to_group(self, group: int, what: Signal) -> None:
        """Send a signal to every process of a group. Raises `OSError`."""

    def listens(self, address: str, port: int, seconds: float) -> bool:
        """Whether somebody takes a TCP connection there within that time."""
