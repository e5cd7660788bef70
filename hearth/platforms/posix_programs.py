"""Which file a command's first word means on Linux and macOS, found before anything is started."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Mapping

from hearth.errors import ArgumentsTooLong, NotExecutable, ProgramNotFound


def find_program(name: str, environment: Mapping[str, str], directory: str) -> str:
    """The path of the program. Raises `ProgramNotFound`, `NotExecutable`."""
    if not name or "\0" in name:
        raise ProgramNotFound("a program's name cannot be empty or hold a NUL character")
    if "/" in name:
        path = os.path.join(directory, name)
        return _runnable(path, shown=name)
    return _on_path(name, environment.get("PATH", os.environ.get("PATH", "")))


def _on_path(name: str, path: str) -> str:
    refused = None
    # An empty or relative part would mean the current directory, where anybody may have put a program.
    searched = [folder for folder in path.split(":") if folder.startswith("/")]
    for folder in searched:
        path = os.path.join(folder, name)
        try:
            return _runnable(path, mode=os.stat(path).st_mode)
        except (FileNotFoundError, NotADirectoryError):  # as in most folders: not worth an error with its words
            continue
        except OSError as error:
            refused = refused or _refused(path, error)
        except NotExecutable as error:
            refused = refused or error
    if refused is not None:
        raise refused
    listed = ", ".join(searched) if searched else "nothing, since PATH names no directory"
    raise ProgramNotFound(f"there is no program {name!r}; searched {listed}", program=name, searched=searched)


def _refused(path: str, error: OSError) -> NotExecutable:
    return NotExecutable(f"{path}: {error.strerror}", program=path)


def _runnable(path: str, shown: str | None = None, mode: int | None = None) -> str:
    """`mode`: of the file, where it was asked for already."""
    try:
        mode = os.stat(path).st_mode if mode is None else mode
    except (FileNotFoundError, NotADirectoryError):
        raise ProgramNotFound(f"{shown or path} does not exist", program=path, searched=[]) from None
    except OSError as error:
        raise _refused(path, error) from None
    if stat.S_ISDIR(mode):
        raise NotExecutable(f"{path} is a directory", program=path)
    if not stat.S_ISREG(mode) or not os.access(path, os.X_OK):
        raise NotExecutable(f"{path} is not executable", program=path, hint="chmod +x makes a file executable")
    return path


def refusal(error: OSError, program: str) -> Exception:
    """What it means that the system did not start a program: execve(2)."""
    if error.errno == errno.E2BIG:
        return ArgumentsTooLong("the words and variables are longer than the system hands to a program")
    if error.errno == errno.ENOENT and error.filename == program:
        return _without_interpreter(program)
    if error.errno == errno.ENOEXEC:
        return _no_program(program)
    if error.errno in (errno.EACCES, errno.EPERM, errno.ETXTBSY):
        return NotExecutable(f"{program}: {error.strerror}", program=program)
    return error


def refuse_unstartable(program: str) -> None:
    """Raise what `execve` would for a script without an interpreter. A shell would read it as one of its own."""
    _runnable(program)
    with contextlib.suppress(PermissionError):
        first = _beginning(program)
        if first.startswith(b"#!"):
            interpreter = interpreter_of(program)
            # A relative one is meant from the directory that the program starts in.
            if interpreter is None or (os.path.isabs(interpreter) and not os.path.exists(interpreter)):
                raise _without_interpreter(program)
        elif b"\0" not in first:
            raise _no_program(program)


def _beginning(program: str) -> bytes:
    descriptor = os.open(program, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(descriptor, 256)
    finally:
        os.close(descriptor)


def _without_interpreter(program: str) -> NotExecutable:
    return NotExecutable(f"{program}: its interpreter {interpreter_of(program)} does not exist", program=program)


def _no_program(program: str) -> NotExecutable:
    hint = "a script begins with #! and the path of its interpreter"
    return NotExecutable(f"{program} is no program of this system", hint=hint, program=program)


def interpreter_of(path: str) -> str | None:
    """The program that a script's first line names, if it names one."""
    with open(path, "rb") as file:
        first = file.readline(256)
    words = first[2:].split() if first.startswith(b"#!") else []
    return os.fsdecode(words[0]) if words else None
