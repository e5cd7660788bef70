"""Programs that hearth itself uses, and starts without a shell."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import IO, Any


def find_program(name: str) -> str | None:
    """The program that was installed with this Python, else the one on PATH. Never one of the current directory,
    which Windows would look into first."""
    file = f"{name}.exe" if sys.platform == "win32" else name
    beside = os.path.dirname(sys.executable)
    folders = [
        beside,
        os.path.join(beside, "Scripts"),
        *_script_folders(),
        *os.environ.get("PATH", "").split(os.pathsep),
    ]
    for folder in folders:
        path = os.path.join(folder, file)
        if os.path.isabs(folder) and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return None


def _script_folders() -> list[str]:
    import sysconfig

    schemes = ["nt_user" if sys.platform == "win32" else "posix_user"]
    return [sysconfig.get_path("scripts"), *(sysconfig.get_path("scripts", scheme) for scheme in schemes)]


def start_reader(arguments: list[str], folder: str, *, stdin: int | None = None) -> subprocess.Popen[bytes]:
    """Start a program whose output is read through pipes; its input is an open file, or nothing. Raises `OSError`."""
    options: dict[str, Any] = {}
    if sys.platform == "win32":
        options["creationflags"] = subprocess.CREATE_NO_WINDOW
    given = subprocess.DEVNULL if stdin is None else stdin
    return subprocess.Popen(
        arguments, cwd=folder, stdin=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options
    )


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill what still runs, and let go of it."""
    if process.poll() is None:
        process.kill()
    process.wait()
    pipes: list[IO[bytes] | None] = [process.stdout, process.stderr]
    for pipe in pipes:
        if pipe is not None:
            pipe.close()
