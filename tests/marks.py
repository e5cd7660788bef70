"""Where a test cannot run, and why."""

from __future__ import annotations

import os
import sys

import pytest

WINDOWS = sys.platform == "win32"
EMULATED = "WINELAB" in os.environ  # Windows' Python on an emulator

needs_links = pytest.mark.skipif(WINDOWS, reason="symbolic links need a privilege, and the emulator has none")


def posix_only(reason: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(WINDOWS, reason=reason)


def not_emulated(reason: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(EMULATED, reason=reason)
