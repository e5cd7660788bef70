"""A process of Windows that is held by a handle, which is signalled once it has ended."""

from __future__ import annotations

import ctypes
import sys
from ctypes import wintypes

from hearth.platforms import windows_nt as nt
from hearth.platforms.process_table import Signal
from hearth.platforms.psutil_table import started_ms

assert sys.platform == "win32"

_TERMINATE = 0x1
_QUERY_LIMITED_INFORMATION = 0x1000
_WAIT_OBJECT_0 = 0
_WM_CLOSE = 0x10
_EXIT_CODE = 1  # what TerminateProcess leaves, as taskkill does


class WindowsHeld:
    """A process by its handle."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        wanted = _QUERY_LIMITED_INFORMATION | nt.SYNCHRONIZE
        self._may_end = True
        self._handle = nt.kernel32.OpenProcess(wanted | _TERMINATE, False, pid)
        if not self._handle:
            self._may_end = False
            self._handle = nt.kernel32.OpenProcess(wanted, False, pid)
        if not self._handle:
            raise _error(pid)

    @property
    def started_ms(self) -> int | None:
        return started_ms(self.pid)

    @property
    def waitable(self) -> int:
        return int(self._handle)

    def wait(self, seconds: float) -> bool:
        return bool(nt.kernel32.WaitForSingleObject(self._handle, round(seconds * 1000)) == _WAIT_OBJECT_0)

    def ask_to_end(self) -> bool:
        self._refuse_ended()
        return _ask_windows_to_close(self.pid)

    def send(self, what: Signal) -> None:
        self._refuse_ended()
        if what is Signal.KILL:
            self._terminate()
        elif what is not Signal.TERM or not self.ask_to_end():
            raise ValueError(
                f"{what.value} cannot be sent to process {self.pid}: it has no window that could close; kill ends it"
            )

    def _refuse_ended(self) -> None:
        if self.wait(0):
            raise ProcessLookupError(f"process {self.pid} has ended")

    def _terminate(self) -> None:
        if not self._may_end:
            raise PermissionError(f"process {self.pid} may not be ended by this user")
        end = nt.kernel32.TerminateProcess
        end.argtypes, end.restype = (wintypes.HANDLE, wintypes.UINT), wintypes.BOOL
        if not end(self._handle, _EXIT_CODE) and not self.wait(0):
            raise nt.last_error(str(self.pid))

    def close(self) -> None:
        nt.close(self._handle)


def _error(pid: int) -> OSError:
    invalid_parameter = 87  # how OpenProcess says that there is no such process
    if ctypes.get_last_error() == invalid_parameter:
        return ProcessLookupError(f"there is no process {pid}")
    return nt.last_error(str(pid))


def _ask_windows_to_close(pid: int) -> bool:
    """WM_CLOSE to its top-level windows, as taskkill without /F does; a program without windows hears nothing."""
    user32 = ctypes.WinDLL("user32")
    asked: list[int] = []

    @ctypes.WINFUNCTYPE(wintypes.BOOL, wintypes.HWND, wintypes.LPARAM)
    def ask(window: int, _: int) -> bool:
        owner = wintypes.DWORD()
        user32.GetWindowThreadProcessId(wintypes.HWND(window), ctypes.byref(owner))
        if owner.value == pid and user32.IsWindowVisible(wintypes.HWND(window)):
            user32.PostMessageW(wintypes.HWND(window), _WM_CLOSE, 0, 0)
            asked.append(window)
        return True

    user32.EnumWindows(ask, 0)
    return bool(asked)
