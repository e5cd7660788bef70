"""What the machine is and has."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
import zoneinfo
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from hearth.clock import Clock
from hearth.platforms.facts import Facts
from hearth.runtime import Runtime
from hearth.services.machine.host_info import HostInfo, host_info
from tests.marks import WINDOWS, posix_only

Hearth = Callable[..., Any]


def test_it_says_what_the_system_itself_says(hearth: Hearth) -> None:
    found = hearth("machine", "host-info", "--json").json
    assert (found["version"], found["state"]) == (1, "completed")
    assert found["system"] in ("linux", "macos", "windows")
    assert found["hostname"] == platform.node()
    assert found["architecture"] == platform.machine()
    assert found["pid"] == os.getpid()
    assert found["memory"]["total_bytes"] == psutil.virtual_memory().total
    assert found["processors"]["logical"] == os.cpu_count()
    assert found["processors"]["usable"] >= 1
    assert any(disk["total_bytes"] >= disk["free_bytes"] > 0 for disk in found["disks"])
    assert all(Path(shell).is_file() for shell in found["shells"])


def test_the_disk_of_a_root_is_told(runtime: Runtime) -> None:
    disks = host_info(runtime, HostInfo()).disks
    assert disks
    assert psutil.disk_usage(runtime.base).total in [disk.total_bytes for disk in disks]


def test_a_part_that_cannot_be_found_is_null_with_a_reason(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Facts) -> None:
        raise RuntimeError("the driver is out to lunch")

    monkeypatch.setattr(Facts, "memory", broken)
    found = host_info(runtime, HostInfo())
    assert (found.memory, found.unknown["memory"]) == (None, "the driver is out to lunch")
    assert found.processors is not None


@posix_only("TZ names a zone on POSIX; Windows has a setting")
def test_the_zone_in_tz_is_the_zone(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    assert host_info(runtime, HostInfo()).time_zone == "Asia/Kathmandu"


@posix_only("TZ names a zone on POSIX; Windows has a setting")
def test_a_rule_in_tz_is_no_name_and_says_so(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "EST5EDT4,M3.2.0,M11.1.0")
    found = host_info(runtime, HostInfo())
    assert found.time_zone is None
    assert found.unknown["time_zone"]


def test_a_zone_that_is_told_exists(runtime: Runtime) -> None:
    found = host_info(runtime, HostInfo())
    assert (found.time_zone is None) is ("time_zone" in found.unknown)
    if found.time_zone is not None:
        zoneinfo.ZoneInfo(found.time_zone)


@pytest.mark.skipif(WINDOWS, reason="a desktop of Windows is not told by the environment")
def test_without_a_desktop_there_are_no_screens_and_no_error(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    found = host_info(runtime, HostInfo())
    assert "displays" not in found.unknown
    assert found.displays is not None


@pytest.mark.skipif(WINDOWS, reason="there is no X server to miss")
def test_a_screen_that_does_not_answer_is_unknown(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISPLAY", ":4711")
    found = host_info(runtime, HostInfo())
    assert found.displays or found.unknown["displays"]


def test_a_second_call_takes_less_than_a_tenth_of_a_second_of_processor_time(runtime: Runtime) -> None:
    host_info(runtime, HostInfo())  # the first loads modules
    before = time.process_time()
    host_info(runtime, HostInfo())
    assert time.process_time() - before < 0.1


class Later(Clock):
    """A clock that goes on when it is told to."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def monotonic(self) -> float:
        return self.seconds


@posix_only("Windows does not read TZ")
def test_a_process_that_lives_long_looks_at_what_rarely_changes_now_and_then(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Later()
    lasting = runtime.for_call(clock=clock)
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    assert host_info(lasting, HostInfo()).time_zone == "Asia/Tokyo"
    monkeypatch.setenv("TZ", "Europe/Paris")
    clock.seconds += 29
    assert host_info(lasting, HostInfo()).time_zone == "Asia/Tokyo"
    clock.seconds += 2
    assert host_info(lasting, HostInfo()).time_zone == "Europe/Paris"


def test_threads_that_look_at_the_same_time_are_all_answered(runtime: Runtime) -> None:
    # In a process of its own: Python remembers the machine's name once it was told.
    program = (
        "import threading; from hearth.platforms.local import local_host; facts = local_host().facts();"
        "threads = [threading.Thread(target=facts.hostname) for _ in range(4)];"
        "[each.start() for each in threads]; [each.join() for each in threads]; print(facts.hostname())"
    )
    root = str(Path(__file__).parents[3])
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=root, capture_output=True, encoding="utf-8", timeout=30, check=True
    )
    assert done.stdout.strip() == host_info(runtime, HostInfo()).hostname
