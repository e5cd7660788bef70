"""machine.exec in a hearth process of its own: signals, kill -9, few descriptors, much output."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests import memory
from tests.marks import posix_only

pytestmark = [posix_only("signals between processes"), pytest.mark.timeout(30)]  # each starts programs of hearth
ROOT = Path(__file__).parents[3]
# Says when it is ready and what it hears; ends at once on what ENDS names.
LISTENER = """
import os, signal, sys, threading
def hear(number, frame):
    os.write(1, signal.Signals(number).name.encode() + b"\\n")
    if signal.Signals(number).name in sys.argv[1:]: os._exit(0)
for number in (signal.SIGINT, signal.SIGTERM): signal.signal(number, hear)
os.write(1, b"%d\\n" % os.getpid())
while True: signal.pause()
"""


@contextmanager
def hearth(*words: str) -> Iterator[tuple[subprocess.Popen[bytes], psutil.Process]]:
    """A hearth, and the listener that it runs and that is ready."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "hearth", "machine", "exec", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as process:
        try:
            assert process.stdout is not None
            yield process, psutil.Process(int(process.stdout.readline()))
        finally:
            process.kill()


def listener(*ends: str) -> tuple[str, ...]:
    return (sys.executable, "-c", LISTENER, *ends)


def test_ctrl_c_reaches_the_program_which_ends_in_its_own_way(work: Path) -> None:  # noqa: ARG001
    with hearth("--grace", "30s", *listener("SIGINT")) as (process, program):
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=20)
    assert (process.returncode, out) == (130, b"SIGINT\n")
    assert not program.is_running()


def test_a_second_ctrl_c_does_not_wait_for_the_grace(work: Path) -> None:  # noqa: ARG001
    with hearth("--grace", "60s", *listener()) as (process, program):
        assert process.stdout is not None
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == b"SIGINT\n"
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
    assert process.returncode == 130
    assert not program.is_running()


def test_what_ignores_ctrl_c_is_killed_after_the_grace(work: Path) -> None:  # noqa: ARG001
    with hearth("--grace", "200ms", *listener()) as (process, program):
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=20)
    assert process.returncode == 130
    assert not program.is_running()


def test_a_request_to_end_is_passed_on(work: Path) -> None:  # noqa: ARG001
    with hearth("--grace", "30s", *listener("SIGTERM")) as (process, _):
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=20)
    assert (process.returncode, out) == (143, b"SIGTERM\n")


def test_a_call_by_json_is_taken_back_as_a_command_is(work: Path) -> None:
    ready = work / "ready"
    os.mkfifo(ready)
    given = {"command": "sh", "args": ["-c", f"trap 'exit 9' INT; echo > {ready}; while :; do sleep 0.1; done"]}
    words = [sys.executable, "-m", "hearth", "call", "machine.exec", json.dumps({**given, "grace_ms": 30_000})]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(words, stdout=subprocess.PIPE, env=environment) as process:
        with open(ready, "rb") as file:
            file.readline()
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=20)
    answer = json.loads(out)
    assert (process.returncode, answer["state"], answer["exit_code"]) == (130, "cancelled", 9)


def test_programs_end_with_a_hearth_that_is_killed(work: Path) -> None:  # noqa: ARG001
    with hearth(*listener()) as (process, program):
        process.kill()
        assert psutil.wait_procs([program], timeout=20)[1] == []


def test_a_reader_that_goes_ends_the_program_quietly(work: Path) -> None:  # noqa: ARG001
    words = [sys.executable, "-m", "hearth", "machine", "exec", "sh", "-c", "echo $$; while :; do echo y; done"]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)}
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        program = psutil.Process(int(process.stdout.readline()))
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(timeout=20) == 0
    assert not program.is_running()


MANY = """
import resource, sys, threading
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
from hearth.containment import Root
from hearth.platforms.local import local_host
from hearth.runtime import Runtime
from hearth.services.machine.exec import RunProgram, run_program
from hearth.settings import Settings
work, data = sys.argv[1:]
runtime = Runtime(local_host(), Settings(max_output_bytes=1024), data, (Root(work),), work)
given = RunProgram(command="sh", args=("-c", "head -c 5000 /dev/zero; head -c 5000 /dev/zero >&2"), merged=True)
ends = []
def one():
    ends.append(run_program(runtime.for_call(), given).exit_code)
threads = [threading.Thread(target=one) for _ in range(64)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(ends.count(0), run_program(runtime, given).exit_code)
runtime.close()
"""


def test_64_at_once_share_64_descriptors(work: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", MANY, str(work), str(tmp_path / "data")],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        timeout=20,
        check=False,
    )
    assert (done.stdout, done.stderr) == (b"64 0\n", b"")


MUCH = """
import json, sys
from hearth.containment import Root
from hearth.platforms.local import local_host
from hearth.runtime import Runtime
from hearth.services.machine.exec import RunProgram, run_program
from hearth.settings import Settings
work, data, size = sys.argv[1:]
runtime = Runtime(local_host(), Settings(), data, (Root(work),), work)
ended = run_program(runtime, RunProgram(command="head", args=("-c", size, "/dev/zero")))
runtime.close()
print(json.dumps([ended.stdout_facts.size_bytes, ended.stdout_facts.truncated]))
"""


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_memory_stays_flat_for_a_gigabyte_of_output(work: Path, tmp_path: Path) -> None:
    size = 1024**3
    words = [sys.executable, "-c", MUCH, str(work), str(tmp_path / "data"), str(size)]
    printed, peak = memory.run(words, folder=ROOT, timeout=55)
    assert json.loads(printed) == [size, False]
    assert peak < 64 * 1024**2
