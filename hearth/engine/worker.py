"""The worker: one loop that starts jobs, watches their programs and stores what becomes of them.

It waits, without a time limit that matters, for its bell, for the end of a program, for the end of another worker,
and for the next thing that is due. Nothing that goes wrong in one pass ends it: work stays where it is in the
database, and the next pass tries again. Nothing that is wrong about one job keeps it from the others.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hearth.cancellation import Cancellation
from hearth.clock import parse_timestamp
from hearth.engine import claims, finish, leases, presence, recovery, recurring
from hearth.engine.claims import Claimed
from hearth.engine.leases import BEAT_S, LEASE_S, Kind
from hearth.engine.moves import move
from hearth.engine.outputs import Outputs
from hearth.engine.running import Ended, Ending, Running, outcome
from hearth.engine.spares import Spares
from hearth.engine.spec import Spec
from hearth.engine.tending import Tending
from hearth.engine.troubles import FIRST_PAUSE_S, Troubles
from hearth.engine.waiting import wait_until
from hearth.errors import DatabaseGone, HearthError
from hearth.store import job_queue, jobs, workers
from hearth.store.job_queue import ToEnd
from hearth.store.jobs import Job, JobState

if TYPE_CHECKING:
    from hearth.platforms.bells import Bell
    from hearth.runtime import Runtime

EXPIRE_AT_ONCE = 500
STAY_S = 15.0  # for another worker to start, and to take over
WRITE_WAIT_MS = 2_000  # for a busy database; programs are looked at in between


@dataclass(frozen=True, slots=True)
class Timing:
    """How often a worker shows that it lives, and when one that does not counts as gone. Tests are less patient."""

    beat_s: float = BEAT_S
    lease_s: float = LEASE_S


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
        self._to_end: dict[int, Ending] = {}  # found now, not stored yet
        self._ended: dict[int, tuple[Ended, finish.Kept]] = {}  # not stored yet
        self._peers = recovery.Peers(runtime)
        self._troubles = Troubles(runtime)
        self._stop = runtime.cancelled
        self._next_due_ms: int | None = None
        self._tending = Tending(runtime, time.monotonic())
        self._seen_ms: int | None = None  # the newest look at the clock
        self._rings = False
        self._spares = Spares(runtime.host, runtime.data_dir)
        self._bell: Bell | None = None

    @property
    def id(self) -> str:
        return self._id

    def run(self, stop: Cancellation, *, hand_over: Callable[[], bool] = lambda: False) -> None:
        """Work. Programs that run when it is stopped run on: another worker takes them over. `hand_over` sees to it
        that there is one, and tells whether there is; it is called at the end. Raises `DatabaseGone`: one that went
        on beside its successor would run jobs and schedules twice."""
        runtime, self._stop = self._runtime, stop
        with ExitStack() as stack:
            bell = self._bell = runtime.host.make_bell(runtime.bells)
            stack.callback(bell.close)
            self._spares.remove_left()
            stack.callback(self._spares.close)
            stack.callback(self._peers.close)
            stack.callback(self._let_go)
            stack.enter_context(stop.calls(lambda: _ring(runtime)))
            while not stop.is_set():
                if self._pass_safely(bell):
                    break
            self._sign_off()
            if hand_over() and self._running and not runtime.detacher.tells_later:
                self._stay()

    def _stay(self) -> None:
        """Hold the programs until another worker does, or nobody would see how those end that end now."""
        own = self._runtime.for_call(cancelled=Cancellation())
        with suppress(HearthError):
            wait_until(own, lambda view: self._id not in job_queue.holders(view) or None, STAY_S, starts=False)

    def _pass_safely(self, bell: Bell) -> bool:
        """One pass and one wait; whether the worker is to end because it is idle."""
        try:
            bell.clear()
            if self._stop.is_set():  # its ring may be the one that was just cleared
                return False
            is_over = self._pass()
            self._troubles.store(self._id)
            if is_over:
                return True
            ready = [bell.waitable, *self._peers.waitables]
            ready += [each.process.waitable for each in self._running.values() if not each.has_ended]
            self._runtime.host.wait_any(ready, self._seconds_to_wait())
            self._troubles.are_over()
        except DatabaseGone:
            raise
        except Exception as error:
            self._troubles.note(error)
            self._next_beat = 0.0  # which finds again what the pass that was broken off has left
            self._rest(bell)
        return False

    def _rest(self, bell: Bell) -> None:
        """Pause after a pass that failed. Only a ring shortens it: what else is ready would be so again at once."""
        bell.clear()  # of the pass's own rings
        if self._stop.is_set():
            return
        looks = [each.next_look - time.monotonic() for each in self._running.values()]
        pause = max(FIRST_PAUSE_S, min([self._troubles.pause_s, *looks]))
        try:
            self._runtime.host.wait_any([bell.waitable], pause)
        except OSError:
            self._runtime.clock.sleep(pause)

    def _seconds_to_wait(self) -> float:
        now = time.monotonic()
        times: list[float] = [self._next_beat, *(each.next_look for each in self._running.values())]
        if self._next_due_ms is not None:
            times.append(now + (self._next_due_ms - self._runtime.clock.now_ms()) / 1000)
        if self._idle_since is not None and self._idle_exit_ms is not None:
            times.append(self._idle_since + self._idle_exit_ms / 1000)
        return max(0.0, min(times) - now)

    def _pass(self) -> bool:
        """Do what is due; whether there has been nothing to do for long."""
        now = time.monotonic()
        self._look_at_running(now)  # first, since it needs no database: what is to be killed is killed in time
        if now >= self._next_beat or self._peers.has_ended():
            self._beat(now)
        try:
            self._start(self._settle())
        finally:
            if self._rings:
                self._rings = False
                # A pass leaves nothing to this worker but what could not be started, which is to be stored.
                but = None if self._ended else self._bell
                self._runtime.host.ring(self._runtime.bells, but=but)
        return self._is_idle(now)

    def _write(self) -> AbstractContextManager[sqlite3.Connection]:
        return self._runtime.store.write(wait_ms=WRITE_WAIT_MS)

    # Being a worker among others.

    def _beat(self, now: float) -> None:
        runtime = self._runtime
        with self._write() as tx:
            is_known = bool(self._id) and workers.beat(tx, self._id, leases.beat_now())
        if not is_known:
            # Either this is the beginning, or another worker took this one for dead: the jobs are that one's by now.
            self._let_go()
            self._id = leases.sign_on(runtime, self._kind).id
            presence.signed_on(runtime)
            self._rings = True  # for who waits until there is a worker
        with self._write() as tx:
            held = leases.take_over(tx, runtime, self._id, self._timing.lease_s)
        self._let_go({(job.seq, job.mark) for job in held})
        for job in held:
            if job.seq not in self._running and job.seq not in self._ended:
                self._adopt_safely(job)
                self._rings = True  # whoever had it may wait for that
        self._peers.look(self._id)
        self._look_at_clock()
        self._next_beat = now + self._timing.beat_s
        self._rings |= finish.keep_later(runtime) > 0
        self._tending.tend(now)

    def _look_at_clock(self) -> None:
        """Plan slots anew if the clock was put back, here or, before the first look, perhaps while nobody was there."""
        now_ms = self._runtime.clock.now_ms()
        if self._seen_ms is None or now_ms < self._seen_ms:
            recurring.plan_anew(self._runtime)
        self._seen_ms = now_ms

    def _let_go(self, kept: Collection[tuple[int, str | None]] = ()) -> None:
        """Forget runs, which are another worker's by now, or were and made room for another run; programs run on."""
        for seq, running in list(self._running.items()):
            if (seq, running.job.mark) not in kept:
                self._running.pop(seq).process.close()
        for seq, (ended, _) in list(self._ended.items()):
            if (seq, ended.job.mark) not in kept:
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

    def _adopt_safely(self, job: Job) -> None:
        try:
            self._adopt(job)
        except Exception as error:  # tried again at the next beat
            self._troubles.note_about(job, error)

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
        ran_ms = leases.ran_ms(self._runtime, job) or 0
        return time.monotonic() + max(0, spec.timeout_ms - ran_ms) / 1000

    # Programs that run.

    def _look_at_running(self, now: float) -> None:
        self._to_end.clear()
        for running in list(self._running.values()):
            try:
                self._look(running, now)
            except Exception as error:
                self._troubles.note_about(running.job, error)

    def _look(self, running: Running, now: float) -> None:
        if running.is_over:
            self._end(outcome(running))
            del self._running[running.job.seq]
            running.process.close()
        elif (why := running.look(now)) is not None and running.ending is None:
            self._to_end[running.job.seq] = why

    def _end(self, ended: Ended) -> None:
        self._ended[ended.job.seq] = ended, finish.keep_outputs(self._runtime, ended.job, ended.outputs)

    # The queue.

    def _settle(self) -> list[Claimed]:
        """Store what ended, move on what is due, and claim what may start, all in one transaction."""
        free = max(0, self._runtime.detacher.most - len(self._running))
        if not self._is_to_write(free):
            return []
        try:
            with self._write() as tx:
                stored = list(self._store_ended(tx))
                endings = dict(self._store_endings(tx))
                if self._is_due():
                    self._move_on(tx)
                claimed = claims.claim(tx, self._runtime, self._id, free)
                endings |= self._look_at_others(tx)
        except Exception:  # who cannot write can still hear
            with suppress(HearthError), self._runtime.store.read() as view:
                self._ask_to_end(self._look_at_others(view))
            raise
        self._forget(stored)
        self._ask_to_end(endings)
        return claimed

    def _is_to_write(self, free: int) -> bool:
        """Whether there is anything to store. What ended is, and the transaction looks at the rest."""
        if self._ended or self._to_end:
            return True
        with self._runtime.store.read() as view:
            parallel = presence.usual_parallel(self._runtime)
            writes = bool(job_queue.next_to_run(view, parallel=parallel, most=free))
            endings = self._look_at_others(view)
        self._ask_to_end(endings)
        return writes or self._is_due()

    def _look_at_others(self, view: sqlite3.Connection) -> dict[int, ToEnd]:
        """What others asked to be ended; and when the next thing is due."""
        self._next_due_ms = _milliseconds(job_queue.next_due(view))
        return job_queue.to_end(view, self._id) if self._running else {}

    def _is_due(self) -> bool:
        return self._next_due_ms is not None and self._next_due_ms <= self._runtime.clock.now_ms()

    def _ask_to_end(self, endings: Mapping[int, ToEnd]) -> None:
        for seq, wanted in endings.items():
            if seq in self._running:
                self._running[seq].end(Ending(wanted.ending), wanted.grace_ms)

    def _store_ended(self, tx: sqlite3.Connection) -> Iterator[tuple[Ended, finish.Kept, JobState | None]]:
        """Each with what it became; None where it is another worker's by now."""
        for ended, kept in self._ended.values():
            try:
                with jobs.alone(tx):
                    state = finish.store(tx, self._runtime, ended, kept, holder=self._id)
            except (HearthError, OSError, sqlite3.OperationalError):  # which the others meet, too
                raise
            except Exception as error:
                self._troubles.note_about(ended.job, error)
            else:
                yield ended, kept, state

    def _store_endings(self, tx: sqlite3.Connection) -> Iterator[tuple[int, ToEnd]]:
        # Stored before anything is done: whoever adopts the job then knows what its end means.
        for seq, why in self._to_end.items():
            if job_queue.want_end(tx, seq, why, holder=self._id):
                yield seq, ToEnd(why, None)

    def _forget(self, stored: list[tuple[Ended, finish.Kept, JobState | None]]) -> None:
        self._tending.note_ended(len(stored))
        for ended, kept, state in stored:
            self._rings = True
            del self._ended[ended.job.seq]
            if state is not None and not kept.in_files:
                self._spares.keep((ended.outputs or Outputs.of(self._runtime, ended.job)).folder)

    def _move_on(self, tx: sqlite3.Connection) -> None:
        now = self._runtime.now()
        for job in job_queue.expired(tx, now, EXPIRE_AT_ONCE):
            move(tx, job, JobState.EXPIRED, ended_at=now, reason="expired", message="it was not started in time")
        job_queue.fall_due(tx, now)
        recurring.fire(tx, self._runtime)
        self._rings = True

    def _start(self, claimed: list[Claimed]) -> None:
        """Start what was claimed: each program is held back until the database knows which process it is. Raises what
        kept some of them, which go back to the queue, from starting."""
        held: list[Running] = []
        passing: Exception | None = None
        for job, inherited in claimed:
            try:
                held.append(claims.held_back(self._runtime, job, inherited, self._spares))
            except Exception as error:
                passing = error if claims.will_pass(error) else passing
                self._could_not_start(job, error)
        if held:
            self._release(held)
        self._rings |= bool(claimed)  # also for what could not start, which the next pass stores
        if passing is not None:
            raise passing

    def _could_not_start(self, job: Job, error: Exception) -> None:
        never = Ended(job, JobState.QUEUED)
        if not claims.will_pass(error):
            never = claims.never_started(self._runtime, job, error)
        self._ended[job.seq] = never, finish.NOTHING

    def _release(self, held: list[Running]) -> None:
        try:
            mine = claims.note_processes(self._runtime, self._id, held, wait_ms=WRITE_WAIT_MS)
        except BaseException:
            for running in held:
                self._discard(running)
            raise
        for running in held:
            if running.job.seq not in mine:
                self._discard(running)
                running.outputs.remove()
                continue
            running.process.release()
            if running.spec.timeout_ms is not None:
                running.deadline = time.monotonic() + running.spec.timeout_ms / 1000
            self._running[running.job.seq] = running

    def _discard(self, running: Running) -> None:
        """Take back a program that was not let go: its job was cancelled or taken over in this very moment, or it
        could not be stored."""
        running.process.discard()
        state = JobState.QUEUED if running.job.ending is None else JobState.CANCELLED
        self._ended[running.job.seq] = Ended(running.job, state), finish.NOTHING

    def _is_idle(self, now: float) -> bool:
        """Whether this worker has had nothing to do for as long as it was told to wait, and has signed off."""
        if self._idle_exit_ms is None or self._running or self._ended:
            self._idle_since = None
            return False
        with self._runtime.store.read() as view:
            idle = job_queue.is_idle(view)
        if not idle:
            self._idle_since = None
            return False
        self._idle_since = self._idle_since or now
        if now - self._idle_since < self._idle_exit_ms / 1000:
            return False
        # In one transaction: who submits afterwards sees that there is no worker, who did before is seen here.
        with self._write() as tx:
            return job_queue.is_idle(tx) and workers.delete(tx, self._id)


def _milliseconds(time_: str | None) -> int | None:
    return None if time_ is None else parse_timestamp(time_)


def _ring(runtime: Runtime) -> None:
    runtime.host.ring(runtime.bells)
