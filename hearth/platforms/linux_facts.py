"""What a Linux machine is and has: from /proc, /sys and /etc, without starting a program."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping
from contextlib import suppress

from hearth.platforms.facts import Display, Facts, Unknown, is_zone, zone_of_link, zone_of_variable

# What the control groups of process 1 are named after, outside of cgroup namespaces.
_GROUPS = (
    ("kubepods", "kubernetes"),
    ("docker", "docker"),
    ("libpod", "podman"),
    ("containerd", "containerd"),
    ("lxc", "lxc"),
)
_NO_LIMIT = 1 << 60  # cgroup v1 says "none" by a number near the largest


class LinuxFacts(Facts):
    def release(self) -> str:
        try:
            found = platform.freedesktop_os_release()
        except OSError as error:
            raise Unknown("there is no os-release file") from error
        return found.get("PRETTY_NAME") or found["NAME"]

    def processor_model(self) -> str | None:
        for line in _text("/proc/cpuinfo").splitlines():
            name, _, value = line.partition(":")
            if name.strip() in ("model name", "Model", "Hardware"):
                return value.strip()
        return None

    def memory_limit(self) -> int | None:
        for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
            text = _text(path).strip()
            if text.isdigit() and int(text) < _NO_LIMIT:
                return int(text)
        return None

    def container(self) -> str | None:
        for path, kind in (("/.dockerenv", "docker"), ("/run/.containerenv", "podman")):
            if os.path.exists(path):
                return kind
        if named := _text("/run/systemd/container").strip():
            return named
        if "microsoft" in platform.release().lower():
            return "wsl"
        groups = _text("/proc/1/cgroup")
        return next((kind for word, kind in _GROUPS if word in groups), None)

    def time_zone(self, environ: Mapping[str, str]) -> str:
        if environ.get("TZ"):
            if found := zone_of_variable(environ):
                return found
            raise Unknown("TZ holds a rule, not the name of a zone")
        for name in (zone_of_link("/etc/localtime"), _text("/etc/timezone").strip()):
            if name and is_zone(name):
                return name
        if not os.path.exists("/etc/localtime"):
            return "UTC"  # what the C library takes without the file
        raise Unknown("/etc/localtime is a copy and does not tell its name")

    def displays(self, environ: Mapping[str, str]) -> list[Display]:
        found = _connectors()
        if not found and environ.get("DISPLAY"):
            found = [_x11_screen(environ["DISPLAY"])]
        if not found and not environ.get("WAYLAND_DISPLAY"):
            return []
        if not found:
            raise Unknown("the screens of this Wayland session cannot be seen")
        return found


def _text(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def _connectors() -> list[Display]:
    """The outputs of graphics cards with a screen, and its preferred size."""
    base = "/sys/class/drm"
    found = []
    with suppress(OSError):
        for name in sorted(os.listdir(base)):
            if _text(f"{base}/{name}/status").strip() == "connected":
                size = re.match(r"(\d+)x(\d+)", _text(f"{base}/{name}/modes"))
                width, height = (int(size[1]), int(size[2])) if size else (None, None)
                found.append(Display(name.partition("-")[2], width, height))
    return found


def _x11_screen(name: str) -> Display:
    """The size of the default screen of an X server, by its own library."""
    import ctypes

    try:
        library = ctypes.CDLL("libX11.so.6")
    except OSError as error:
        raise Unknown("libX11 is not installed") from error
    library.XOpenDisplay.restype = ctypes.c_void_p
    display = ctypes.c_void_p(library.XOpenDisplay(name.encode("utf-8")))
    if not display:
        raise Unknown(f"the X server at {name} does not answer")
    screen = library.XDefaultScreen(display)
    width, height = library.XDisplayWidth(display, screen), library.XDisplayHeight(display, screen)
    library.XCloseDisplay(display)
    return Display(name, width, height)
