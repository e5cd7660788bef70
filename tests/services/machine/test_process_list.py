"""The list of processes."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import psutil
import pytest

from hearth.clock import parse_timestamp
from hearth.errors import Cancelled
from hearth.platforms.psutil_table import PsutilTable
from hearth.runtime import Runtime
from hearth.services.machine.process_list import ListProcesses, list_processes
from tests.marks import not_emulated, posix_only
from tests.services.machine.started import PARENT, SLEEPER, Start, starting

Hearth = Callable[..., Any]


@pytest.fixture
def start() -> Iterator[Start]:
    with starting() as made:
        yield made


def listed(hearth: Hearth, *words: str) -> list[dict[str, Any]]:
    done = hearth("machine", "process-list", *words, "--json")
    assert done.status == 0, done.err
    found: list[dict[str, Any]] = done.json["processes"]
    return found


def test_a_process_is_told_as_psutil_sees_it(hearth: Hearth, start: Start) -> None:
    process = psutil.Process(start().pid)
    (found,) = listed(hearth, "--pid", str(process.pid))
    assert (found["parent"], found["name"]) == (os.getpid(), process.name())
    assert found["memory_bytes"] > 1_000_000
    assert parse_timestamp(found["started_at"]) == round(process.create_time() * 1000)
    assert found["user"] == process.username()
    assert (found["depth"], found["ports"]) == (None, None)
    assert "-c" in found["command"]
    assert "time.sleep(300)" in found["command"]


def test_this_process_is_in_the_list(hearth: Hearth) -> None:
    assert os.getpid() in [each["pid"] for each in listed(hearth)]


def test_secrets_of_a_command_line_are_not_shown_and_cannot_be_guessed(hearth: Hearth, start: Start) -> None:
    pid = str(start(SLEEPER, "--password", "hunter2-hunter2", "--user=ann").pid)
    (found,) = listed(hearth, "--pid", pid)
    assert "--password '[redacted]' --user=ann" in found["command"].replace('"', "'") or os.name == "nt"
    assert "hunter2" not in json.dumps(found)
    assert listed(hearth, "--pid", pid, "hunter2") == []
    assert len(listed(hearth, "--pid", pid, "--user", found["user"], "USER=ANN")) == 1


def test_a_long_command_line_is_cut_and_no_secret_with_it(hearth: Hearth, start: Start) -> None:
    pid = str(start(SLEEPER, "x" * 4_000, "--token=abcdefgh12345678").pid)
    (found,) = listed(hearth, "--pid", pid)
    assert len(found["command"]) <= 4_096
    assert found["command"].endswith("...")
    assert "abcdefgh" not in found["command"]


def test_names_and_numbers_choose(hearth: Hearth, start: Start) -> None:
    one, two = start().pid, start().pid
    name = psutil.Process(one).name()
    assert [each["pid"] for each in listed(hearth, "--pid", str(two), "--pid", str(one))] == sorted((one, two))
    assert {one, two} <= {each["pid"] for each in listed(hearth, "--name", name)}
    assert listed(hearth, "--pid", str(one), "--name", f"not-{name}") == []


def test_a_number_that_no_process_has_is_just_not_there(hearth: Hearth, start: Start) -> None:
    ended = start()
    ended.kill()
    ended.wait()
    assert listed(hearth, "--pid", str(ended.pid), "--pid", str(2**31 - 1)) == []


def test_a_tree_has_the_children_below_their_parent(hearth: Hearth, start: Start) -> None:
    parent = start(PARENT).pid
    found = listed(hearth, "--pid", str(parent), "--tree")
    # A launcher of Windows stands between a virtual environment's Python and the real one.
    assert found[0]["pid"] == parent
    assert [each["depth"] for each in found] == list(range(len(found)))
    assert all(below["parent"] == above["pid"] for above, below in pairwise(found))
    assert len(found) >= 2


def test_most_memory_comes_first(hearth: Hearth) -> None:
    sizes = [each["memory_bytes"] or 0 for each in listed(hearth, "--sort", "memory")]
    assert sizes == sorted(sizes, reverse=True)


def test_the_newest_come_first(hearth: Hearth, start: Start) -> None:
    one, two = start().pid, start().pid
    pids = [each["pid"] for each in listed(hearth, "--sort", "started")]
    assert pids.index(two) < pids.index(one)


def test_a_limit_cuts_and_says_so(hearth: Hearth) -> None:
    done = hearth("machine", "process-list", "--limit", "1", "--json")
    assert (done.status, done.json["state"], done.json["stopped"]) == (0, "partial", "limit")
    assert len(done.json["processes"]) == 1
    assert done.json["found"] > 1


@not_emulated("the emulator counts the processor time of other processes too seldom")
def test_a_sample_measures_what_is_used_now(hearth: Hearth, start: Start) -> None:
    busy = start("print('up', flush=True)\nwhile True: pass")
    (found,) = listed(hearth, "--pid", str(busy.pid), "--sample", "200ms")
    assert 0 < found["cpu_percent"] <= 150


def test_cancelling_ends_a_sample(runtime: Runtime) -> None:
    runtime.cancelled.set()
    with pytest.raises(Cancelled):
        list_processes(runtime, ListProcesses(pids=(os.getpid(),), sample_ms=10_000))


@not_emulated("the emulator lists no ports")
def test_ports_are_told_and_found(hearth: Hearth) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        found = listed(hearth, "--port", str(port), "--ports")
        mine = next(each for each in found if each["pid"] == os.getpid())
    assert {"protocol": "tcp", "address": "127.0.0.1", "port": port, "state": "listen", "peer": None} in mine["ports"]
    assert str(port) not in json.dumps(listed(hearth, "--port", str(port)))


def test_where_nobody_may_list_processes_the_error_says_so(hearth: Hearth, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied() -> list[int]:
        raise PermissionError(13, "Permission denied", "/proc")

    monkeypatch.setattr(psutil, "pids", denied)
    done = hearth("machine", "process-list", "--json")
    assert (done.status, done.json["error"]["code"]) == (1, "permission_denied")


@posix_only("psutil asks Windows in another way")
def test_what_this_user_may_not_see_is_null(hearth: Hearth, start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    pid = start().pid

    def denied(process: psutil.Process) -> Any:
        raise psutil.AccessDenied(process.pid)

    monkeypatch.setattr(psutil.Process, "cmdline", denied)
    monkeypatch.setattr(psutil.Process, "status", denied)
    (found,) = listed(hearth, "--pid", str(pid))
    assert (found["command"], found["state"], found["parent"]) == (None, None, os.getpid())


@posix_only("only POSIX has zombies")
def test_a_zombie_is_told_as_one(hearth: Hearth) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)
        (found,) = listed(hearth, "--pid", str(ended.pid))
        assert (found["state"], found["command"]) == ("zombie", None)


def test_one_line_a_process_for_scripts(hearth: Hearth, start: Start) -> None:
    pid = start().pid
    done = hearth("machine", "process-list", "--pid", str(pid))
    assert done.out.startswith(f"{pid}\t{os.getpid()}\t")
    assert done.out.count("\n") == 1


def test_a_parent_is_not_taken_for_one_that_started_later() -> None:
    from hearth.platforms.process_table import Listed
    from hearth.services.machine.process_facts import children_of

    def process(pid: int, parent: int, started_ms: int) -> Listed:
        return Listed(pid, parent, "x", None, None, None, None, None, started_ms)

    child, reused, loop = process(10, 20, 1_000), process(20, 10, 2_000), process(30, 30, 0)
    assert children_of([child, reused, loop]) == {None: [child, loop], 10: [reused]}


def test_the_table_reads_no_command_lines_that_nobody_wants(monkeypatch: pytest.MonkeyPatch) -> None:
    from hearth.platforms.local import local_host

    def refused(_: psutil.Process) -> Any:
        raise AssertionError("a command line was read")

    monkeypatch.setattr(psutil.Process, "cmdline", refused)
    table = local_host().process_table()
    assert isinstance(table, PsutilTable)
    monkeypatch.setattr(psutil.Process, "name", lambda _: "x")  # which reads the command line for long names
    assert next(table.processes((os.getpid(),), commands=False)).command is None
