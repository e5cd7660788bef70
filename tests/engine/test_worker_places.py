"""Workers and jobs where a system has its own ways: paths, launchers, batch files, files that others have open."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hearth.engine.outputs import FOLDER, Outputs
from hearth.engine.waiting import wait_until
from hearth.platforms.processes import Stream
from hearth.runtime import Runtime, StoreOpener
from hearth.store import artifacts, workers
from hearth.store.jobs import Job, JobState
from hearth.store.retention import GRACE_MS, Retention
from tests.engine.door import Door, door
from tests.engine.test_worker import want_end
from tests.engine.workers import PATIENCE_S, Ringing, job, submit, until, working

pytestmark = pytest.mark.timeout(30)
windows_only = pytest.mark.skipif(sys.platform != "win32", reason="only Windows has that")
KILL = 9


@pytest.fixture(name="door")
def a_door() -> Iterator[Door]:
    with door() as made:
        yield made


def stdout_of(runtime: Runtime, ended: Job) -> list[str]:
    with runtime.store.read() as view:
        found = artifacts.find(view, ended.stdout_artifact or "")
    assert found is not None
    return b"".join(runtime.blobs.chunks(found.body)).decode("utf-8").splitlines()


def test_jobs_run_from_a_data_directory_with_a_long_name_that_no_code_page_holds(
    runtime: Runtime, home: Path, door: Door
) -> None:
    folder = home.joinpath(*(f"{number} żółw 日本 " + "x" * 60 for number in range(4)))
    runtime = replace(runtime, data_dir=str(folder), opener=StoreOpener())
    with closing(runtime):
        with working(runtime, ends_all=False):
            id_ = submit(runtime, "print('before', flush=True)\n" + door.knock + "print('after')")
            visitor = door.open()
            folders = os.listdir(runtime.host.unbounded(os.path.join(runtime.data_dir, FOLDER)))
            assert len(folders) == 1
        with working(runtime, make=Ringing) as second:
            assert wait_until(runtime, lambda _: second._running or None, PATIENCE_S, starts=False)
            visitor.let_in()
            ended = until(runtime, id_)
        assert (ended.state, stdout_of(runtime, ended)) == (JobState.COMPLETED, ["before", "after"])
        assert os.listdir(runtime.host.unbounded(os.path.join(runtime.data_dir, FOLDER))) == []


# As python.exe of a virtual environment is on Windows: a process above the real one.
LAUNCHER = "import subprocess, sys; sys.exit(subprocess.call(sys.argv[1:]))"


def test_a_worker_behind_a_launcher_is_known_by_its_own_process_and_taken_over_when_that_dies(
    runtime: Runtime, door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin = runtime.host.start_background
    launchers: list[int] = []

    def start(words: Any, *rest: Any) -> int:
        launchers.append(begin([sys.executable, "-S", "-E", "-c", LAUNCHER, *words], *rest))
        return launchers[-1]

    monkeypatch.setattr(runtime.host, "start_background", start)
    id_ = submit(runtime, door.knock + "raise SystemExit(7)", start=True)
    visitor = door.open()
    with runtime.store.read() as view:
        (row,) = workers.all_of(view)
    assert row.pid not in launchers
    assert row.pid_start == runtime.host.process_start(row.pid)
    os.kill(row.pid, KILL)
    with working(runtime, make=Ringing) as second:
        assert wait_until(runtime, lambda _: second._running or None, PATIENCE_S, starts=False)
        assert job(runtime, id_).worker == second.id
        visitor.let_in()
        ended = until(runtime, id_)
    assert (ended.state, ended.exit_code, ended.attempt) == (JobState.FAILED, 7, 1)
    assert len(launchers) == 1


def test_a_program_behind_a_launcher_ends_with_its_job_and_passes_its_exit_code_on(
    runtime: Runtime, door: Door
) -> None:
    behind = ["-S", "-E", "-c", LAUNCHER, sys.executable, "-S", "-E", "-c"]
    with working(runtime):
        ends = submit(runtime, args=[*behind, door.knock + "raise SystemExit(7)"])
        door.open().let_in()
        assert until(runtime, ends).exit_code == 7
        late = submit(runtime, args=[*behind, door.knock])
        visitor = door.open()
        want_end(runtime, late)
        assert until(runtime, late).state is JobState.CANCELLED
        assert visitor.is_gone()


@windows_only
def test_a_batch_file_is_found_by_pathext_and_gets_its_words_as_text(runtime: Runtime, work: Path) -> None:
    (work / "tools dir").mkdir()
    (work / "tools dir" / "show.cmd").write_text("@echo %1\r\n@echo %2\r\n@exit /b 3\r\n", encoding="ascii")
    words: dict[str, Any] = {"command": "show", "args": ["a&b", "100%"], "env": {"Path": str(work / "tools dir")}}
    with working(runtime):
        ended = until(runtime, submit(runtime, **words))
    assert (ended.state, ended.exit_code) == (JobState.FAILED, 3)
    assert stdout_of(runtime, ended) == ['"a&b"', '"100%"']


@windows_only
@pytest.mark.parametrize("policy", ["inherit", "minimal", "explicit"])
def test_variables_have_one_name_whatever_its_case_and_windows_finds_its_root(runtime: Runtime, policy: str) -> None:
    code = "import os, socket; print(os.environ['MIXED'], len([n for n in os.environ if n == 'MIXED']))\n"
    code += "socket.socket().close(); print(os.environ['SYSTEMROOT'])"
    with working(runtime):
        ended = until(runtime, submit(runtime, code, env={"mIXed": "one"}, env_policy=policy))
    assert (ended.state, stdout_of(runtime, ended)) == (JobState.COMPLETED, ["one 1", os.environ["SYSTEMROOT"]])


@windows_only
def test_an_output_that_somebody_has_open_for_themselves_is_kept_and_its_file_goes_later(
    runtime: Runtime, door: Door
) -> None:
    with working(runtime):
        id_ = submit(runtime, "print('before', flush=True)\n" + door.knock + "print('after')")
        visitor = door.open()
        outputs = Outputs.of(runtime, job(runtime, id_))
        with open(outputs.path(Stream.STDOUT), "rb"):  # which lets nobody remove it
            visitor.let_in()
            ended = until(runtime, id_)
            assert until(runtime, submit(runtime)).state is JobState.COMPLETED
            assert len(os.listdir(os.path.dirname(outputs.folder))) == 1
    assert (ended.state, stdout_of(runtime, ended)) == (JobState.COMPLETED, ["before", "after"])
    later = runtime.clock.now_ms() + 2 * GRACE_MS
    rules = Retention(runtime.host, runtime.store, runtime.data_dir, runtime.settings.retention, later)
    assert rules.remove_job_folders().count == 1
    assert os.listdir(os.path.dirname(outputs.folder)) == []
