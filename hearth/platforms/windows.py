"""Windows 10 and later."""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from hearth.errors import Locked
from hearth.platforms import windows_directory as directories
from hearth.platforms import windows_nt as nt
from hearth.platforms import windows_paths as paths
from hearth.platforms.base import Directory, Entry
from hearth.platforms.processes import Launcher

if TYPE_CHECKING:
    from hearth.platforms.bells import Bell
    from hearth.platforms.detached import Detacher
    from hearth.platforms.facts import Facts
    from hearth.platforms.folder_watch import FolderWatch
    from hearth.platforms.process_table import ProcessTable

assert sys.platform == "win32"

_WALK = nt.FILE_TRAVERSE | nt.FILE_READ_ATTRIBUTES | nt.SYNCHRONIZE
# Read-only, hidden, system, archive, temporary, offline, not indexed; the rest are not set this way.
_CARRIED = 0x1 | 0x2 | 0x4 | 0x20 | 0x100 | 0x1000 | 0x2000
_LOCK_EXCLUSIVE_AT_ONCE = 0x2 | 0x1
_ERROR_LOCK_VIOLATION = 33
_FSCTL_SET_SPARSE = 0x000900C4
_FSCTL_SET_ZERO_DATA = 0x000980C8
_IN_USE = (_ERROR_LOCK_VIOLATION, 1224)  # somebody, perhaps a virus scanner, has it mapped: no matter of the volume
_PROCESS_QUERY_LIMITED_INFORMATION = 0x1000
_WAIT_OBJECT_0 = 0


