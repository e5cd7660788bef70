"""Linux."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Collection, Iterator
from functools import cache
from typing import TYPE_CHECKING

from hearth.platforms.base import Directory
from hearth.platforms.posix import PosixDirectory, PosixHost
from hearth.platforms.processes import Launcher

if TYPE_CHECKING:
    from hearth.platforms.detached import Detacher
    from hearth.platforms.facts import Facts
    from hearth.platforms.folder_watch import FolderWatch
    from hearth.platforms.process_table import ProcessTable

_ENDED = (b"Z", b"X")  # proc(5): a zombie, and one that is going
_LONGEST_STAT = 4096  # bytes: a name of 64 and 51 numbers
_UNSUPPORTED = (errno.ENOTSUP, errno.EPERM, errno.EACCES, errno.EINVAL, errno.ENODATA)


class LinuxHost(PosixHost):
    name = "linux"

    def empty_unshared(self, path: str, kept: int = 0) -> bool:
        import fcntl
        import signal

        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
        try:
            # fcntl(2): a lease to write is given only where nobody else has the file open. Whoever opens it meanwhile
            # waits until it is closed here, and this process gets a signal; the usual one would end it.
            fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
            fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_WRLCK)
            if os.fstat(descriptor).st_size > kept:
                os.ftruncate(descriptor, kept)
        except OSError:  # somebody has, or the file system has no leases
            return False
        finally:
            os.close(descriptor)
        return True

    def punch_hole(self, path: str, start: int, end: int) -> bool:
        # fallocate(2), which Python does not offer.
        import ctypes

        libc = ctypes.CDLL(None, use_errno=True)
        libc.fallocate.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)
        descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        try:
            keep_size, punch = 0x1, 0x2
            return bool(libc.fallocate(descriptor, keep_size | punch, start, end - start) == 0)
        finally:
            os.close(descriptor)

    def watch_folder(self, path: str) -> FolderWatch:
        from hearth.platforms.linux_watch import watch_folder

        return watch_folder(path)

    def make_launcher(self) -> Launcher:
        from hearth.platforms.posix_processes import PosixLauncher

        return PosixLauncher(os.pidfd_open, strays)

    def make_detacher(self) -> Detacher:
        from hearth.platforms.posix_detached import PosixDetacher

        return PosixDetacher(os.pidfd_open, strays, group_lives, self.process_start, self.boot_id)

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
        try:
            descriptor = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            fields = os.read(descriptor, _LONGEST_STAT).rpartition(b")")[2].split()
        except OSError:  # it ended meanwhile
            return None
        finally:
            os.close(descriptor)
        return None if fields[0] in _ENDED else fields[19].decode("ascii")

    def boot_id(self) -> str:
        return _boot_id()


@cache
def _boot_id() -> str:
    with contextlib.suppress(OSError), open("/proc/sys/kernel/random/boot_id", "rb") as file:
        return file.read().decode("ascii").strip()
    return ""


def strays(mark: str, leader: int, pipes: Collection[int]) -> Iterator[int]:
    """The processes of this user whose environment holds `mark`, or that started after `leader` and can write to one
    of `pipes`, which are told by inode."""
    wanted = mark.encode("utf-8")
    since = _started_ticks(str(leader)) if pipes else 0
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):
                if (_has_mark(name, wanted) or _writes_to(name, pipes, since)) and not _is_zombie(name):
                    yield int(name)


def group_lives(group: int) -> bool:
    """Whether a process group has members that are no zombies."""
    for name in os.listdir("/proc"):
        if name.isdigit():
            with contextlib.suppress(OSError):
                facts = _facts_of(name)
                if int(facts[2]) == group and facts[0] != b"Z":
                    return True
    return False


def _has_mark(name: str, wanted: bytes) -> bool:
    with open(f"/proc/{name}/environ", "rb") as file:
        return bool(wanted) and wanted in file.read()


def _writes_to(name: str, pipes: Collection[int], since: int) -> bool:
    # One that is older, as the master of an ssh connection or a terminal multiplexer, was only lent the pipe.
    if not pipes or _started_ticks(name) < since:
        return False
    wanted = {f"pipe:[{pipe}]" for pipe in pipes}
    folder = f"/proc/{name}/fd"
    # The links are writable where the descriptor is; hearth's own end, which a fork of it has for a moment, is not.
    return any(
        os.readlink(f"{folder}/{each}") in wanted and os.lstat(f"{folder}/{each}").st_mode & stat.S_IWUSR
        for each in os.listdir(folder)
    )


def _started_ticks(name: str) -> int:
    """When a process started: field 22 of proc(5)'s stat, of which the second may hold spaces."""
    return int(_facts_of(name)[19])


def _is_zombie(name: str) -> bool:
    return _facts_of(name)[0] == b"Z"


def _facts_of(name: str) -> list[bytes]:
    with open(f"/proc/{name}/stat", "rb") as file:
        return file.read().rpartition(b")")[2].split()
