"""Names that mean devices on Windows, which are made on no system."""

from __future__ import annotations

# https://learn.microsoft.com/windows/win32/fileio/naming-a-file; COM and LPT also take superscript digits.
_DEVICES = frozenset(
    ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"]
    + [f"{port}{digit}" for port in ("COM", "LPT") for digit in "0123456789\u00b9\u00b2\u00b3"]
)


def is_reserved(name: str) -> bool:
    """Whether Windows would take a component for a device: `nul`, `NUL.txt`, `con `, `aux.`, `com1:x`."""
    stem = name.split(":", 1)[0].split(".", 1)[0].rstrip(" ")
    return stem.upper() in _DEVICES
