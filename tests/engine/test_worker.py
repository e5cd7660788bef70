"""What a worker makes of jobs, with real programs, and with what goes wrong around it."""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from types import SimpleNamespace
from typing import Any

import pytest

from hearth.cancellation import Cancellation
from hearth.clock import Clock, parse_timestamp, timestamp
from hearth.engine import claims, finish, leases, presence, recovery, start, worker
from hearth.engine.leases import Kind
from hearth.engine.moves import milliseconds_between
from hearth.engine.outputs import Outputs
from hearth.engine.worker import Timing, Worker
from hearth.platforms.bells import Bell
from hearth.runtime import Runtime, StoreOpener
from hearth.settings import Settings, WorkerSettings
from hearth.store import artifacts, job_queue, jobs, workers
from hearth.store.jobs import FINAL, Job, JobState
from tests.engine.door import Door, door
from tests.engine.workers import PATIENCE_S, QUICK, job, makes_holes, submit, until, working
from tests.marks import WINDOWS, posix_only

pytestmark = pytest.mark.timeout(30)
hears = posix_only("programs there hear of their end through the console, and Python not while it sleeps")
NEVER = Timing(beat_s=1_000, lease_s=1_000)
KILL = 9
IGNORES_TERM = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
FOREVER = "import time\nwhile True: time.sleep(300)\n"


@pytest.fixture(name="door")
def a_door() -> Iterator[Door]:
    with door() as made:
        yield made


@pytest.fixture
def ledger(work: Path) -> Path:
    made = work / "ledger"
    made.touch()
    return made


def noting(ledger: Path, text: str = "ran") -> str:
    return f"open({str(ledger)!r}, 'a').write({text + chr(10)!r})\n"


def lines(ledger: Path) -> list[str]:
    return ledger.read_text(encoding="ascii").splitlines()


def stdout_of(runtime: Runtime, ended: Job) -> bytes:
    return content(runtime, ended.stdout_artifact)


def content(runtime: Runtime, id_: str | None) -> bytes:
    with runtime.store.read() as view:
        found = artifacts.find(view, id_ or "")
    assert found is not None
    return b"".join(runtime.blobs.chunks(found.body))


def want_end(runtime: Runtime, id_: str) -> None:
    with runtime.store.write() as tx:
        assert job_queue.want_end(tx, job(runtime, id_).seq, "cancel")
    runtime.host.ring(runtime.bells)


def folders(runtime: Runtime) -> list[str]:
    try:
        return os.listdir(os.path.join(runtime.data_dir, "jobs"))
    except FileNotFoundError:
        return []


