"""The worker: one loop that starts jobs, watches their programs and stores what becomes of them.

It waits, without a time limit that matters, for its bell, for the end of a program, for the end of another worker,
and for the next thing that is due. Nothing that goes wrong in one pass ends it: work stays where it is in the
database, and the next pass tries again.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from hearth.clock import parse_timestamp
from hearth.engine import finish, leases, presence, recovery, recurring, start
from hearth.engine.leases import BEAT_S, LEASE_S, Kind
from hearth.engine.moves import milliseconds_between, move
from hearth.engine.outputs import Outputs
from hearth.engine.presence import usual_parallel
from hearth.engine.running import Ended, Ending, Running, outcome
from hearth.engine.spec import Spec
from hearth.errors import HearthError
from hearth.platforms.processes import Exit
from hearth.store import jobs, workers
from hearth.store.jobs import Job, JobState

if TYPE_CHECKING:
    import sqlite3

    from hearth.cancellation import Cancellation
    from hearth.platforms.bells import Bell
    from hearth.runtime import Runtime

EXPIRE_AT_ONCE = 500
FIRST_PAUSE_S, LONGEST_PAUSE_S = 0.1, 5.0  # after a pass that failed


@dataclass(frozen=True, slots=True)
class Timing:
    """How often a worker shows that it lives, and when one that does not counts as gone. Tests are less patient."""

    beat_s: float = BEAT_S
    lease_s: float = LEASE_S


@dataclass(slots=True)
class Claimed:
    """A job that is this worker's, and has not started yet."""

    job: Job
    spec: Spec
    inherited: dict[str, str]


