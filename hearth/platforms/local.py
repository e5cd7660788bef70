"""The host that this process runs on."""

from __future__ import annotations

import sys
from typing import cast

from hearth.platforms.base import Host


def local_host() -> Host:
    """The `Host` of this system; only its own module is imported."""
    if sys.platform == "win32":
        from hearth.platforms.windows import WindowsHost

        return WindowsHost()
    if sys.platform == "darwin":
        from hearth.platforms.macos import MacosHost

        return MacosHost()
    from hearth.platforms.linux import LinuxHost

    return cast(Host, LinuxHost())
