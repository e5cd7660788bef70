"""The processes of this machine, by psutil, which answers alike on Windows, macOS and Linux."""

from __future__ import annotations

import contextlib
import os
import socket
import sys
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any

import psutil

from hearth.platforms.process_table import Held, Listed, Port, Signal

_FIELDS = ["cpu_times", "create_time", "memory_info", "name", "ppid", "status"]
# POSIX: numbers, whose names are looked up once each; psutil would look one up for every process.
_OWNER = "username" if sys.platform == "win32" else "uids"
# What Windows, macOS and Linux cannot do without; their own numbers are refused beside these names.
_WINDOWS_SYSTEM = frozenset(
    (
        "system", "system idle process", "secure system", "registry", "memory compression", "smss.exe", "csrss.exe",
        "wininit.exe", "winlogon.exe", "services.exe", "lsass.exe", "lsaiso.exe", "svchost.exe", "fontdrvhost.exe",
        "dwm.exe",
    )
)  # fmt: skip
_MACOS_SYSTEM = frozenset(["kernel_task", "launchd", "WindowServer", "loginwindow", "opendirectoryd"])


class PsutilTable:
    """`hold` is the platform's own; the rest is the same everywhere."""

    def __init__(self, hold: Callable[[int], Held]) -> None:
        self._hold = hold

    def processes(self, pids: tuple[int, ...] | None = None, *, commands: bool = True) -> Iterator[Listed]:
        fields = [*_FIELDS, _OWNER] + (["cmdline"] if commands else [])
        try:
            if pids is None:
                for process in psutil.process_iter(fields):
                    yield _listed(process.pid, process.info)
                return
        except psutil.AccessDenied as error:
            raise PermissionError(str(error)) from error
        for pid in sorted(set(pids)):
            try:
                yield _listed(pid, psutil.Process(pid).as_dict(fields))
            except psutil.AccessDenied:
                yield Listed(pid, None, "", None, None, None, None, None, None)
            except (psutil.NoSuchProcess, OverflowError, ValueError):
                continue

    def ports(self) -> dict[int, list[Port]]:
        found: dict[int, list[Port]] = {}
        try:
            connections = psutil.net_connections("inet")
        except psutil.AccessDenied as error:
            raise PermissionError("only an administrator may list the ports of all processes here") from error
        for each in connections:
            if each.pid is not None and each.laddr:
                found.setdefault(each.pid, []).append(_port(each))
        return found

    def ancestors(self) -> list[int]:
        found = [os.getpid()]
        try:
            # Not parents(), which lists all processes first, and that may be denied.
            while (above := psutil.Process(found[-1]).ppid()) and above not in found:
                found.append(above)
        except (psutil.Error, OSError):
            found.append(os.getppid())
        return list(dict.fromkeys(found))

    def is_system(self, process: Listed) -> bool:
        if process.pid in (0, 1):
            return True
        if sys.platform == "win32":
            return process.pid == 4 or process.name.lower() in _WINDOWS_SYSTEM
        if sys.platform == "darwin":
            return process.name in _MACOS_SYSTEM
        return 2 in (process.pid, process.parent) and not process.memory_bytes  # a thread of the kernel

    def hold(self, pid: int) -> Held:
        return self._hold(pid)

    def group_of(self, pid: int) -> int | None:
        if sys.platform == "win32":
            return None
        try:
            return pid if os.getpgid(pid) == pid else None
        except OSError:
            return None

    def send_to_group(self, group: int, what: Signal) -> None:
        if sys.platform == "win32":
            raise ProcessLookupError(f"there is no group {group}")
        os.killpg(group, signal_number(what))

    def listens(self, address: str, port: int, seconds: float) -> bool:
        try:
            socket.create_connection((address, port), timeout=seconds).close()
        except OSError:
            return False
        return True


def signal_number(what: Signal) -> int:
    """Raises `ValueError` for a signal that this system does not have."""
    import signal

    found = getattr(signal, f"SIG{what.value.upper()}", None)
    if found is None:
        raise ValueError(f"this system has no signal {what.value}")
    return int(found)


def started_ms(pid: int) -> int | None:
    """When a process started, in ms since 1970."""
    try:
        return round(psutil.Process(pid).create_time() * 1000)
    except (psutil.Error, OverflowError, ValueError):
        return None


def marked(mark: str) -> Iterator[int]:
    """The processes of this user whose environment holds `mark`. Raises `OSError` where nobody may look."""
    try:
        running = list(psutil.process_iter())
    except psutil.Error as error:
        raise OSError(str(error)) from error
    for process in running if mark else ():
        with contextlib.suppress(psutil.Error):
            if any(mark in value for value in process.environ().values()):
                yield process.pid


def is_zombie(pid: int) -> bool:
    """Whether a process has ended and only waits to be collected."""
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False


def _listed(pid: int, info: dict[str, Any]) -> Listed:
    times, memory, created, status = info["cpu_times"], info["memory_info"], info["create_time"], info["status"]
    return Listed(
        pid=pid,
        parent=info["ppid"],
        name=info["name"] or "",
        command=tuple(info.get("cmdline") or ()) or None,
        user=_user(info[_OWNER]),
        state=None if status is None else str(status).replace("-", "_"),
        cpu_ms=None if times is None else round((times.user + times.system) * 1000),
        memory_bytes=None if memory is None else memory.rss,
        started_ms=None if created is None else round(created * 1000),
    )


def _user(owner: Any) -> str | None:
    if owner is None or isinstance(owner, str):
        return owner
    return user_name(owner.real)


@lru_cache(maxsize=256)
def user_name(number: int) -> str:
    """The name of a user of POSIX, else the number as text."""
    from hearth.platforms.owners import name_of_user

    return name_of_user(number) or str(number)


def _port(connection: Any) -> Port:
    protocol = "tcp" if connection.type == socket.SOCK_STREAM else "udp"
    status = connection.status.lower()
    peer = f"{connection.raddr[0]}:{connection.raddr[1]}" if connection.raddr else None
    state = None if status in ("none", "") else status
    return Port(protocol, connection.laddr[0], connection.laddr[1], state, peer)