class Worker:
    """Looks after jobs until it is stopped, or has been idle for long."""

    def __init__(
        self, runtime: Runtime, kind: Kind, *, idle_exit_ms: int | None = None, timing: Timing | None = None
    ) -> None:
        """`idle_exit_ms`: end once there has been nothing to do for so long; None: never."""
        self._runtime = runtime
        self._kind = kind
        self._idle_exit_ms = idle_exit_ms
        self._timing = timing or Timing()
        self._id = ""
        self._next_beat = 0.0
        self._idle_since: float | None = None
        self._running: dict[int, Running] = {}
        self._ended: dict[int, tuple[Ended, finish.Kept]] = {}  # not stored yet
        self._peers = recovery.Peers(runtime)
        self._failures = 0
        self._next_due_ms: int | None = None
        self._seen_ms: int | None = None  # the newest look at the clock
        self._rings = False

    @property
    def id(self) -> str:
        return self._id

    def run(self, stop: Cancellation) -> None:
        """Work. Programs that run when it is stopped run on: another worker takes them over."""
        runtime = self._runtime
        with ExitStack() as stack:
            bell = runtime.host.make_bell(runtime.bells)
            stack.callback(bell.close)
            stack.callback(self._peers.close)
            stack.callback(self._let_go)
            stack.enter_context(stop.calls(lambda: _ring(runtime)))
            while not stop.is_set():
                if self._pass_safely(bell):
                    break
            self._sign_off()

    def _pass_safely(self, bell: Bell) -> bool:
        """One pass and one wait; whether the worker is to end because it is idle."""
        bell.clear()
        try:
            idle = self._pass()
            self._failures = 0
        except Exception as error:
            self._note_failure(error)
            idle = False
        if idle:
            return True
        ready = [bell.waitable, *self._peers.waitables]
        ready += [each.process.waitable for each in self._running.values() if each.process.ended is None]
        self._runtime.host.wait_any(ready, self._seconds_to_wait())
        return False

    def _note_failure(self, error: Exception) -> None:
        """The database is busy, the disk full, or there is a bug here: told once, tried again and again."""
        self._failures += 1
        if self._failures > 1 and isinstance(error, (HearthError, OSError)):
            return
        if isinstance(error, (HearthError, OSError)):
            self._runtime.log.warning(f"the worker tries again: {error}")
            self._runtime.notice(f"hearth: the worker tries again: {error}")
        elif self._failures in (1, 10):
            from hearth.crash import write_traceback

            where = write_traceback(self._runtime.data_dir, error)
            self._runtime.log.warning(f"a bug in the worker, which tries again: {error!r}; see {where}")

    def _seconds_to_wait(self) -> float:
        now = time.monotonic()
        if self._failures:
            return min(FIRST_PAUSE_S * 2.0 ** min(self._failures - 1, 10), LONGEST_PAUSE_S)
        times: list[float] = [self._next_beat, *(each.next_look for each in self._running.values())]
        if self._next_due_ms is not None:
            times.append(now + (self._next_due_ms - self._runtime.clock.now_ms()) / 1000)
        if self._idle_since is not None and self._idle_exit_ms is not None:
            times.append(self._idle_since + self._idle_exit_ms / 1000)
        return max(0.0, min(times) - now)

    def _pass(self) -> bool:
        """Do what is due; whether there has been nothing to do for long."""
        now = time.monotonic()
        if now >= self._next_beat or self._peers.has_ended():
            self._beat(now)
        self._look_at_running(now)
        claimed = self._settle()
        started = self._start(claimed)
        if self._rings or started:
            self._rings = False
            _ring(self._runtime)
        return self._is_idle(now)

    # Being a worker among others.

    def _beat(self, now: float) -> None:
        runtime = self._runtime
        with runtime.store.write() as tx:
            is_known = bool(self._id) and workers.beat(tx, self._id, leases.beat_now())
        if not is_known:
            # Either this is the beginning, or another worker took this one for dead: the jobs are that one's by now.
            self._let_go()
            self._id = leases.sign_on(runtime, self._kind).id
            presence.signed_on(runtime)
        with runtime.store.write() as tx:
            held = leases.take_over(tx, runtime, self._id, self._timing.lease_s)
        self._let_go({job.seq for job in held})
        for job in held:
            if job.seq not in self._running and job.seq not in self._ended:
                self._adopt(job)
        self._peers.look(self._id)
        self._look_at_clock()
        self._next_beat = now + self._timing.beat_s
        finish.keep_later(runtime)

    def _look_at_clock(self) -> None:
        """Plan slots anew if the clock was put back, here or, before the first look, perhaps while nobody was there."""
        now_ms = self._runtime.clock.now_ms()
        if self._seen_ms is None or now_ms < self._seen_ms:
            recurring.plan_anew(self._runtime)
        self._seen_ms = now_ms

    def _let_go(self, kept: set[int] | None = None) -> None:
        """Forget jobs, which are another worker's by now; their programs run on."""
        for seq in [seq for seq in self._running if seq not in (kept or ())]:
            self._running.pop(seq).process.close()
        for seq in [seq for seq in self._ended if seq not in (kept or ())]:
            del self._ended[seq]

    def _sign_off(self) -> None:
        with self._quietly(), self._runtime.store.write() as tx:
            workers.delete(tx, self._id)
        _ring(self._runtime)

    @contextmanager
    def _quietly(self) -> Iterator[None]:
        try:
            yield
        except HearthError as error:
            self._runtime.log.warning(f"the worker {self._id} could not sign off: {error}")

    def _adopt(self, job: Job) -> None:
        """Look after a job that a worker that is gone had started, or was about to start."""
        outputs = Outputs.of(self._runtime, job)
        found = recovery.found(self._runtime, job, outputs)
        if isinstance(found, Ended):
            self._end(found)
            return
        spec = Spec.from_json(job.spec)
        running = Running(job, spec, found, outputs, self._deadline_of(job, spec))
        self._running[job.seq] = running

    def _deadline_of(self, job: Job, spec: Spec) -> float | None:
        if spec.timeout_ms is None:
            return None
        ran_ms = milliseconds_between(job.started_at, self._runtime.now()) or 0
        return time.monotonic() + max(0, spec.timeout_ms - ran_ms) / 1000

    # Programs that run.

    def _look_at_running(self, now: float) -> None:
        for seq, running in list(self._running.items()):
            if running.is_over:
                del self._running[seq]
                self._end(outcome(running))
                running.process.close()
            elif (why := self._look(running, now)) is not None:
                self._end_because(running, why)

    def _look(self, running: Running, now: float) -> Ending | None:
        try:
            return running.look(now)
        except OSError as error:  # the other jobs are looked at all the same
            self._runtime.log.warning(f"{running.job.id} could not be looked at: {error}")
            return None

    def _end_because(self, running: Running, why: Ending) -> None:
        # Stored first: whoever adopts the job then knows what its end means.
        with self._runtime.store.write() as tx:
            jobs.want_end(tx, running.job.seq, why)
        running.end(why)

    def _end(self, ended: Ended) -> None:
        self._ended[ended.job.seq] = ended, finish.keep_outputs(self._runtime, ended.job, ended.outputs)

    # The queue.

    def _settle(self) -> list[Claimed]:
        """Store what ended, move on what is due, and claim what may start, all in one transaction."""
        runtime = self._runtime
        free = max(0, runtime.detacher.most - len(self._running))
        with runtime.store.read() as view:
            endings = jobs.to_end(view, self._id) if self._running else {}
            wanted = jobs.next_to_run(view, parallel=usual_parallel(runtime), most=free)
            self._next_due_ms = _milliseconds(jobs.next_due(view))
        for seq, wanted_end in endings.items():
            if seq in self._running:
                self._running[seq].end(Ending(wanted_end.ending), wanted_end.grace_ms)
        is_due = self._next_due_ms is not None and self._next_due_ms <= runtime.clock.now_ms()
        if not (self._ended or wanted or is_due):
            return []
        with runtime.store.write() as tx:
            stored = self._store_ended(tx)
            if is_due:
                self._move_on(tx)
            claimed = list(self._claim(tx, free))
            self._next_due_ms = _milliseconds(jobs.next_due(tx))
        self._forget_ended(stored)
        return claimed

    def _store_ended(self, tx: sqlite3.Connection) -> set[int]:
        """Which of the jobs that ended were this worker's still, and are stored."""
        return {
            seq
            for seq, (ended, kept) in self._ended.items()
            if finish.store(tx, self._runtime, ended, kept, holder=self._id) is not None
        }

    def _forget_ended(self, stored: set[int]) -> None:
        for seq, (ended, kept) in self._ended.items():
            self._rings = True
            # The files of a job that was taken over are what its new worker makes artifacts of.
            if seq in stored and ended.outputs is not None and not kept.in_files:
                ended.outputs.remove()
        self._ended.clear()

    def _move_on(self, tx: sqlite3.Connection) -> None:
        now = self._runtime.now()
        for job in jobs.expired(tx, now, EXPIRE_AT_ONCE):
            move(tx, job, JobState.EXPIRED, ended_at=now, reason="expired", message="it was not started in time")
        jobs.fall_due(tx, now)
        recurring.fire(tx, self._runtime)
        self._rings = True

    def _claim(self, tx: sqlite3.Connection, free: int) -> Iterator[Claimed]:
        now = self._runtime.now()
        for job in jobs.next_to_run(tx, parallel=usual_parallel(self._runtime), most=free):
            mark = start.new_mark(self._runtime)
            changes: dict[str, Any] = {"worker": self._id, "mark": mark, "attempt": job.attempt + 1}
            waited_ms = milliseconds_between(job.queued_at, now)
            if move(tx, job, JobState.RUNNING, **changes, waited_ms=waited_ms):
                own = replace(job, state=JobState.RUNNING, **changes)
                yield Claimed(own, Spec.from_json(job.spec), jobs.variables(tx, job.environment))

    def _start(self, claimed: list[Claimed]) -> bool:
        """Start what was claimed: each program is held back until the database knows which process it is."""
        held: list[Running] = []
        for each in claimed:
            try:
                held.append(self._held_back(each))
            except Exception as error:
                self._could_not_start(each.job, error)
        if held:
            self._release(held)
        return bool(claimed)  # rung also for what could not start, which the next pass stores

    def _held_back(self, claimed: Claimed) -> Running:
        job, outputs = claimed.job, Outputs.of(self._runtime, claimed.job)
        assert job.mark is not None
        process = start.held_back(self._runtime, job.id, claimed.spec, claimed.inherited, job.mark, outputs)
        return Running(job, claimed.spec, process, outputs, None)

    def _could_not_start(self, job: Job, error: Exception) -> None:
        if not isinstance(error, (HearthError, OSError)):
            from hearth.crash import internal

            error = internal(self._runtime.data_dir, error)
        code = error.code if isinstance(error, HearthError) else "system_error"
        status = {"program_not_found": 127, "not_executable": 126}.get(code)
        self._ended[job.seq] = (
            Ended(job, JobState.FAILED, Exit(status, None, None, None), code, str(error)),
            finish.NOTHING,
        )

    def _release(self, held: list[Running]) -> None:
        try:
            mine = self._note_processes(held)
        except BaseException:
            for running in held:
                self._discard(running, cancelled=False)
            raise
        for running in held:
            if running.job.seq not in mine:
                self._discard(running, cancelled=running.job.ending is not None)
                continue
            running.process.release()
            if running.spec.timeout_ms is not None:
                running.deadline = time.monotonic() + running.spec.timeout_ms / 1000
            self._running[running.job.seq] = running

    def _discard(self, running: Running, *, cancelled: bool) -> None:
        """Take a program back that was not let go, since its job was cancelled or taken over in this very moment."""
        running.process.discard()
        running.outputs.remove()
        state = JobState.CANCELLED if cancelled else JobState.QUEUED
        self._ended[running.job.seq] = Ended(running.job, state), finish.NOTHING

    def _note_processes(self, held: list[Running]) -> set[int]:
        mine = set()
        now = self._runtime.now()
        with self._runtime.store.write(durable=True) as tx:
            for running in held:
                record = running.process.record
                facts: dict[str, Any] = {"pid": record.pid, "pid_start": record.start, "boot": record.boot}
                if jobs.hold(tx, running.job.seq, self._id, **facts, started_at=now):
                    mine.add(running.job.seq)
                    running.job = replace(running.job, **facts, started_at=now)
                elif (now_stored := jobs.find_by_seq(tx, running.job.seq)) is not None:
                    running.job = replace(running.job, ending=now_stored.ending)
        return mine

    def _is_idle(self, now: float) -> bool:
        """Whether this worker has had nothing to do for as long as it was told to wait, and has signed off."""
        if self._idle_exit_ms is None or self._running or self._ended:
            self._idle_since = None
            return False
        with self._runtime.store.read() as view:
            idle = jobs.is_idle(view)
        if not idle:
            self._idle_since = None
            return False
        self._idle_since = self._idle_since or now
        if now - self._idle_since < self._idle_exit_ms / 1000:
            return False
        # In one transaction: who submits afterwards sees that there is no worker, who did before is seen here.
        with self._runtime.store.write() as tx:
            return jobs.is_idle(tx) and workers.delete(tx, self._id)


def _milliseconds(time_: str | None) -> int | None:
    return None if time_ is None else parse_timestamp(time_)


def _ring(runtime: Runtime) -> None:
    runtime.host.ring(runtime.bells)
