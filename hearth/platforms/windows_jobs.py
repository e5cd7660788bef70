"""Job objects of Windows: a program and everything that it starts, ended together."""

from __future__ import annotations

import ctypes
import struct
import sys
import time
from ctypes import wintypes

from hearth.platforms import windows_nt as nt

assert sys.platform == "win32"

# https://learn.microsoft.com/windows/win32/api/winnt/ns-winnt-jobobject_extended_limit_information
_BASIC_ACCOUNTING = 1
_PROCESS_IDS = 3
_EXTENDED_LIMIT = 9
_LIMIT_JOB_TIME = 0x4
_LIMIT_PROCESS_MEMORY = 0x100
_LIMIT_DIE_ON_UNHANDLED_EXCEPTION = 0x400  # no dialog that waits for somebody
_LIMIT_KILL_ON_CLOSE = 0x2000  # that leaving the job is not allowed is the default
_EXTENDED_LIMITS = "@qqINNINII6Q4N"
_JOB_QUERY = 0x4
_JOB_TERMINATE = 0x8
_MOST_PROCESSES = 1024
_TICKS_PER_SECOND = 10_000_000
_TICKS_PER_MS = 10_000

_DECLARED: tuple[tuple[str, object, tuple[object, ...]], ...] = (
    ("CreateJobObjectW", wintypes.HANDLE, (ctypes.c_void_p, wintypes.LPCWSTR)),
    (
        "SetInformationJobObject",
        wintypes.BOOL,
        (wintypes.HANDLE, ctypes.c_int, ctypes.c_char_p, wintypes.DWORD),
    ),
    (
        "QueryInformationJobObject",
        wintypes.BOOL,
        (wintypes.HANDLE, ctypes.c_int, ctypes.c_void_p, wintypes.DWORD, ctypes.c_void_p),
    ),
    ("AssignProcessToJobObject", wintypes.BOOL, (wintypes.HANDLE, wintypes.HANDLE)),
    ("OpenJobObjectW", wintypes.HANDLE, (wintypes.DWORD, wintypes.BOOL, wintypes.LPCWSTR)),
    ("TerminateJobObject", wintypes.BOOL, (wintypes.HANDLE, wintypes.UINT)),
)
for _name, _result, _arguments in _DECLARED:
    _call = getattr(nt.kernel32, _name)
    _call.restype, _call.argtypes = _result, _arguments


class Job:
    """A job that ends with its last handle, which this process holds, so however this process ends."""

    def __init__(self, *, cpu_seconds: int | None, memory_bytes: int | None, name: str | None = None) -> None:
        """`cpu_seconds` is for all of it together, `memory_bytes` for each of its processes."""
        self._limits = cpu_seconds, memory_bytes
        self._handle = nt.kernel32.CreateJobObjectW(None, name)
        if not self._handle:
            raise nt.last_error(name or "")
        try:
            self._set_limits(_LIMIT_KILL_ON_CLOSE)
        except BaseException:
            self.close()
            raise

    @classmethod
    def open(cls, name: str) -> Job | None:
        """A job of that name, as long as somebody has a handle of it."""
        handle = nt.kernel32.OpenJobObjectW(_JOB_QUERY | _JOB_TERMINATE, False, name)
        if not handle:
            return None
        job = cls.__new__(cls)
        job._handle = handle
        return job

    def _set_limits(self, flags: int) -> None:
        cpu_seconds, memory_bytes = self._limits
        flags |= _LIMIT_DIE_ON_UNHANDLED_EXCEPTION
        flags |= _LIMIT_JOB_TIME if cpu_seconds is not None else 0
        flags |= _LIMIT_PROCESS_MEMORY if memory_bytes is not None else 0
        limits = struct.pack(
            _EXTENDED_LIMITS,
            0,
            (cpu_seconds or 0) * _TICKS_PER_SECOND,
            flags,
            *[0] * 6,
            *[0] * 6,
            memory_bytes or 0,
            *[0] * 3,
        )
        if not nt.kernel32.SetInformationJobObject(self._handle, _EXTENDED_LIMIT, limits, len(limits)):
            raise nt.last_error("")

    def outlive(self, process: int) -> None:
        """Have the job live as long as `process`, which gets a handle of it, and no longer end with this process."""
        self._set_limits(0)
        nt.duplicate(self._handle, process)

    def add(self, process: int) -> None:
        """Put a process, and so what it starts from now on, into the job."""
        if not nt.kernel32.AssignProcessToJobObject(self._handle, process):
            raise nt.last_error("")

    def terminate(self, exit_code: int) -> None:
        nt.kernel32.TerminateJobObject(self._handle, exit_code)

    def end(self, exit_code: int, seconds: float) -> None:
        """Terminate everything, and wait until it is gone, at most `seconds`."""
        deadline = time.monotonic() + seconds
        while pids := self.pids():
            opened = [nt.kernel32.OpenProcess(nt.SYNCHRONIZE, False, pid) for pid in pids]
            self.terminate(exit_code)
            for handle in filter(None, opened):
                left = max(0, round((deadline - time.monotonic()) * 1000))
                nt.kernel32.WaitForSingleObject(handle, left)
                nt.close(handle)
            if time.monotonic() >= deadline or not any(opened):
                return

    def pids(self) -> list[int]:
        """The processes of the job, at most 1,024 of them."""
        buffer = ctypes.create_string_buffer(8 + _MOST_PROCESSES * ctypes.sizeof(ctypes.c_size_t))
        nt.kernel32.QueryInformationJobObject(self._handle, _PROCESS_IDS, buffer, len(buffer), None)
        _, listed = struct.unpack_from("II", buffer)
        return list(struct.unpack_from(f"@{listed}N", buffer, 8))

    def cpu_ms(self) -> int:
        """Processor time of everything that ever ran in the job."""
        buffer = ctypes.create_string_buffer(48)
        nt.kernel32.QueryInformationJobObject(self._handle, _BASIC_ACCOUNTING, buffer, len(buffer), None)
        user, kernel = struct.unpack_from("qq", buffer)
        return int((user + kernel) // _TICKS_PER_MS)

    def close(self) -> None:
        nt.close(self._handle)
