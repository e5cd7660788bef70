"""Waiting for processes and ports."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import psutil
import pytest

from hearth.clock import timestamp
from hearth.errors import Cancelled, WaitRanOut
from hearth.runtime import Caller, Runtime
from hearth.services.machine import process_wait
from hearth.services.machine.process_wait import WaitForProcess, wait
from tests.services.machine.started import Start, starting

Hearth = Callable[..., Any]


@pytest.fixture
def start() -> Iterator[Start]:
    with starting() as made:
        yield made


@pytest.fixture
def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
    return port


def waited(hearth: Hearth, *words: str | int) -> Any:
    return hearth("machine", "process-wait", *map(str, words), "--json")


def test_the_end_of_a_process_is_noticed(hearth: Hearth, start: Start) -> None:
    process = start()
    threading.Timer(0.1, process.kill).start()
    done = waited(hearth, process.pid)
    assert (done.status, done.json["pid"], done.json["at_once"]) == (0, process.pid, False)
    assert 0 < done.json["waited_ms"] < 4_000


def test_a_process_that_has_ended_is_not_waited_for(hearth: Hearth, start: Start) -> None:
    process = start()
    process.kill()
    process.wait()
    done = waited(hearth, process.pid)
    assert (done.status, done.json["at_once"]) == (0, True)


def test_another_process_with_the_number_counts_as_its_end(hearth: Hearth, start: Start) -> None:
    process = start()
    earlier = timestamp(round(psutil.Process(process.pid).create_time() * 1000) - 60_000)
    assert waited(hearth, process.pid, "--started-at", earlier).json["at_once"] is True
    assert process.poll() is None


def test_a_wait_that_runs_out_ends_with_5(hearth: Hearth, start: Start) -> None:
    done = waited(hearth, start().pid, "--timeout", "50ms")
    assert (done.status, done.json["state"], done.json["error"]["code"]) == (5, "pending", "wait_ran_out")


def test_at_the_shell_there_is_no_limit_and_elsewhere_there_is_one(
    runtime: Runtime, start: Start, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_wait, "USUAL_TIMEOUT_MS", 30)
    given = WaitForProcess(pid=start().pid)
    with pytest.raises(WaitRanOut):
        wait(runtime.for_call(caller=Caller.BATCH), given)
    runtime.cancelled.set()
    with pytest.raises(Cancelled):
        wait(runtime, given)


def test_a_port_that_opens_is_noticed(hearth: Hearth, free_port: int) -> None:
    server = socket.socket()
    server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    server.bind(("127.0.0.1", free_port))
    threading.Timer(0.1, server.listen).start()
    with server:
        done = waited(hearth, "--port", free_port)
    assert (done.status, done.json["address"], done.json["at_once"]) == (0, "127.0.0.1", False)


def test_a_port_that_closes_is_noticed(hearth: Hearth) -> None:
    server = socket.create_server(("127.0.0.1", 0))
    threading.Timer(0.1, server.close).start()
    done = waited(hearth, "--port", server.getsockname()[1], "--until", "closes")
    assert (done.status, done.json["at_once"]) == (0, False)


def test_a_port_that_never_opens_runs_out(hearth: Hearth, free_port: int) -> None:
    begun = time.monotonic()
    done = waited(hearth, "--port", free_port, "--timeout", "120ms")
    assert (done.status, done.json["error"]["details"]) == (5, {"port": free_port})
    assert time.monotonic() - begun < 4


def test_looks_at_a_port_are_at_least_50_ms_apart(
    hearth: Hearth, free_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hearth.platforms.psutil_table import PsutilTable

    looked: list[str] = []

    def listens(_: PsutilTable, address: str, port: int, seconds: float) -> bool:
        del port, seconds
        looked.append(address)
        return False

    monkeypatch.setattr(PsutilTable, "listens", listens)
    assert waited(hearth, "--port", free_port, "--timeout", "300ms").status == 5
    assert 2 <= len(looked) / 2 <= 6


def test_cancelling_ends_a_wait_for_a_port(runtime: Runtime, free_port: int) -> None:
    threading.Timer(0.05, runtime.cancelled.set).start()
    with pytest.raises(Cancelled):
        wait(runtime, WaitForProcess(port=free_port))


def test_a_process_or_a_port_and_not_both(hearth: Hearth) -> None:
    assert waited(hearth).status == 2
    assert waited(hearth, 1, "--port", 80).status == 2


def test_many_waits_of_one_batch_do_not_hold_each_other_up(hearth: Hearth, start: Start) -> None:
    process = start()
    request = {"operation": "machine.process_wait", "input": {"pid": process.pid, "timeout_ms": 100}}
    lines = "".join(json.dumps({"id": number, **request}) + "\n" for number in range(4))
    begun = time.monotonic()
    done = hearth("call", "--batch", "--jobs", "4", stdin=lines.encode())
    assert [line["exit_status"] for line in done.lines] == [5] * 4
    assert time.monotonic() - begun < 3