class WindowsHost:
    name = "windows"
    case_sensitive = False

    def open_root(self, path: str) -> directories.WindowsDirectory:
        handle = nt.open_path(paths.extended(path), _WALK, share=nt.SHARE_READ_WRITE)
        status, found = nt.query(handle, nt.ATTRIBUTE_TAG_INFORMATION, 8)
        if status == nt.STATUS_SUCCESS and struct.unpack("<II", found)[0] & nt.ATTRIBUTE_DIRECTORY:
            return directories.WindowsDirectory(handle, path)
        nt.close(handle)
        raise nt.status_error(nt.STATUS_NOT_A_DIRECTORY, path)

    def real_path(self, path: str) -> str:
        anchor, components = paths.parts(path)
        for known in range(len(components), -1, -1):
            start = anchor + "\\".join(components[:known])
            with contextlib.suppress(OSError):
                return (
                    "\\".join((_final(start).rstrip("\\"), *components[known:])) if known else _root(anchor, components)
                )
        return path

    def unbounded(self, path: str) -> str:
        return paths.extended(path)

    def absolute(self, path: str, base: str) -> str:
        return paths.absolute(path, base)

    def parts(self, path: str) -> tuple[str, tuple[str, ...]]:
        return paths.parts(path)

    def same_name(self, one: str, other: str) -> bool:
        return paths.same_name(one, other)

    def refuse_name(self, name: str) -> None:
        paths.refuse_name(name)

    def entry_of(self, descriptor: int, name: str) -> Entry:
        return directories.entry_from(_handle(descriptor), name)

    def copy_metadata(self, source: int, target: int) -> None:
        from hearth.platforms.windows_security import copy_security

        copy_security(_handle(source), _handle(target))
        status, basic = nt.query(_handle(source), nt.BASIC_INFORMATION, 40)
        if status == nt.STATUS_SUCCESS:
            created, attributes = struct.unpack_from("<q24xI", basic)
            status = directories.set_attributes(_handle(target), attributes & _CARRIED, created)
        if status != nt.STATUS_SUCCESS:
            raise nt.status_error(status, "")

    def sync_file(self, descriptor: int) -> None:
        os.fsync(descriptor)  # FlushFileBuffers

    @contextlib.contextmanager
    def lock(self, path: str, timeout_ms: int) -> Iterator[None]:
        access = nt.FILE_GENERIC_READ | nt.FILE_GENERIC_WRITE
        opened = nt.open_path(paths.extended(path), access, share=nt.SHARE_ALL, disposition=nt.OPEN_ALWAYS)
        # The lock belongs to the handle, so threads of one process exclude each other as processes do.
        with nt.closing(opened) as handle:
            _take(handle, path, timeout_ms)
            yield

    def make_private_directory(self, path: str) -> None:
        from hearth.platforms.windows_security import make_private_directory

        os.makedirs(os.path.dirname(paths.extended(path)), exist_ok=True)
        try:
            make_private_directory(paths.extended(path))
        except FileExistsError:
            if not os.path.isdir(paths.extended(path)):
                raise

    def process_start(self, pid: int) -> str | None:
        opened = nt.kernel32.OpenProcess(_PROCESS_QUERY_LIMITED_INFORMATION | nt.SYNCHRONIZE, False, pid)
        if not opened:
            return None
        with nt.closing(opened) as handle:
            # A process that has ended stays known while anyone holds a handle of it.
            if nt.kernel32.WaitForSingleObject(handle, 0) == _WAIT_OBJECT_0:
                return None
            with contextlib.suppress(OSError):
                return nt.process_start(handle)
            return None

    def boot_id(self) -> str:
        return ""  # processes are told by when they started, to 100 ns since 1601

    def make_bell(self, folder: str) -> Bell:
        from hearth.platforms.windows_bells import make_bell

        with contextlib.suppress(OSError):  # the bell does without
            self.make_private_directory(folder)
        return make_bell(folder)

    def ring(self, folder: str, *, but: Bell | None = None) -> int:
        from hearth.platforms.windows_bells import ring

        return ring(folder, None if but is None else but.name)

    def wait_any(self, waitables: Sequence[int], seconds: float | None) -> list[int]:
        from hearth.platforms.windows_bells import wait_any

        return wait_any(waitables, seconds)

    def watch_folder(self, path: str) -> FolderWatch:  # noqa: ARG002
        from hearth.platforms.folder_watch import Untold

        return Untold()

    def start_background(self, words: Sequence[str], environment: Mapping[str, str], log: str) -> int:
        from hearth.platforms.windows_background import start_background

        return start_background(words, environment, log)

    def find_program(self, name: str, environment: Mapping[str, str], directory: str) -> str:
        from hearth.platforms.windows_programs import find_program

        return find_program(name, environment, directory, lambda path: os.path.isfile(paths.extended(path)))

    def start_directory(self, directory: Directory) -> str:
        return directory.path  # which nobody can move or remove while the directory is open

    def output_encoding(self) -> str | None:
        import codecs

        try:
            return codecs.lookup(f"cp{nt.kernel32.GetOEMCP()}").name
        except LookupError:
            return "oem"  # which Python converts by the system, not always there and back

    def most_programs(self) -> int:
        return 256  # handles are many there; this only keeps one call from starting thousands

    def most_descriptors(self, wanted: int) -> int | None:  # noqa: ARG002
        return None

    def empty_unshared(self, path: str, kept: int = 0) -> bool:  # noqa: ARG002
        return False

    def punch_hole(self, path: str, start: int, end: int) -> bool:
        with nt.closing(nt.open_path(paths.extended(path), nt.FILE_GENERIC_WRITE, share=nt.SHARE_ALL)) as handle:
            try:
                nt.control(handle, _FSCTL_SET_SPARSE, 0)  # or the system would write zeros
                nt.control(handle, _FSCTL_SET_ZERO_DATA, 0, struct.pack("<qq", start, end))
            except OSError as error:
                if error.winerror in _IN_USE:
                    raise
                return False
        return True

    def make_launcher(self) -> Launcher:
        from hearth.platforms.windows_processes import WindowsLauncher

        return WindowsLauncher()

    def make_detacher(self) -> Detacher:
        from hearth.platforms.windows_detached import WindowsDetacher

        return WindowsDetacher()

    def process_table(self) -> ProcessTable:
        from hearth.platforms.psutil_table import PsutilTable
        from hearth.platforms.windows_held import WindowsHeld

        return PsutilTable(WindowsHeld)

    def facts(self) -> Facts:
        from hearth.platforms.windows_facts import WindowsFacts

        return WindowsFacts()

    def user_data_directory(self) -> str:
        return os.environ.get("LOCALAPPDATA") or os.path.expanduser("~\\AppData\\Local")

    def user_config_directory(self) -> str:
        return os.environ.get("APPDATA") or os.path.expanduser("~\\AppData\\Roaming")


def _handle(descriptor: int) -> int:
    import msvcrt

    return msvcrt.get_osfhandle(descriptor)


def _root(anchor: str, components: tuple[str, ...]) -> str:
    return _final(anchor).rstrip("\\") + "\\" + "\\".join(components)


def _final(path: str) -> str:
    handle = nt.open_path(paths.extended(path), nt.FILE_READ_ATTRIBUTES, share=nt.SHARE_ALL)
    with nt.closing(handle):
        return paths.plain(nt.final_path(handle))


def _take(handle: int, path: str, timeout_ms: int) -> None:
    deadline = time.monotonic() + timeout_ms / 1000
    pause = 0.0005
    while not nt.kernel32.LockFileEx(handle, _LOCK_EXCLUSIVE_AT_ONCE, 0, 1, 0, ctypes.byref(nt.Overlapped())):
        if ctypes.get_last_error() != _ERROR_LOCK_VIOLATION:
            raise nt.last_error(path)
        if time.monotonic() >= deadline:
            raise Locked(
                f"another process held the lock for more than {timeout_ms} ms", lock=path, timeout_ms=timeout_ms
            )
        # Waiting for a lock with a limit needs an overlapped handle and an event; pauses grow to 20 ms, which is cheap.
        time.sleep(pause)
        pause = min(pause * 2, 0.02)
