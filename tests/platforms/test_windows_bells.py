"""What only Windows does with bells, and with processes in the background: events, left files, jobs, handles."""

from __future__ import annotations

import sys

import pytest

if sys.platform != "win32":
    pytest.skip("Windows only", allow_module_level=True)

import msvcrt
import os
import struct
import subprocess
from contextlib import closing
from pathlib import Path
from typing import Any

from hearth.platforms import bells, windows_bells
from hearth.platforms import windows_jobs as jobs
from hearth.platforms import windows_nt as nt
from hearth.platforms.base import Host
from tests.platforms.test_background import LONG, PARENT, Lasting, environment, lasting, run

__all__ = ["lasting"]
EXTENDED_LIMITS = 9
BREAKAWAY_OK, KILL_ON_CLOSE = 0x800, 0x2000


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "bells"
    made.mkdir()
    return made


def test_a_file_that_a_loss_of_power_left_is_removed_by_the_next_ring(host: Host, folder: Path) -> None:
    (folder / bells.new_name()).write_bytes(b"")
    with closing(host.make_bell(str(folder))):
        assert host.ring(str(folder)) == 1
        assert len(os.listdir(folder)) == 1


@pytest.mark.parametrize("space", ["Global", "Local"])
def test_a_bell_is_heard_in_its_space_of_names(host: Host, folder: Path, space: str) -> None:
    name = bells.new_name()
    event = nt.kernel32.CreateEventW(None, True, False, f"{space}\\hearth-{name}")
    with nt.closing(event):
        (folder / name).write_bytes(b"")
        assert host.ring(str(folder)) == 1
        assert host.wait_any([event], 0) == [event]


def test_a_bell_that_no_space_of_names_takes_is_one_that_nobody_can_ring(
    host: Host, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(windows_bells, "_SPACES", ("none\\such\\space\\",))
    with closing(host.make_bell(str(folder))) as bell:
        assert host.ring(str(folder)) == 0
        assert os.listdir(folder) == []
        assert host.wait_any([bell.waitable], 0) == []


def test_a_folder_with_bells_in_it_can_be_removed_by_who_owns_them(host: Host, folder: Path) -> None:
    bell = host.make_bell(str(folder))
    with pytest.raises(OSError):
        folder.rmdir()
    bell.close()
    folder.rmdir()


def test_a_process_in_the_background_inherits_no_other_handle(host: Host, tmp_path: Path) -> None:
    with open(tmp_path / "secret", "wb") as file:
        handle = msvcrt.get_osfhandle(file.fileno())
        os.set_handle_inheritable(handle, True)
        code = (
            "import ctypes, sys; k = ctypes.WinDLL('kernel32'); k.GetFinalPathNameByHandleW.argtypes = "
            "[ctypes.c_void_p, ctypes.c_wchar_p, ctypes.c_uint32, ctypes.c_uint32];"
            f"b = ctypes.create_unicode_buffer(999); k.GetFinalPathNameByHandleW({handle}, b, 999, 0);"
            "print('secret' in b.value)"
        )
        assert run(host, code, tmp_path) == "False"


def start_in_job(lasting: Lasting, job: Any) -> int:
    """The pid of what a process in a job started, once it is there."""
    words = [sys.executable, "-c", PARENT, lasting.log, *lasting.words]
    with subprocess.Popen(words, env=environment(), stdin=subprocess.PIPE) as parent:
        job.add(int(parent._handle))
        assert parent.stdin is not None
        parent.stdin.close()
        lasting.hear()
    return int(lasting.written()[1])


def test_a_process_in_the_background_ends_with_a_job_that_nobody_may_leave(host: Host, lasting: Lasting) -> None:
    job = jobs.Job(cpu_seconds=None, memory_bytes=None)
    opened = nt.kernel32.OpenProcess(nt.SYNCHRONIZE, False, start_in_job(lasting, job))
    job.close()
    with nt.closing(opened):
        assert host.wait_any([opened], LONG) == [opened]


def test_a_process_in_the_background_leaves_a_job_that_allows_it(lasting: Lasting) -> None:
    job = jobs.Job(cpu_seconds=None, memory_bytes=None)
    limits = struct.pack("@qqINNINII6Q4N", 0, 0, KILL_ON_CLOSE | BREAKAWAY_OK, *[0] * 16)
    assert nt.kernel32.SetInformationJobObject(job._handle, EXTENDED_LIMITS, limits, len(limits))
    start_in_job(lasting, job)
    job.close()
    lasting.end()