class Told:
    """What a runtime told on standard error."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.came = Event()

    def __call__(self, text: str) -> None:
        self.texts.append(text)
        self.came.set()


# Programs.


def test_what_a_job_prints_becomes_its_artifacts_and_its_folder_goes(runtime: Runtime) -> None:
    with working(runtime):
        ended = until(runtime, submit(runtime, "import sys; print('out'); print('err', file=sys.stderr)"))
        assert (ended.state, ended.exit_code, ended.attempt) == (JobState.COMPLETED, 0, 1)
        assert stdout_of(runtime, ended).split() == [b"out"]
        assert ended.stderr_artifact is not None and ended.stdout_bytes == len(stdout_of(runtime, ended))
    assert folders(runtime) == []


@pytest.mark.parametrize("code", [1, 3, 125, 255])
def test_a_job_has_its_programs_own_exit_code(runtime: Runtime, code: int) -> None:
    with working(runtime):
        ended = until(runtime, submit(runtime, f"import os; os._exit({code})"))
    assert (ended.state, ended.exit_code, ended.reason) == (JobState.FAILED, code, "exit_code")


@posix_only("programs there end with a code, however they end")
def test_a_program_that_a_signal_ended_has_failed(runtime: Runtime) -> None:
    with working(runtime):
        ended = until(runtime, submit(runtime, "import os; os.kill(os.getpid(), 10)"))
    assert (ended.state, ended.signal, ended.exit_code) == (JobState.FAILED, 10, None)


@posix_only("no shell stands above a program there")
def test_a_code_that_shells_take_for_a_signal_is_told_as_both(runtime: Runtime) -> None:
    with working(runtime):
        ended = until(runtime, submit(runtime, "import os; os._exit(137)"))
    assert ended.message == "signal 9 ended it, or it ended with 137, which shells take for the same"


def test_a_program_that_is_not_there_fails_at_once_and_is_not_tried_again(runtime: Runtime) -> None:
    with working(runtime):
        ended = until(runtime, submit(runtime, command="no-such-program", args=[], retry={"attempts": 5}))
    assert (ended.state, ended.exit_code, ended.reason) == (JobState.FAILED, 127, "program_not_found")
    assert ended.attempt == 1


def child(code: str, *, away: bool = False) -> str:
    """Python code that runs `code` in a process of its own, perhaps away from the group and session of this one."""
    options = ", creationflags=8" if WINDOWS else ", start_new_session=True"
    words = f"[sys.executable, '-S', '-E', '-c', {code!r}]"
    return f"import subprocess, sys; subprocess.Popen({words}{options if away else ''})\n"


def test_a_run_that_takes_too_long_is_ended_with_all_that_went_away_from_it(runtime: Runtime, door: Door) -> None:
    away = child(IGNORES_TERM + door.knock + FOREVER, away=True)
    with working(runtime):
        id_ = submit(runtime, away + door.knock + FOREVER, timeout_ms=4_000 if WINDOWS else 600)
        two = [door.open(), door.open()]
        ended = until(runtime, id_)
        assert (ended.state, ended.reason) == (JobState.TIMED_OUT, "timed_out")
        assert all(each.is_gone() for each in two)


def test_a_program_that_ignores_being_asked_is_killed_with_its_tree(runtime: Runtime, door: Door) -> None:
    deaf = IGNORES_TERM + door.knock + FOREVER
    with working(runtime):
        id_ = submit(runtime, child(child(deaf) + deaf) + child(deaf) + deaf)
        four = [door.open() for _ in range(4)]
        want_end(runtime, id_)
        assert until(runtime, id_).state is JobState.CANCELLED
        assert all(each.is_gone() for each in four)


def test_a_program_that_is_asked_to_end_does_so_long_before_its_grace_is_over(runtime: Runtime, door: Door) -> None:
    with working(runtime):
        id_ = submit(runtime, door.knock + FOREVER, grace_ms=600_000)
        visitor = door.open()
        want_end(runtime, id_)
        assert until(runtime, id_).state is JobState.CANCELLED
        assert visitor.is_gone()


@hears
def test_a_program_has_its_grace_to_end_well(runtime: Runtime, door: Door) -> None:
    bye = "import signal, sys; signal.signal(signal.SIGTERM, lambda *_: sys.exit(print('bye')))\n"
    with working(runtime):
        id_ = submit(runtime, bye + door.knock + FOREVER, grace_ms=60_000)
        door.open()
        want_end(runtime, id_)
        ended = until(runtime, id_)
    assert (ended.state, stdout_of(runtime, ended)) == (JobState.CANCELLED, b"bye\n")


def test_of_a_program_that_prints_for_ever_a_bounded_part_is_kept(runtime: Runtime, door: Door) -> None:
    if not makes_holes(runtime):
        pytest.skip("this file system makes no holes")
    runtime = replace(runtime, settings=Settings(worker=WorkerSettings(output_max_bytes=65_536)))
    prints = "import os\nfor n in range(2048): os.write(1, bytes(16384))\n"
    with working(runtime):
        id_ = submit(runtime, prints + door.knock + "while True: os.write(1, bytes(16384))")
        door.open().let_in()
        want_end(runtime, id_)
        ended = until(runtime, id_)
        assert ended.state is JobState.CANCELLED
        assert ended.stdout_bytes is not None and ended.stdout_bytes >= 2048 * 16_384
        assert len(stdout_of(runtime, ended)) == 65_536


def test_a_program_that_prints_too_much_is_ended_where_no_holes_can_be_made(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    if makes_holes(runtime):
        monkeypatch.setattr(runtime.host, "punch_hole", lambda *_: False)
    runtime = replace(runtime, settings=Settings(worker=WorkerSettings(output_max_bytes=65_536)))
    with working(runtime):
        ended = until(runtime, submit(runtime, "import os\nwhile True: os.write(1, bytes(16384))"))
        assert (ended.state, ended.reason) == (JobState.FAILED, "output_limit")
        assert len(stdout_of(runtime, ended)) == 65_536
    assert folders(runtime) == []


# Runs that are repeated.


def test_a_failed_run_is_tried_again_ever_later(runtime: Runtime) -> None:
    with working(runtime):
        id_ = submit(runtime, "raise SystemExit(9)", retry={"attempts": 3, "delay_ms": 60, "backoff": 3})
        ended = until(runtime, id_)
    assert (ended.state, ended.exit_code, ended.attempt) == (JobState.FAILED, 9, 3)
    with runtime.store.read() as view:
        first, second = jobs.attempts(view, ended.seq)
    assert (first.attempt, first.exit_code, second.attempt) == (1, 9, 2)
    assert second.started_at is not None and ended.started_at is not None
    assert milliseconds_between(first.ended_at, second.started_at) >= 60  # type: ignore[operator]
    assert milliseconds_between(second.ended_at, ended.started_at) >= 180  # type: ignore[operator]


def test_a_run_is_tried_again_only_after_the_exit_codes_that_were_named(runtime: Runtime, ledger: Path) -> None:
    code = noting(ledger) + f"raise SystemExit([75, 3][len(open({str(ledger)!r}).readlines()) - 1])"
    with working(runtime):
        ended = until(runtime, submit(runtime, code, retry={"attempts": 9, "on": [75]}))
    assert (ended.state, ended.exit_code, ended.attempt) == (JobState.FAILED, 3, 2)


def test_a_job_that_is_cancelled_at_the_very_end_of_a_failed_run_is_not_tried_again(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep = finish.keep_outputs

    def cancelled_meanwhile(given: Runtime, ended: Job, outputs: Outputs | None) -> finish.Kept:
        with runtime.store.write() as tx:
            job_queue.want_end(tx, ended.seq, "cancel")
        return keep(given, ended, outputs)

    monkeypatch.setattr(finish, "keep_outputs", cancelled_meanwhile)
    with working(runtime):
        ended = until(runtime, submit(runtime, "raise SystemExit(9)", retry={"attempts": 5}))
    assert (ended.state, ended.exit_code, ended.attempt) == (JobState.FAILED, 9, 1)


def test_a_job_that_is_cancelled_while_its_program_is_held_back_never_runs(
    runtime: Runtime, ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = claims.note_processes

    def cancelled_meanwhile(given: Runtime, me: str, held: Any, **options: Any) -> set[int]:
        with runtime.store.write() as tx:
            assert job_queue.want_end(tx, held[0].job.seq, "cancel")
        return note(given, me, held, **options)

    monkeypatch.setattr(claims, "note_processes", cancelled_meanwhile)
    with working(runtime):
        ended = until(runtime, submit(runtime, noting(ledger), restart=True))
    assert (ended.state, ended.started_at) == (JobState.CANCELLED, None)
    assert lines(ledger) == []
    assert folders(runtime) == []


# The queue.


def test_a_job_that_was_not_started_in_time_expires(runtime: Runtime, ledger: Path) -> None:
    id_ = submit(runtime, noting(ledger), expires_at="2020-01-01T00:00:00Z")
    late = submit(runtime, noting(ledger), expires_at=timestamp(runtime.clock.now_ms() + 3_600_000))
    with working(runtime):
        assert until(runtime, id_).state is JobState.EXPIRED
        assert until(runtime, late).state is JobState.COMPLETED
    assert lines(ledger) == ["ran"]


def test_no_job_starts_after_its_time_however_many_expire_at_once(
    runtime: Runtime, ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "EXPIRE_AT_ONCE", 1)
    ids = [submit(runtime, noting(ledger), expires_at="2020-01-01T00:00:00Z") for _ in range(4)]
    with working(runtime):
        assert {until(runtime, id_).state for id_ in ids} == {JobState.EXPIRED}
    assert lines(ledger) == []


def test_the_more_urgent_job_starts_first_and_equal_ones_in_their_order(runtime: Runtime, ledger: Path) -> None:
    runtime = replace(runtime, settings=Settings(worker=WorkerSettings(parallel=1)))
    given = [("a", 0), ("b", 5), ("c", 0), ("d", -5), ("e", 5)]
    ids = [submit(runtime, noting(ledger, name), priority=priority) for name, priority in given]
    with working(runtime):
        assert {until(runtime, id_).state for id_ in ids} == {JobState.COMPLETED}
    assert lines(ledger) == ["b", "e", "a", "c", "d"]


def test_no_more_jobs_run_at_once_than_the_setting_says(runtime: Runtime, door: Door) -> None:
    runtime = replace(runtime, settings=Settings(worker=WorkerSettings(parallel=2)))
    ids = [submit(runtime, door.knock) for _ in range(3)]
    with working(runtime):
        first, second = door.open(), door.open()
        assert [job(runtime, id_).state for id_ in ids] == [JobState.RUNNING, JobState.RUNNING, JobState.QUEUED]
        first.let_in()
        door.open().let_in()
        second.let_in()
        assert {until(runtime, id_).state for id_ in ids} == {JobState.COMPLETED}


def test_two_workers_share_a_queue_and_run_each_job_once(runtime: Runtime, ledger: Path) -> None:
    ids = [submit(runtime, noting(ledger, str(number))) for number in range(16)]
    with working(runtime), working(runtime):
        assert {until(runtime, id_).state for id_ in ids} == {JobState.COMPLETED}
    assert sorted(lines(ledger)) == sorted(str(number) for number in range(16))


# Workers that end.


def test_a_worker_that_is_stopped_just_before_a_pass_makes_none(runtime: Runtime) -> None:
    class Stopped(Worker):
        def _pass_safely(self, bell: Bell) -> bool:
            stop.set()  # which rings, before the pass clears the bell
            return super()._pass_safely(bell)

    stop = Cancellation()
    made = Stopped(runtime, Kind.FOREGROUND)
    made.run(stop)  # which ends with the next beat, at the latest
    assert made.id == ""


def test_the_programs_of_a_worker_that_stops_run_on_and_end_with_the_next(runtime: Runtime, door: Door) -> None:
    with working(runtime, ends_all=False):
        ids = [submit(runtime, f"print('before', flush=True)\n{door.knock}print('after'); raise SystemExit(7)")]
        visitor = door.open()
    assert job(runtime, ids[0]).state is JobState.RUNNING
    with working(runtime):
        visitor.let_in()
        ended = until(runtime, ids[0])
        assert (ended.state, ended.exit_code, ended.attempt) == (JobState.FAILED, 7, 1)
        assert stdout_of(runtime, ended).split() == [b"before", b"after"]


def test_a_program_that_ended_while_there_was_no_worker_is_told_by_the_next(runtime: Runtime, door: Door) -> None:
    with working(runtime, ends_all=False):
        id_ = submit(runtime, door.knock + "raise SystemExit(7)")
        visitor = door.open()
    visitor.let_in()
    assert visitor.is_gone()
    with working(runtime):
        ended = until(runtime, id_)
    # The shell above the program may be looked for before it has noted the end; then it is waited for.
    assert (ended.state, ended.exit_code) == (JobState.FAILED, 7)


@posix_only("no shell notes there when a program ended")
def test_a_job_that_ended_while_there_was_no_worker_ended_when_its_program_did(runtime: Runtime, door: Door) -> None:
    with working(runtime, ends_all=False):
        id_ = submit(runtime, door.knock)
        visitor = door.open()
    with runtime.store.write() as tx:  # an hour ago
        tx.execute("UPDATE jobs SET started_at = ?, started_ms = started_ms - 3600000", (an_hour_before(runtime),))
    visitor.let_in()
    assert visitor.is_gone()
    status = Path(Outputs.of(runtime, job(runtime, id_)).folder, "status")
    while b"exit" not in status.read_bytes():  # the shell notes it a moment after the program has gone
        os.sched_yield()
    now = time.time()
    os.utime(status, (now, now - 1_800))
    with working(runtime):
        ended = until(runtime, id_)
    assert ended.ran_ms is not None and ended.ended_at is not None
    assert abs(ended.ran_ms - 1_800_000) < 20_000
    assert abs(parse_timestamp(ended.ended_at) - (now - 1_800) * 1000) < 20_000


def an_hour_before(runtime: Runtime) -> str:
    return timestamp(runtime.clock.now_ms() - 3_600_000)


def test_a_job_has_ended_when_it_was_seen_however_late_that_can_be_stored(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    def late(given: Runtime, ended: Job, outputs: Outputs | None) -> finish.Kept:  # noqa: ARG001
        moved.append(1)
        return finish.NOTHING

    def monotonic() -> float:
        return real() + 600 * len(moved)

    moved: list[int] = []
    real = time.monotonic
    monkeypatch.setattr(finish, "keep_outputs", late)
    monkeypatch.setattr("hearth.engine.running.time", SimpleNamespace(monotonic=monotonic, time=time.time))
    monkeypatch.setattr(leases, "beat_now", lambda: round(monotonic() * 1000))
    with working(runtime, timing=NEVER):
        ended = until(runtime, submit(runtime, ""))
    assert moved == [1]
    assert ended.ran_ms is not None and ended.ran_ms < 60_000


def test_an_adopted_program_is_still_ended_when_its_time_is_over(runtime: Runtime, door: Door) -> None:
    with working(runtime, ends_all=False):
        id_ = submit(runtime, door.knock + FOREVER, timeout_ms=1_000)
        visitor = door.open()
    with working(runtime):
        assert until(runtime, id_).state is JobState.TIMED_OUT
        assert visitor.is_gone()


def test_a_job_is_cancelled_although_its_worker_is_gone(runtime: Runtime, door: Door) -> None:
    with working(runtime, ends_all=False):
        id_ = submit(runtime, door.knock + FOREVER)
        visitor = door.open()
    want_end(runtime, id_)
    with working(runtime):
        assert until(runtime, id_).state is JobState.CANCELLED
        assert visitor.is_gone()


def claimed_by_the_dead(runtime: Runtime, id_: str) -> Job:
    """The job as a worker leaves it that dies just after it claimed it."""
    with runtime.store.write() as tx:
        ((claimed, _),) = [each for each in claims.claim(tx, runtime, "wrk_dead", 1) if each.job.id == id_]
    return claimed


def test_a_job_that_was_claimed_but_never_released_runs_once(runtime: Runtime, ledger: Path) -> None:
    id_ = submit(runtime, noting(ledger))
    claimed_by_the_dead(runtime, id_)
    with working(runtime):
        ended = until(runtime, id_)
    assert (ended.state, ended.attempt, lines(ledger)) == (JobState.COMPLETED, 1, ["ran"])


@pytest.mark.parametrize("restart", [False, True])
def test_a_job_that_a_restart_of_the_machine_broke_off_is_lost_or_runs_again_as_it_says(
    runtime: Runtime, ledger: Path, restart: bool
) -> None:
    id_ = submit(runtime, noting(ledger), restart=restart)
    claimed = claimed_by_the_dead(runtime, id_)
    outputs = Outputs.of(runtime, claimed)
    outputs.make_folder()
    Path(outputs.folder, "status").write_bytes(b"held\nstarted\n")
    Path(outputs.folder, "stdout").write_bytes(b"half a li")
    with runtime.store.write() as tx:
        process = job_queue.Held(os.getpid(), "1", "another", runtime.now(), leases.beat_now())
        assert job_queue.hold(tx, claimed.seq, "wrk_dead", claimed.mark or "", process)
    with working(runtime):
        ended = until(runtime, id_)
    if restart:
        assert (ended.state, ended.attempt, ended.restarts, lines(ledger)) == (JobState.COMPLETED, 2, 1, ["ran"])
    else:
        assert (ended.state, ended.reason, lines(ledger)) == (JobState.LOST, "exit_unknown", [])
        assert ended.message is not None and "machine was started anew" in ended.message
        assert stdout_of(runtime, ended) == b"half a li"


@posix_only("no shell stands above a program there")
@pytest.mark.parametrize("restart", [False, True])
def test_a_program_whose_shell_was_killed_is_ended_before_its_job_is_told_lost_or_repeated(
    runtime: Runtime, door: Door, restart: bool
) -> None:
    with working(runtime):
        id_ = submit(runtime, door.knock, restart=restart)
        visitor = door.open()
        pid = job(runtime, id_).pid
        assert pid is not None
        os.kill(pid, KILL)
        assert visitor.is_gone()
        if restart:
            door.open().let_in()
        ended = until(runtime, id_)
    assert (ended.state, ended.attempt) == ((JobState.COMPLETED, 2) if restart else (JobState.LOST, 1))
    assert restart or "what was left of it was ended" in str(ended.message)


class Stuck:
    """Stops one worker where it starts a program, until it may go on, perhaps to fail then."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, error: Exception | None = None) -> None:
        self.stopped, self.go_on = Event(), Event()
        held_back = start.held_back

        def stuck(*given: Any) -> Any:
            if not self.stopped.is_set():
                self.stopped.set()
                assert self.go_on.wait(PATIENCE_S)
                if error is not None:
                    raise error
            return held_back(*given)

        monkeypatch.setattr(start, "held_back", stuck)


