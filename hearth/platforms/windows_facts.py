"""What a Windows machine is and has."""

from __future__ import annotations

import ctypes
import os
import sys
import winreg
from collections.abc import Mapping
from ctypes import wintypes

from hearth.platforms.facts import Display, Facts, Unknown, zone_of_variable

assert sys.platform == "win32"

_CURRENT_VERSION = r"SOFTWARE\Microsoft\Windows NT\CurrentVersion"
_PROCESSOR = r"HARDWARE\DESCRIPTION\System\CentralProcessor\0"
_CONTROL = r"SYSTEM\CurrentControlSet\Control"
_TIME_ZONE = r"SYSTEM\CurrentControlSet\Control\TimeZoneInformation"
_FIRST_OF_11 = 22_000  # Windows 11 calls itself 10; its builds start here


class _Monitor(ctypes.Structure):
    _fields_ = (
        ("cbSize", wintypes.DWORD),
        ("rcMonitor", wintypes.RECT),
        ("rcWork", wintypes.RECT),
        ("dwFlags", wintypes.DWORD),
        ("szDevice", wintypes.WCHAR * 32),
    )


class WindowsFacts(Facts):
    def release(self) -> str:
        name = _registry(_CURRENT_VERSION, "ProductName") or "Windows"
        build = sys.getwindowsversion().build
        if build >= _FIRST_OF_11:
            name = name.replace("Windows 10", "Windows 11")
        shown = _registry(_CURRENT_VERSION, "DisplayVersion")
        return " ".join(filter(None, (name, shown, f"build {build}")))

    def processor_model(self) -> str | None:
        found = _registry(_PROCESSOR, "ProcessorNameString")
        return found.strip() if found else None

    def is_elevated(self) -> bool:
        return bool(ctypes.windll.shell32.IsUserAnAdmin())

    def container(self) -> str | None:
        return "windows" if _registry(_CONTROL, "ContainerType") else None

    def time_zone(self, environ: Mapping[str, str]) -> str:
        return zone_of_variable(environ) or _iana_zone(_registry(_TIME_ZONE, "TimeZoneKeyName"))

    def displays(self, environ: Mapping[str, str]) -> list[Display]:  # noqa: ARG002
        user32 = ctypes.WinDLL("user32")
        found: list[Display] = []

        @ctypes.WINFUNCTYPE(wintypes.BOOL, wintypes.HANDLE, wintypes.HDC, ctypes.c_void_p, wintypes.LPARAM)
        def note(monitor: int, *_: object) -> bool:
            info = _Monitor(cbSize=ctypes.sizeof(_Monitor))
            if user32.GetMonitorInfoW(wintypes.HANDLE(monitor), ctypes.byref(info)):
                area = info.rcMonitor
                found.append(Display(info.szDevice, area.right - area.left, area.bottom - area.top))
            return True

        user32.EnumDisplayMonitors(None, None, note, 0)
        return found

    def shells(self, environ: Mapping[str, str]) -> list[str]:
        system = environ.get("SystemRoot", "")
        names = ("pwsh.exe", "bash.exe")
        wanted = [
            environ.get("COMSPEC", ""),
            os.path.join(system, "System32", "WindowsPowerShell", "v1.0", "powershell.exe"),
            *(os.path.join(folder, name) for name in names for folder in environ.get("PATH", "").split(os.pathsep)),
        ]
        found = (path for path in wanted if os.path.isabs(path) and os.path.isfile(path))
        return list({os.path.normcase(path): path for path in found}.values())


def _registry(key: str, name: str) -> str | None:
    try:
        with winreg.OpenKey(winreg.HKEY_LOCAL_MACHINE, key) as opened:
            return str(winreg.QueryValueEx(opened, name)[0])
    except OSError:
        return None


def _iana_zone(windows_name: str | None) -> str:
    """The zone's IANA name by the system's own table: ICU, which is part of Windows since 10 1703."""
    if not windows_name:
        raise Unknown("the registry names no time zone")
    try:
        icu = ctypes.CDLL("icuin.dll")
        translate = icu.ucal_getTimeZoneIDForWindowsID
    except (OSError, AttributeError) as error:
        raise Unknown(f"this Windows has no table for the zone {windows_name!r}") from error
    status, room = ctypes.c_int(0), ctypes.create_unicode_buffer(128)
    length = translate(ctypes.c_wchar_p(windows_name), -1, None, room, 128, ctypes.byref(status))
    if status.value > 0 or not 0 < length < 128:
        raise Unknown(f"Windows gives the zone {windows_name!r} no IANA name")
    return room.value
