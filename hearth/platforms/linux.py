"""Linux."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

from hearth.platforms.base import Directory
from hearth.platforms.posix import PosixDirectory, PosixHost
from hearth.platforms.processes import Launcher

if TYPE_CHECKING:
    from hearth.platforms.facts import Facts
    from hearth.platforms.process_table import ProcessTable

_UNSUPPORTED = (errno.ENOTSUP, errno.EPERM, errno.EACCES, errno.EINVAL, errno.ENODATA)


class LinuxHost(PosixHost):
    name = "linux"

    def make_launcher(self) -> Launcher:
        from hearth.platforms.posix_processes import PosixLauncher

        return PosixLauncher(os.pidfd_open, strays)

    def start_directory(self, directory: Directory) -> str:
        assert isinstance(directory, PosixDirectory)
        by_descriptor = f"/proc/self/fd/{directory.descriptor}"
        return by_descriptor if os.path.isdir(by_descriptor) else directory.path

    def process_table(self) -> ProcessTable:
        from hearth.platforms.posix_held import hold_by_pidfd
        from hearth.platforms.psutil_table import PsutilTable

        return PsutilTable(hold_by_pidfd)

    def facts(self) -> Facts:
        from hearth.platforms.linux_facts import LinuxFacts

        return LinuxFacts()

    def _copy_attributes(self, source: int, target: int) -> None:
        # POSIX ACLs are the extended attribute system.posix_acl_access, so they come along.
        try:
            names = os.listxattr(source)
        except OSError:
            return
        for name in names:
            try:
                os.setxattr(target, name, os.getxattr(source, name))
            except OSError as error:
                if error.errno not in _UNSUPPORTED:
                    raise

    def process_start(self, pid: int) -> str | None:
        # proc(5): the 22nd field of stat is the start in clock ticks since boot; names may hold spaces and ')'.
        with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[19].decode("ascii")
        return None


def strays(mark: str) -> Iterator[int]:
    """The processes of this user whose environment holds `mark`."""
    wanted = mark.encode("utf-8")
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError), open(f"/proc/{name}/environ", "rb") as file:
                if wanted in file.read() and not _is_zombie(name):
                    yield int(name)


def _is_zombie(pid: str) -> bool:
    with open(f"/proc/{pid}/stat", "rb") as file:
        return file.read().rpartition(b")")[2].split()[0] == b"Z"
