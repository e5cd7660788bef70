"""macOS."""

from __future__ import annotations

import contextlib
import ctypes
import os
import subprocess
import unicodedata
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from hearth.platforms.posix import PosixHost
from hearth.platforms.processes import Launcher

if TYPE_CHECKING:
    from hearth.platforms.detached import Detacher
    from hearth.platforms.facts import Facts
    from hearth.platforms.process_table import ProcessTable

_COPY_ACL_AND_XATTR = 1 << 0 | 1 << 2  # COPYFILE_ACL | COPYFILE_XATTR of copyfile(3)


class MacosHost(PosixHost):
    name = "macos"
    case_sensitive = False

    def same_name(self, one: str, other: str) -> bool:
        # APFS keeps names as given and compares them without regard to case or normal form.
        return _folded(one) == _folded(other)

    def _copy_attributes(self, source: int, target: int) -> None:
        ctypes.CDLL(None).fcopyfile(source, target, None, ctypes.c_uint32(_COPY_ACL_AND_XATTR))

    def sync_file(self, descriptor: int) -> None:
        import fcntl

        # fsync(2) of macOS leaves the data in the drive's cache; F_FULLFSYNC does not.
        try:
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)  # type: ignore[attr-defined,unused-ignore]
        except OSError:
            os.fsync(descriptor)

    def process_start(self, pid: int) -> str | None:
        done = subprocess.run(
            ["/bin/ps", "-o", "stat=", "-o", "lstart=", "-p", str(pid)],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            check=False,
        )
        state, _, start = done.stdout.decode("utf-8", "replace").strip().partition(" ")
        return None if state.startswith("Z") else start.strip() or None

    def boot_id(self) -> str:
        buffer = ctypes.create_string_buffer(64)
        size = ctypes.c_size_t(len(buffer))
        ask = ctypes.CDLL(None).sysctlbyname
        failed = ask(b"kern.bootsessionuuid", buffer, ctypes.byref(size), None, ctypes.c_size_t(0))
        return "" if failed else buffer.value.decode("ascii")

    def empty_unshared(self, path: str, kept: int = 0) -> bool:  # noqa: ARG002
        return False

    def punch_hole(self, path: str, start: int, end: int) -> bool:
        # fcntl(2): F_PUNCHHOLE takes whole blocks only.
        import fcntl
        import struct

        block = os.statvfs(path).f_frsize
        first, last = -(-start // block) * block, end // block * block
        if last <= first:
            return True
        descriptor = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
        try:
            fcntl.fcntl(descriptor, 99, struct.pack("IIqq", 0, 0, first, last - first))
        except OSError:
            return False
        finally:
            os.close(descriptor)
        return True

    def make_launcher(self) -> Launcher:
        from hearth.platforms.posix_processes import PosixLauncher

        return PosixLauncher(exit_descriptor, strays)

    def make_detacher(self) -> Detacher:
        from hearth.platforms.posix_detached import PosixDetacher

        return PosixDetacher(exit_descriptor, strays, group_lives, self.process_start, self.boot_id)

    def process_table(self) -> ProcessTable:
        from hearth.platforms.posix_held import hold_by_queue
        from hearth.platforms.psutil_table import PsutilTable

        return PsutilTable(hold_by_queue)

    def facts(self) -> Facts:
        from hearth.platforms.macos_facts import MacosFacts

        return MacosFacts()

    def user_data_directory(self) -> str:
        return os.path.expanduser("~/Library/Application Support")

    def user_config_directory(self) -> str:
        return os.path.expanduser("~/Library/Application Support")


def _folded(name: str) -> str:
    return unicodedata.normalize("NFD", name).casefold()


def exit_descriptor(pid: int) -> int:
    """A descriptor that can be read once the process has ended: a kqueue(2) with NOTE_EXIT."""
    import select

    queue = select.kqueue()  # type: ignore[attr-defined,unused-ignore]
    event = select.kevent(  # type: ignore[attr-defined,unused-ignore]
        pid,
        select.KQ_FILTER_PROC,  # type: ignore[attr-defined,unused-ignore]
        select.KQ_EV_ADD,  # type: ignore[attr-defined,unused-ignore]
        select.KQ_NOTE_EXIT,  # type: ignore[attr-defined,unused-ignore]
    )
    try:
        queue.control([event], 0)
    except ProcessLookupError:  # it has ended already: a pipe whose other end is closed can be read at once, too
        reader, writer = os.pipe()
        os.close(writer)
        return reader
    return os.dup(queue.fileno())


def strays(mark: str, _leader: int, _pipes: Collection[int]) -> Iterator[int]:
    """The processes of this user whose environment holds `mark`; who holds a pipe is not told here."""
    from hearth.platforms.psutil_table import marked

    return marked(mark)


def group_lives(group: int) -> bool:
    """Whether a process group has members that are no zombies."""
    import psutil

    from hearth.platforms.psutil_table import is_zombie

    for pid in psutil.pids():
        with contextlib.suppress(OSError, psutil.Error):
            if os.getpgid(pid) == group and not is_zombie(pid):
                return True
    return False
