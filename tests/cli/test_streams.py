"""What only a process of its own can show: closed streams, code pages, signals."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.timeout(30)  # each starts programs, which takes a busy machine seconds
COMMAND = [sys.executable, "-m", "hearth"]
REQUEST = b'{"id": 1, "operation": "fs.stat", "input": {"path": "."}}\n'
posix_only = pytest.mark.skipif(os.name == "nt", reason="a Windows process cannot be sent this")


def start(
    *words: str,
    env: dict[str, str] | None = None,
    stdout: Any = subprocess.PIPE,
    before: Callable[[], object] | None = None,
) -> subprocess.Popen[bytes]:
    root = str(Path(__file__).parents[2])

    def as_from_a_shell() -> None:
        # Whoever runs the tests may ignore signals, as nohup does, and what it starts would then ignore them too.
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            signal.signal(signal.Signals[name], signal.SIG_DFL)
        if before is not None:
            before()

    return subprocess.Popen(
        [*COMMAND, *words],
        env={**os.environ, "PYTHONPATH": root, **(env or {})},
        stdin=subprocess.PIPE,
        stdout=stdout,
        stderr=subprocess.PIPE,
        preexec_fn=as_from_a_shell if os.name == "posix" else None,
    )


def finish(process: subprocess.Popen[bytes]) -> tuple[int, bytes, bytes]:
    try:
        out, err = process.communicate(timeout=20)
    finally:
        process.kill()
    return process.returncode, out, err


def test_a_reader_that_closed_early_ends_the_command_quietly(work: Path) -> None:  # noqa: ARG001
    read, write = os.pipe()
    os.close(read)
    status, _, err = finish(start("fs", "stat", ".", stdout=write))
    os.close(write)
    assert (status, err) == (0, b"")


@posix_only
def test_a_command_whose_output_was_closed_writes_it_into_no_file(work: Path) -> None:
    shell = f'exec "{sys.executable}" -m hearth fs stat . --data-dir data >&-'
    root = str(Path(__file__).parents[2])
    done = subprocess.run(
        ["sh", "-c", shell], env={**os.environ, "PYTHONPATH": root}, capture_output=True, timeout=20, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert (work / "data" / "hearth.sqlite3").read_bytes().startswith(b"SQLite format 3\0")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full")
@pytest.mark.parametrize(
    "words", ["fs stat . --json", "fs stat . --no-color", "--help", "fs --help", "fs stat --help", "--version"]
)
def test_a_full_disk_under_the_output_is_named_and_is_no_bug(work: Path, words: str) -> None:  # noqa: ARG001
    with open("/dev/full", "wb") as full:
        status, _, err = finish(start(*words.split(), stdout=full))
    assert status == 1
    assert err.startswith(b"hearth: standard output cannot be written: ")


def test_text_is_utf_8_even_where_the_code_page_is_not(work: Path) -> None:
    (work / "caf\xe9 \u65e5\u672c").write_bytes(b"")
    legacy = {"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"}
    status, out, _ = finish(start("fs", "stat", "caf\xe9 \u65e5\u672c", env=legacy))
    assert status == 0
    assert "caf\xe9 \u65e5\u672c".encode() in out
    assert b"\r" not in out
    status, out, err = finish(start("fs", "stat", "\u65e5\u672c", env=legacy))
    assert (status, out) == (4, b"")
    assert "\u65e5\u672c".encode() in err


def test_json_in_a_pipe_is_pure_ascii_without_a_bom(work: Path) -> None:
    (work / "\u65e5\u672c").write_bytes(b"")
    _, out, _ = finish(start("fs", "stat", "\u65e5\u672c", "--json"))
    assert out.isascii()
    assert out.count(b"\n") == 1
    assert json.loads(out)["path"].endswith("\u65e5\u672c")


@posix_only
@pytest.mark.parametrize(("name", "status"), [("SIGTERM", 143), ("SIGINT", 130), ("SIGHUP", 129)])
def test_a_signal_ends_a_batch_with_its_own_status(work: Path, name: str, status: int) -> None:  # noqa: ARG001
    process = start("call", "--batch", "--jobs", "2")
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(REQUEST)
    process.stdin.flush()
    assert json.loads(process.stdout.readline())["exit_status"] == 0
    process.send_signal(signal.Signals[name])
    ended, _, err = finish(process)
    assert ended == status
    assert b"Traceback" not in err


@posix_only
@pytest.mark.parametrize(("name", "status"), [("SIGTERM", 143), ("SIGINT", 130), ("SIGHUP", 129)])
def test_a_signal_ends_a_watch_with_its_own_status(work: Path, name: str, status: int) -> None:
    process = start("fs", "watch", ".", "--ndjson")
    assert process.stdout is not None
    for number in range(100):  # until it watches
        (work / f"new-{number}").write_bytes(b"")
        if select.select([process.stdout], [], [], 0.1)[0]:
            break
    process.send_signal(signal.Signals[name])
    assert finish(process)[0] == status


@posix_only
def test_what_nohup_started_outlives_its_terminal(work: Path) -> None:  # noqa: ARG001
    process = start("call", "--batch", before=lambda: signal.signal(1, signal.SIG_IGN))
    assert process.stdin is not None
    assert process.stdout is not None
    for _ in range(2):
        process.stdin.write(REQUEST)
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["exit_status"] == 0
        process.send_signal(1)  # SIGHUP
    assert finish(process)[0] == 0


@posix_only
@pytest.mark.parametrize(
    "words",
    [
        *("fs write kept", "call fs.stat -", "call --batch", "fs patch kept --diff -", "artifact put"),
        "machine exec --stdin - cat",
    ],
)
def test_a_closed_standard_input_makes_no_file_empty(work: Path, words: str) -> None:
    (work / "kept").write_bytes(b"old")
    root = str(Path(__file__).parents[2])
    done = subprocess.run(
        ["sh", "-c", f'exec "{sys.executable}" -m hearth {words} <&-'],
        env={**os.environ, "PYTHONPATH": root},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, b"Traceback" in done.stderr) == (2, False)
    assert (work / "kept").read_bytes() == b"old"


@posix_only
def test_sigterm_unwinds_so_that_temporary_files_go(tmp_path: Path) -> None:
    program = f"""
import sys, tempfile
from hearth.cli import streams
streams.prepare()
with tempfile.NamedTemporaryFile(dir={str(tmp_path)!r}):
    print("ready", flush=True)
    sys.stdin.read()
"""
    root = str(Path(__file__).parents[2])
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": root},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    process.stdout.readline()
    assert os.listdir(tmp_path) != ["home"]
    process.terminate()
    finish(process)
    assert os.listdir(tmp_path) == ["home"]
