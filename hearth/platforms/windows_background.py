"""Processes on Windows that outlive the one that starts them."""

from __future__ import annotations

import _winapi
import contextlib
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence

from hearth.platforms import windows_nt as nt
from hearth.platforms import windows_paths as paths
from hearth.platforms import windows_processes as processes
from hearth.platforms import windows_programs as programs
from hearth.platforms.background import set_long_log_aside

assert sys.platform == "win32"

_DETACHED_PROCESS = 0x8
_CREATE_UNICODE_ENVIRONMENT = 0x400
_FLAGS = _DETACHED_PROCESS | _winapi.CREATE_NEW_PROCESS_GROUP | _CREATE_UNICODE_ENVIRONMENT
_ERROR_ACCESS_DENIED = 5


def start_background(words: Sequence[str], environment: Mapping[str, str], log: str) -> int:
    """As `Host.start_background`. In a job that lets nobody leave, it ends with that job."""
    set_long_log_aside(paths.extended(log))
    with contextlib.ExitStack() as stack:
        handles = [
            stack.enter_context(nt.closing(nt.open_path(path, access, share=nt.SHARE_ALL, disposition=disposition)))
            for path, access, disposition in (
                ("NUL", nt.FILE_GENERIC_READ, nt.OPEN_EXISTING),
                (paths.extended(log), nt.FILE_GENERIC_APPEND, nt.OPEN_ALWAYS),
            )
        ]
        for handle in handles:
            os.set_handle_inheritable(handle, True)
        process, thread, pid = _start(words, environment, *handles)
    nt.close(thread)
    nt.close(process)
    return pid


def _start(words: Sequence[str], environment: Mapping[str, str], source: int, output: int) -> tuple[int, int, int]:
    startup = subprocess.STARTUPINFO(
        dwFlags=_winapi.STARTF_USESTDHANDLES,
        hStdInput=source,
        hStdOutput=output,
        hStdError=output,
        lpAttributeList={"handle_list": [source, output]},  # nothing else is inherited
    )
    line, kept = programs.program_line(words), processes.environment(environment)
    for flags in (_FLAGS | _winapi.CREATE_BREAKAWAY_FROM_JOB, _FLAGS):
        try:
            process, thread, pid, _ = _winapi.CreateProcess(
                words[0], line, None, None, True, flags, kept, _root(), startup
            )
        except OSError as error:
            if error.winerror != _ERROR_ACCESS_DENIED or flags == _FLAGS:
                raise
        else:
            return process, thread, pid
    raise AssertionError


def _root() -> str:
    return os.path.splitdrive(sys.executable)[0] + "\\"