def test_a_worker_that_was_taken_over_while_it_stood_still_lets_go(
    runtime: Runtime, ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck = Stuck(monkeypatch)
    told = Told()
    slow = replace(runtime, notice=told)
    with working(slow, timing=Timing(beat_s=0.05, lease_s=1_000)) as first:
        id_ = submit(runtime, noting(ledger) + "print('once')")
        assert stuck.stopped.wait(PATIENCE_S)
        with working(runtime, timing=Timing(beat_s=0.05, lease_s=0.2)) as second:
            ended = until(runtime, id_)
            stuck.go_on.set()
            later = submit(runtime, noting(ledger))
            assert until(runtime, later).state is JobState.COMPLETED
            assert second.id != first.id
        assert job(runtime, id_) == ended
    assert (ended.state, ended.attempt, stdout_of(runtime, ended).split()) == (JobState.COMPLETED, 1, [b"once"])
    assert lines(ledger) == ["ran", "ran"]
    with runtime.store.read() as view:
        assert view.execute("SELECT count(*) FROM artifacts").fetchone()[0] == 1
    assert (told.texts, folders(runtime)) == ([], [])


def test_what_two_workers_think_that_they_look_after_is_stored_once_and_whole(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    keep, came, go_on, calls = finish.keep_outputs, [Event(), Event()], [Event(), Event()], iter(range(2))

    def slow(*given: Any) -> finish.Kept:
        number = next(calls)
        came[number].set()
        assert go_on[number].wait(PATIENCE_S)
        return keep(*given)

    monkeypatch.setattr(finish, "keep_outputs", slow)
    with working(runtime, timing=Timing(beat_s=0.05, lease_s=1_000)):
        id_ = submit(runtime, "print('whole')")
        assert came[0].wait(PATIENCE_S)
        with working(runtime, timing=Timing(beat_s=0.05, lease_s=0.2)):
            assert came[1].wait(PATIENCE_S)  # it took the job over, and saw its end too
            monkeypatch.setattr(finish, "keep_outputs", keep)
            go_on[0].set()
            # The first one has stored what it could when it does something else.
            assert until(runtime, submit(runtime)).state is JobState.COMPLETED
            assert job(runtime, id_).state is JobState.RUNNING
            go_on[1].set()
            ended = until(runtime, id_)
    assert (ended.state, stdout_of(runtime, ended).split()) == (JobState.COMPLETED, [b"whole"])
    with runtime.store.read() as view:
        assert view.execute("SELECT count(*) FROM artifacts").fetchone()[0] == 1
        assert view.execute("SELECT count(*) FROM events WHERE entity = ?", [id_]).fetchone()[0] == 1


@pytest.mark.parametrize("error", [None, FileNotFoundError("the program has gone")], ids=["starts", "fails"])
def test_a_stuck_worker_leaves_the_running_programs_of_its_successor_alone(
    runtime: Runtime, door: Door, monkeypatch: pytest.MonkeyPatch, error: Exception | None
) -> None:
    stuck = Stuck(monkeypatch, error)
    with working(runtime, timing=Timing(beat_s=0.05, lease_s=1_000)):
        id_ = submit(runtime, door.knock + "print('whole')")
        assert stuck.stopped.wait(PATIENCE_S)
        with working(runtime, timing=Timing(beat_s=0.05, lease_s=0.2)):
            visitor = door.open()
            stuck.go_on.set()
            # The first one has given up what it had when it does something else.
            assert until(runtime, submit(runtime, group="other")).state is JobState.COMPLETED
            assert job(runtime, id_).state is JobState.RUNNING
            visitor.let_in()
            ended = until(runtime, id_)
    assert (ended.state, stdout_of(runtime, ended).split()) == (JobState.COMPLETED, [b"whole"])


# Nobody strands.


def idle_worker(runtime: Runtime, idle_exit_ms: int = 0) -> tuple[Worker, Thread]:
    own = replace(runtime, opener=StoreOpener(), cancelled=Cancellation())
    made = Worker(own, Kind.BACKGROUND, idle_exit_ms=idle_exit_ms, timing=QUICK)

    def run() -> None:
        made.run(own.cancelled)
        own.close()

    thread = Thread(target=run, daemon=True)
    thread.start()
    return made, thread


def test_an_idle_worker_ends_only_when_nothing_is_left(runtime: Runtime, door: Door) -> None:
    first = submit(runtime, door.knock)
    second = submit(runtime, door.knock, dependencies=[{"job": first}])
    third = submit(runtime, "raise SystemExit(1)", retry={"attempts": 2, "delay_ms": 20})
    _, thread = idle_worker(runtime)
    for _ in range(2):
        visitor = door.open()
        assert thread.is_alive()
        visitor.let_in()
    thread.join(PATIENCE_S)
    assert not thread.is_alive()
    assert [job(runtime, id_).state in FINAL for id_ in (first, second, third)] == [True] * 3
    assert presence.workers(runtime) == []


def test_a_job_that_comes_just_before_an_idle_worker_signs_off_is_run(
    runtime: Runtime, ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with runtime.store.read():
        """The database is made."""
    ids: list[str] = []
    is_idle = job_queue.is_idle

    def idle_but(view: sqlite3.Connection) -> bool:
        found = is_idle(view)
        if not ids:
            ids.append(submit(runtime, noting(ledger)))
        return found

    monkeypatch.setattr(job_queue, "is_idle", idle_but)
    _, thread = idle_worker(runtime)
    thread.join(PATIENCE_S)
    assert not thread.is_alive()
    assert job(runtime, ids[0]).state is JobState.COMPLETED
    assert lines(ledger) == ["ran"]


class Starts:
    """Counts what is started in the background; programs that do nothing stand in for workers."""

    def __init__(self, runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
        self.pids: list[int] = []
        begin = runtime.host.start_background

        def counted(words: Any, environment: Any, log: str) -> int:  # noqa: ARG001
            pid = begin([sys.executable, "-S", "-c", FOREVER], environment, log)
            self.pids.append(pid)
            return pid

        monkeypatch.setattr(runtime.host, "start_background", counted)

    def kill(self) -> None:
        for pid in self.pids:
            os.kill(pid, KILL)


@pytest.fixture
def starts(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> Iterator[Starts]:
    made = Starts(runtime, monkeypatch)
    yield made
    made.kill()


def test_a_job_that_comes_just_after_an_idle_worker_signed_off_gets_a_new_one(
    runtime: Runtime, starts: Starts, monkeypatch: pytest.MonkeyPatch
) -> None:
    sign_off = worker.Worker._sign_off

    def just_before_the_end(self: Worker) -> None:
        submit(runtime, start=True)
        sign_off(self)

    monkeypatch.setattr(worker.Worker, "_sign_off", just_before_the_end)
    _, thread = idle_worker(runtime)
    thread.join(PATIENCE_S)
    assert not thread.is_alive()
    assert len(starts.pids) == 1


def test_many_that_find_no_worker_start_one(runtime: Runtime, starts: Starts) -> None:
    submit(runtime)
    started: list[bool] = []
    threads = [Thread(target=lambda: started.append(presence.ensure_worker(runtime))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
    assert sorted(started) == [False] * 7 + [True]
    assert len(starts.pids) == 1


def test_a_worker_that_died_before_it_was_one_is_not_waited_for(runtime: Runtime, starts: Starts) -> None:
    submit(runtime)
    assert presence.ensure_worker(runtime)
    with closing(runtime.host.process_table().hold(starts.pids[0])) as held:
        starts.kill()
        assert held.wait(PATIENCE_S)
    assert presence.ensure_worker(runtime)
    starts.pids.pop(0)


@posix_only("Windows has no zombies")
def test_a_dead_worker_whose_parent_does_not_care_is_known_to_be_dead(runtime: Runtime) -> None:
    pid = os.spawnv(os.P_NOWAIT, sys.executable, ["python", "-S", "-c", "import sys; sys.stdin.read()"])
    try:
        process = leases.this_process(runtime.host)
        start_ = runtime.host.process_start(pid)
        assert start_ is not None
        row = workers.WorkerRow("wrk_1", "background", pid, start_, process.boot, "1", runtime.now(), 0)
        with closing(runtime.host.process_table().hold(pid)) as held:
            os.kill(pid, KILL)
            assert held.wait(PATIENCE_S)  # a zombie from now on
        assert not leases.lives(runtime.host, row)
    finally:
        os.waitpid(pid, 0)


# What goes wrong.


def test_a_bug_about_one_job_ends_neither_the_worker_nor_the_other_jobs(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    held_back = start.held_back

    def buggy(given: Runtime, id_: str, *rest: Any) -> Any:
        return 1 / 0 if id_ == bad else held_back(given, id_, *rest)

    monkeypatch.setattr(start, "held_back", buggy)
    bad = submit(runtime, restart=True, retry={"attempts": 3})
    good = submit(runtime)
    with working(runtime):
        ended = until(runtime, bad)
        assert until(runtime, good).state is JobState.COMPLETED
    assert (ended.state, ended.reason) == (JobState.FAILED, "internal_error")
    assert ended.message is not None and "ZeroDivisionError" in ended.message


def test_a_bug_in_storing_one_end_keeps_no_other_from_being_stored(
    runtime: Runtime, door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, told, repaired = finish.store, Told(), Event()

    def buggy(tx: Any, given: Runtime, ended: Any, *rest: Any, **options: Any) -> Any:
        done = store(tx, given, ended, *rest, **options)
        assert ended.job.id != bad or repaired.is_set()
        return done

    monkeypatch.setattr(finish, "store", buggy)
    bad, good = submit(runtime, door.knock), submit(runtime, door.knock)
    with working(replace(runtime, notice=told)):
        for visitor in (door.open(), door.open()):
            visitor.let_in()
        assert until(runtime, good).state is JobState.COMPLETED
        assert told.came.wait(PATIENCE_S) and "a bug in the worker" in told.texts[0]
        assert job(runtime, bad).state is JobState.RUNNING
        repaired.set()
        assert until(runtime, bad).state is JobState.COMPLETED


def test_a_job_that_cannot_be_adopted_keeps_no_other_from_running(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, repaired = recovery.found, Event()

    def buggy(*given: Any) -> Any:
        if not repaired.is_set():
            raise OSError("the machine is out of order")
        return found(*given)

    monkeypatch.setattr(recovery, "found", buggy)
    bad = submit(runtime)
    claimed_by_the_dead(runtime, bad)
    good = submit(runtime)
    with working(runtime, timing=Timing(beat_s=0.05, lease_s=100)):
        assert until(runtime, good).state is JobState.COMPLETED
        assert job(runtime, bad).state is JobState.RUNNING
        repaired.set()
        assert until(runtime, bad).state is JobState.COMPLETED


def test_a_bug_in_a_whole_pass_ends_nothing(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    next_due, told, times = job_queue.next_due, Told(), iter(range(100))

    def buggy(view: Any) -> Any:
        assert next(times) > 2
        return next_due(view)

    monkeypatch.setattr(job_queue, "next_due", buggy)
    with working(replace(runtime, notice=told)):
        assert until(runtime, submit(runtime)).state is JobState.COMPLETED
    assert len(told.texts) == 1 and "a bug in the worker, which goes on" in told.texts[0]
    assert len(os.listdir(os.path.join(runtime.data_dir, "crashes"))) == 1


def test_a_worker_whose_standard_error_is_gone_goes_on(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    next_due, times = job_queue.next_due, iter(range(100))

    def gone(text: str) -> None:
        raise BrokenPipeError(text)

    def busy(view: Any) -> Any:
        if next(times) < 2:
            raise OSError("no")
        return next_due(view)

    monkeypatch.setattr(job_queue, "next_due", busy)
    with working(replace(runtime, notice=gone)):
        assert until(runtime, submit(runtime)).state is JobState.COMPLETED


def locked(runtime: Runtime) -> sqlite3.Connection:
    """The database, held by somebody else."""
    made = sqlite3.connect(runtime.store.path, isolation_level=None, check_same_thread=False)
    made.execute("BEGIN IMMEDIATE")
    return made


def test_while_the_database_is_busy_nothing_is_lost_and_everything_is_stored_later(
    runtime: Runtime, door: Door, ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "WRITE_WAIT_MS", 20)
    told = Told()
    with working(replace(runtime, notice=told), timing=NEVER):
        first = submit(runtime, door.knock + noting(ledger, "first"))
        second = submit(runtime, noting(ledger, "second"), dependencies=[{"job": first}])
        visitor = door.open()
        other = locked(runtime)
        visitor.let_in()
        assert visitor.is_gone()
        assert told.came.wait(PATIENCE_S)
        assert job(runtime, first).state is JobState.RUNNING  # reads are answered
        other.close()
        assert until(runtime, second).state is JobState.COMPLETED
    assert job(runtime, first).state is JobState.COMPLETED
    assert lines(ledger) == ["first", "second"]
    assert len(told.texts) == 1 and "the worker tries again" in told.texts[0]


@hears
def test_a_program_is_killed_in_time_although_the_database_is_busy(
    runtime: Runtime, door: Door, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "WRITE_WAIT_MS", 20)
    again = f"def again(*_):\n {door.knock}"
    asked = "import signal; signal.signal(signal.SIGTERM, again)\n"
    with working(runtime, timing=NEVER):
        id_ = submit(runtime, again + asked + door.knock + FOREVER, grace_ms=300)
        door.open()
        want_end(runtime, id_)
        visitor = door.open()  # it was asked, and has its grace
        other = locked(runtime)
        assert visitor.is_gone()
        assert job(runtime, id_).state is JobState.RUNNING
        other.close()
        assert until(runtime, id_).state is JobState.CANCELLED


def test_what_a_dead_worker_left_is_recovered_later_when_the_database_fails_at_the_start(
    runtime: Runtime, ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "WRITE_WAIT_MS", 20)
    told = Told()
    id_ = submit(runtime, noting(ledger))
    claimed_by_the_dead(runtime, id_)
    other = locked(runtime)
    with working(replace(runtime, notice=told), timing=NEVER):
        assert told.came.wait(PATIENCE_S)
        assert job(runtime, id_).state is JobState.RUNNING
        other.close()
        assert until(runtime, id_).state is JobState.COMPLETED
    assert lines(ledger) == ["ran"]


def test_an_error_in_the_middle_of_recovery_strands_nothing(
    runtime: Runtime, ledger: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look, times = recovery.Peers.look, iter(range(100))

    def fails(self: recovery.Peers, me: str) -> None:
        if next(times) < 2:
            raise OSError("the table of processes cannot be read")
        look(self, me)

    monkeypatch.setattr(recovery.Peers, "look", fails)
    id_ = submit(runtime, noting(ledger))
    claimed_by_the_dead(runtime, id_)
    with working(runtime, timing=NEVER):
        assert until(runtime, id_).state is JobState.COMPLETED
    assert lines(ledger) == ["ran"]


@pytest.mark.parametrize("number", ["EMFILE", "EAGAIN", "ENOMEM", "ENOSPC"])
def test_a_job_that_the_machine_has_no_room_for_now_stays_queued_and_starts_later(
    runtime: Runtime, ledger: Path, monkeypatch: pytest.MonkeyPatch, number: str
) -> None:
    import errno

    launch, times = type(runtime.detacher).launch, iter(range(100))

    def short(self: Any, what: Any) -> Any:
        if next(times) < 2:
            raise OSError(getattr(errno, number), "no room")
        return launch(self, what)

    monkeypatch.setattr(type(runtime.detacher), "launch", short)
    told = Told()
    with working(replace(runtime, notice=told)):
        ended = until(runtime, submit(runtime, noting(ledger)))
    assert (ended.state, ended.attempt, lines(ledger)) == (JobState.COMPLETED, 1, ["ran"])
    assert len(told.texts) == 1


def test_outputs_that_a_full_disk_left_in_files_become_artifacts_later(
    runtime: Runtime, small_disk: Path, door: Door
) -> None:
    runtime = replace(runtime, data_dir=str(small_disk / "hearth"), opener=StoreOpener())
    try:
        with working(runtime, timing=Timing(beat_s=0.05, lease_s=100)):
            id_ = submit(runtime, f"print('x' * 100_000, flush=True)\n{door.knock}")
            visitor = door.open()
            ballast = small_disk / "ballast"
            free = os.statvfs(small_disk).f_bavail * 4_096
            ballast.write_bytes(bytes(free - 80_000))  # no room for the artifact, but for rows
            visitor.let_in()
            ended = until(runtime, id_)
            assert (ended.state, ended.in_files, ended.stdout_artifact) == (JobState.COMPLETED, True, None)
            assert ended.stdout_bytes == 100_001
            ballast.unlink()
            later = until_kept(runtime, id_)
            assert len(stdout_of(runtime, later)) == 100_001
        assert folders(runtime) == []
    finally:
        runtime.close()


def until_kept(runtime: Runtime, id_: str) -> Job:
    from hearth.engine.waiting import wait_until

    def look(view: sqlite3.Connection) -> Job | None:
        found = jobs.find(view, id_)
        return found if found is not None and not found.in_files else None

    found = wait_until(runtime, look, PATIENCE_S, starts=False)
    assert found is not None
    return found


class Jumping(Clock):
    """The time, and how far somebody has turned the clock."""

    turned_ms = 0

    def now_ms(self) -> int:
        return super().now_ms() + self.turned_ms


def test_a_clock_that_jumps_neither_loses_a_job_nor_runs_it_twice(runtime: Runtime, ledger: Path) -> None:
    clock = Jumping()
    runtime = replace(runtime, clock=clock)
    hour = 3_600_000
    with working(runtime):
        later = submit(runtime, noting(ledger, "later"), delay_ms=hour)
        clock.turned_ms = -2 * hour
        assert until(runtime, submit(runtime, noting(ledger, "back"))).state is JobState.COMPLETED
        assert job(runtime, later).state is JobState.SCHEDULED
        clock.turned_ms = 2 * hour
        runtime.host.ring(runtime.bells)
        assert until(runtime, later).state is JobState.COMPLETED
        clock.turned_ms = 0
        assert until(runtime, submit(runtime, noting(ledger, "now"))).state is JobState.COMPLETED
    assert lines(ledger) == ["back", "later", "now"]


def test_a_clock_that_jumps_takes_no_time_from_a_program_that_is_adopted(runtime: Runtime, door: Door) -> None:
    clock = Jumping()
    runtime = replace(runtime, clock=clock)
    with working(runtime, ends_all=False):
        id_ = submit(runtime, door.knock, timeout_ms=3_600_000)
        visitor = door.open()
    clock.turned_ms = 7_200_000
    with working(runtime):
        assert until(runtime, submit(runtime)).state is JobState.COMPLETED
        visitor.let_in()
        ended = until(runtime, id_)
    assert ended.state is JobState.COMPLETED
    assert ended.ran_ms is not None and ended.ran_ms < 3_600_000


def test_what_waits_for_a_job_need_not_wait_until_a_clock_that_was_put_back_is_there_again(runtime: Runtime) -> None:
    clock = Jumping()
    runtime = replace(runtime, clock=clock)
    first = submit(runtime)
    second = submit(runtime, dependencies=[{"job": first}])
    clock.turned_ms = -7_200_000
    with working(runtime):
        assert until(runtime, second).state is JobState.COMPLETED


def test_the_outputs_of_a_failed_run_are_kept_with_it(runtime: Runtime) -> None:
    with working(runtime):
        id_ = submit(runtime, "print('one run'); raise SystemExit(1)", retry={"attempts": 2})
        ended = until(runtime, id_)
    with runtime.store.read() as view:
        (first,) = jobs.attempts(view, ended.seq)
    assert content(runtime, first.stdout_artifact).rstrip() == b"one run"
    assert folders(runtime) == []
