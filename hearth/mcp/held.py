"""A call at work: whoever waits for its answer, and how it becomes a future that outlives them."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from hearth.cancellation import Cancellation
from hearth.engine import futures
from hearth.errors import HearthError, Interrupted
from hearth.mcp import envelope, retries
from hearth.mcp.envelope import Reply
from hearth.model import State
from hearth.store import futures as rows

if TYPE_CHECKING:
    from hearth.mcp.app import App
    from hearth.mcp.pool import Task
    from hearth.mcp.retries import Key
    from hearth.runtime import Runtime

NOTE_WAIT_MS = 50


class Held:
    """One call. `work` runs in a thread of the pool, `detach` in another, the others in the loop's."""

    def __init__(
        self,
        app: App,
        runtime: Runtime,
        operation: str,
        act: Callable[[Held], Reply],
        *,
        cancelled: Cancellation,
        key: Key | None = None,
        is_detached: bool = False,
    ) -> None:
        """`act` makes the answer. With `key` that is stored before anybody gets it; with `is_detached` nobody waits."""
        self.task: Task | None = None
        self.key = key
        self.cancelled = cancelled
        self.future: str | None = None
        self.started_at: float | None = None  # by the clock that only grows
        self.is_noted = False  # that its request came: then the answer is kept for it
        self._app = app
        self._runtime = runtime
        self._operation = operation
        self._act = act
        self._is_detached = is_detached
        self._loop = asyncio.get_running_loop()
        self._lock = threading.Lock()  # may be held while the database is busy, so the loop never takes it
        self._starting_lock = threading.Lock()
        self._is_over = False
        self._reply: Reply | None = None
        self._clients = 0
        self._waiting: set[asyncio.Future[Reply | None]] = set()
        self._starting: list[asyncio.Future[Reply | None]] = []

    # In the loop.

    def join(self) -> None:
        """Somebody waits for the answer."""
        self._clients += 1

    def leave(self) -> None:
        """Somebody has gone. A call that nobody waits for is taken back, unless it was told of as going on, or its
        request may come again."""
        self._clients -= 1
        if self._reply is not None or self._clients or self.future is not None or self._is_detached or self.key:
            return
        self.cancelled.set()
        if self.task is not None and self._app.pool.withdraw(self.task):
            self._app.ended(self)

    async def reply(self, seconds: float | None = None, *, or_start: bool = False) -> Reply | None:
        """The answer; None after that time, or `or_start` once a thread works on it."""
        if self._reply is not None:
            return self._reply
        waiter: asyncio.Future[Reply | None] = self._loop.create_future()
        self._waiting.add(waiter)
        timer = self._loop.call_later(seconds, _resolve, waiter) if seconds is not None else None
        if or_start:
            self._tell_start(waiter)
        try:
            return await waiter
        finally:
            self._waiting.discard(waiter)
            if timer is not None:
                timer.cancel()

    def _tell_start(self, waiter: asyncio.Future[Reply | None]) -> None:
        with self._starting_lock:
            if self.started_at is None:
                self._starting.append(waiter)
            else:
                waiter.set_result(None)

    def _wake(self, reply: Reply) -> None:
        self._reply = reply
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(reply)
        self._waiting.clear()
        self._app.ended(self)

    # In threads.

    def work(self) -> None:
        """Do it, store what is to be stored, and wake who waits."""
        try:
            reply = self._made()
        except BaseException as error:  # such as a full disk where a traceback was to be written
            reply = envelope.failure(Interrupted(f"the call broke off: {error!r}"))
        self._end(reply)

    def _made(self) -> Reply:
        if self._is_detached:
            try:
                self.detach()
            except HearthError as error:  # it was to go on by itself, and nobody could have known of it
                return envelope.failure(error)
        with self._lock:
            future = self.future
            with self._starting_lock:
                self.started_at = time.monotonic()
                starting = self._starting
        for each in starting:
            self._loop.call_soon_threadsafe(_resolve, each)
        if self.cancelled.is_set():
            return envelope.cancelled()
        if future is not None:
            self._note_start(future)
        return self._act(self)

    def _note_start(self, future: str) -> None:
        try:
            with self._runtime.store.write(wait_ms=NOTE_WAIT_MS) as tx:
                rows.start(tx, future, self._runtime.now())
        except HearthError as error:
            self._runtime.log.info(f"{future} starts without a note: {error.message}")

    def detach(self) -> str | None:
        """Make it a future, before anybody is told so; its id, None where it has ended. Raises `DatabaseError`,
        `NoSpace`."""
        with self._lock:
            if self.future is None and not self._is_over:
                started = None if self.started_at is None else self._runtime.now()
                made = futures.open_future(self._runtime, self._app.owner, self._operation, started_at=started)
                self.future = made
                self._app.futures[made] = self
            return self.future

    def end_unstarted(self) -> None:
        """Take back a call that waits for its turn; one that runs hears of it by `cancelled`."""
        self.cancelled.set()
        if self.task is not None and self._app.pool.withdraw(self.task):
            self._end(envelope.cancelled())

    def _end(self, reply: Reply) -> None:
        with self._lock:
            self._is_over = True  # from here on nobody makes it a future
        if self.future is not None and self._app.is_ending and reply.document["state"] == State.CANCELLED.value:
            reply = envelope.failure(Interrupted("the server ended before this call did"))
        if self.future is not None or self.is_noted:
            self._app.keeper.keep(lambda: self._store(reply))
        self._loop_call(reply)

    def _loop_call(self, reply: Reply) -> None:
        try:
            self._loop.call_soon_threadsafe(self._wake, reply)
        except RuntimeError:
            self._app.ended(self)  # the loop has ended, and with it who waited

    def _store(self, reply: Reply) -> None:
        now = self._runtime.now()
        with self._runtime.store.write() as tx:
            if self.key is not None and self.is_noted:
                retries.end(tx, self.key, reply, now)
            if self.future is not None:
                futures.end(tx, self.future, reply.document, now)
        if self.future is not None:
            self._app.futures.pop(self.future, None)
        self._app.mail.rung()
        self._runtime.host.ring(self._runtime.bells)


def _resolve(waiter: asyncio.Future[Reply | None]) -> None:
    if not waiter.done():
        waiter.set_result(None)
