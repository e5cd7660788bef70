"""Every system offers all that the rest of hearth asks for; read as text, so that each system checks the others."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PLATFORMS = Path(__file__).parents[2] / "hearth" / "platforms"


def offered(module: str, name: str) -> dict[str, list[str]]:
    """The methods of a class and the names of their parameters."""
    tree = ast.parse((PLATFORMS / f"{module}.py").read_text(encoding="utf-8"))
    found = next(node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)
    methods = (node for node in found.body if isinstance(node, ast.FunctionDef))
    return {
        method.name: [each.arg for each in (*method.args.args, *method.args.kwonlyargs)]
        for method in methods
        if not method.name.startswith("_")
    }


@pytest.mark.parametrize(
    ("protocol", "classes"),
    [
        ("base.Host", ["windows.WindowsHost"]),
        ("base.Host", ["posix.PosixHost", "linux.LinuxHost"]),
        ("base.Host", ["posix.PosixHost", "macos.MacosHost"]),
        ("base.Directory", ["windows_directory.WindowsDirectory"]),
        ("base.Directory", ["posix.PosixDirectory"]),
        ("bells.Bell", ["windows_bells.WindowsBell"]),
        ("bells.Bell", ["posix_bells.PosixBell"]),
        ("folder_watch.FolderWatch", ["linux_watch.LinuxFolderWatch"]),
        ("folder_watch.FolderWatch", ["folder_watch.Untold"]),
        ("detached.Detacher", ["posix_detached.PosixDetacher"]),
        ("detached.Detacher", ["windows_detached.WindowsDetacher"]),
        ("detached.Detached", ["windows_detached.WindowsDetached"]),
        ("detached.Detached", ["posix_detached.PosixDetached"]),
        ("processes.Launcher", ["windows_processes.WindowsLauncher"]),
        ("processes.Launcher", ["posix_processes.PosixLauncher"]),
        ("processes.Process", ["windows_processes.WindowsProcess"]),
        ("processes.Process", ["posix_processes.PosixProcess"]),
    ],
)
def test_a_system_keeps_the_protocol(protocol: str, classes: list[str]) -> None:
    wanted = offered(*protocol.split("."))
    assert wanted
    found: dict[str, list[str]] = {}
    for each in classes:
        found |= offered(*each.split("."))
    assert {name: found.get(name) for name in wanted} == wanted
