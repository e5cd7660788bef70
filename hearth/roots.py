"""Which directories a process may act in: the configured ones, else what may be implied."""

from __future__ import annotations

import os
from collections.abc import Sequence

from hearth.containment import Root
from hearth.platforms.base import Host
from hearth.runtime import Caller
from hearth.settings import RootSetting

# What a client must not get just because hearth happened to start there; (…, True): nor anything below.
_SYSTEM: dict[str, tuple[tuple[str, bool], ...]] = {
    "linux": tuple((f"/{name}", True) for name in ("bin", "boot", "dev", "etc", "lib", "lib64", "proc", "sbin", "sys"))
    + tuple((f"/{name}", False) for name in ("home", "media", "mnt", "opt", "root", "run", "srv", "tmp", "usr", "var"))
    + (("/usr/bin", True), ("/usr/lib", True), ("/usr/sbin", True), ("/usr/share", True), ("/usr/local", False)),
    "macos": tuple((f"/{name}", True) for name in ("bin", "dev", "private/etc", "sbin", "System", "usr/bin", "usr/lib"))
    + tuple((f"/{name}", False) for name in ("Applications", "Library", "Users", "Volumes", "private", "tmp", "usr"))
    + (("/private/var", False), ("/private/tmp", False), ("/etc", True), ("/opt", False), ("/usr/local", False)),
    "windows": (
        ("Windows", True),
        ("Program Files", True),
        ("Program Files (x86)", True),
        ("ProgramData", False),
        ("Users", False),
    ),
}


def resolve(configured: Sequence[RootSetting]) -> tuple[Root, ...]:
    """The configured roots, each once; read-only wins where one is named twice."""
    read_only: dict[str, bool] = {}
    for root in configured:
        read_only[root.path] = read_only.get(root.path, False) or root.read_only
    return tuple(Root(path, only) for path, only in read_only.items())


def implied_roots(host: Host, here: str, caller: Caller, *, at_terminal: bool = True) -> tuple[Root, ...]:
    """The roots where none is configured.

    At the shell it is the current directory, whatever that is: the person stands there. A server gets it only when
    it was started from a terminal, and never `/`, a drive, the home directory or a system folder: without a root
    every call answers `no_roots`, with the command that adds one.
    """
    if caller is Caller.MCP and (not at_terminal or is_broad(host, here)):
        return ()
    return (Root(here),)


def is_broad(host: Host, path: str) -> bool:
    """Whether a directory is `/`, a drive, the home directory or one above it, or belongs to the system."""
    anchor, parts = host.parts(host.real_path(path))
    home_anchor, home = host.parts(host.real_path(os.path.expanduser("~")))
    if not parts or (host.same_name(anchor, home_anchor) and _is_start(host, parts, home)):
        return True
    for spelled, below in _SYSTEM.get(host.name, ()):
        system = tuple(part for part in spelled.split("/") if part)
        if _is_start(host, system, parts) and (below or len(parts) == len(system)):
            return True
    return False


def _is_start(host: Host, start: tuple[str, ...], parts: tuple[str, ...]) -> bool:
    return len(start) <= len(parts) and all(map(host.same_name, start, parts))
