"""What a Mac is and has."""

from __future__ import annotations

import ctypes
import platform
import subprocess
from collections.abc import Mapping

from hearth.platforms.facts import Display, Facts, Unknown, zone_of_link, zone_of_variable

_MOST_DISPLAYS = 16


class MacosFacts(Facts):
    def release(self) -> str:
        return f"macOS {platform.mac_ver()[0]}"

    def processor_model(self) -> str | None:
        words = ["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"]
        done = subprocess.run(words, capture_output=True, stdin=subprocess.DEVNULL, timeout=2, check=False)
        return done.stdout.decode("utf-8", "replace").strip() or None

    def time_zone(self, environ: Mapping[str, str]) -> str:
        found = zone_of_variable(environ) if environ.get("TZ") else zone_of_link("/etc/localtime")
        if found is None:
            raise Unknown("neither TZ nor /etc/localtime names a zone")
        return found

    def displays(self, environ: Mapping[str, str]) -> list[Display]:  # noqa: ARG002
        try:
            graphics = ctypes.CDLL("/System/Library/Frameworks/CoreGraphics.framework/CoreGraphics")
        except OSError as error:
            raise Unknown("CoreGraphics cannot be loaded") from error
        count, numbers = ctypes.c_uint32(), (ctypes.c_uint32 * _MOST_DISPLAYS)()
        if graphics.CGGetActiveDisplayList(_MOST_DISPLAYS, numbers, ctypes.byref(count)) != 0:
            raise Unknown("CoreGraphics lists no displays")
        graphics.CGDisplayPixelsWide.restype = graphics.CGDisplayPixelsHigh.restype = ctypes.c_size_t
        return [
            Display(str(each), graphics.CGDisplayPixelsWide(each), graphics.CGDisplayPixelsHigh(each))
            for each in numbers[: count.value]
        ]
