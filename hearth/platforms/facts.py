"""What a machine is and has: what all platforms tell in the same way, by psutil and the standard library."""

from __future__ import annotations

import os
import platform
import sys
from collections.abc import Mapping
from threading import Lock
from typing import NamedTuple


class Unknown(Exception):
    """A fact that cannot be found here; the message says why."""


class Processors(NamedTuple):
    """`usable`: as many as this process may use."""

    model: str | None
    logical: int | None
    physical: int | None
    usable: int | None
    load: float | None  # processes that ran or waited, on average over a minute; not on Windows


class Memory(NamedTuple):
    """In bytes. `limit`: what a container lets its processes use."""

    total: int
    available: int
    limit: int | None


class Disk(NamedTuple):
    """A file system of a local disk, in bytes."""

    path: str
    file_system: str | None
    total: int
    free: int
    read_only: bool


class Display(NamedTuple):
    """A screen, in pixels."""

    name: str
    width: int | None
    height: int | None


_naming = Lock()


def _uname() -> platform.uname_result:
    # Python asks WMI on Windows, where two threads at once may wait for ever; it remembers what it was told.
    with _naming:
        return platform.uname()


class Facts:
    """Each method answers one fact, or raises `Unknown` or `OSError`."""

    def hostname(self) -> str:
        return _uname().node

    def architecture(self) -> str:
        return _uname().machine

    def release(self) -> str:
        """The system's name and version as people know it."""
        raise NotImplementedError

    def kernel(self) -> str:
        return _uname().release

    def user(self) -> str:
        import getpass

        return getpass.getuser()

    def is_elevated(self) -> bool:
        """Whether this process may do what an administrator may."""
        if sys.platform == "win32":
            raise NotImplementedError
        return os.geteuid() == 0

    def container(self) -> str | None:
        """What kind of container this process runs in; None for none."""
        return None

    def time_zone(self, environ: Mapping[str, str]) -> str:
        """The IANA name."""
        raise NotImplementedError

    def booted_ms(self) -> int:
        """When the machine started, in ms since 1970."""
        import psutil

        return round(psutil.boot_time() * 1000)

    def processors(self) -> Processors:
        import psutil

        affinity = getattr(os, "sched_getaffinity", None)
        usable = len(affinity(0)) if affinity else os.cpu_count()
        load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
        return Processors(self.processor_model(), os.cpu_count(), psutil.cpu_count(logical=False), usable, load)

    def processor_model(self) -> str | None:
        return _uname().processor or None

    def memory(self) -> Memory:
        import psutil

        found = psutil.virtual_memory()
        limit = self.memory_limit()
        return Memory(found.total, found.available, limit if limit is not None and limit < found.total else None)

    def memory_limit(self) -> int | None:
        return None

    def disks(self, paths: tuple[str, ...]) -> list[Disk]:
        """The local disks, and those that hold `paths`, once each. Shares are not asked: one may not answer."""
        import psutil

        kinds = {each.mountpoint: (each.fstype, each.opts) for each in psutil.disk_partitions(all=False) if each.fstype}
        found: dict[tuple[int, int], Disk] = {}
        for path in (*kinds, *paths):
            kind, options = kinds.get(path, (None, ""))
            try:
                space, device = psutil.disk_usage(path), os.stat(path).st_dev
            except OSError:
                continue
            disk = Disk(path, kind, space.total, space.free, "ro" in options.split(","))
            found.setdefault((device, space.total), disk)
        return list(found.values())

    def displays(self, environ: Mapping[str, str]) -> list[Display]:
        raise NotImplementedError

    def shells(self, environ: Mapping[str, str]) -> list[str]:
        """The paths of the shells that are installed, the user's own first."""
        listed = _lines("/etc/shells")
        wanted = [environ.get("SHELL", ""), *(line for line in listed if line.startswith("/"))]
        known: dict[str, str] = {}
        for path in wanted:
            # /bin and /usr/bin are one directory on many systems.
            if path and os.access(path, os.X_OK):
                known.setdefault(os.path.realpath(os.path.dirname(path)) + "/" + os.path.basename(path), path)
        return list(known.values())


def _lines(path: str) -> list[str]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().splitlines()
    except OSError:
        return []


def zone_of_link(path: str) -> str | None:
    """The IANA name that /etc/localtime leads to."""
    try:
        target = os.path.realpath(path)
    except OSError:
        return None
    _, found, name = target.partition("/zoneinfo/")
    return name.removeprefix("posix/").removeprefix("right/") if found else None


def zone_of_variable(environ: Mapping[str, str]) -> str | None:
    """The IANA name in TZ, which may also hold a rule of POSIX or a file."""
    value = environ.get("TZ", "").removeprefix(":")
    if not value:
        return None
    if value.startswith("/"):
        return value.partition("/zoneinfo/")[2] or None
    return value if is_zone(value) else None


def is_zone(name: str) -> bool:
    """Whether the database of time zones knows the name."""
    import zoneinfo

    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        return False
    return True
