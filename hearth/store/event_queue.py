"""Groups the events of a long-lived process's reads: one transaction for what came within 50 ms."""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING

from hearth.errors import DatabaseBusy, HearthError
from hearth.store import events

if TYPE_CHECKING:
    from hearth.settings import RetentionSettings
    from hearth.store.database import Store

GROUP_S = 0.05
MAX_WAITING = 20_000
CLOSE_WAIT_MS = 1_000


class EventQueue:
    """`put` never waits. What a busy or full database can't take is dropped in the end, and counted."""

    def __init__(self, store: Store, keep: RetentionSettings) -> None:
        self._store = store
        self._keep = keep
        self._waiting: deque[events.Row] = deque()
        self._flushing = threading.Lock()
        self._filled = threading.Event()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._run, name="hearth-events", daemon=True)
        self._thread.start()
        self.dropped = 0

    def put(self, row: events.Row) -> None:
        if len(self._waiting) >= MAX_WAITING:
            self._drop(1)
            return
        self._waiting.append(row)
        if not self._filled.is_set():
            self._filled.set()

    def _run(self) -> None:
        while not self._closing.is_set():
            self._filled.wait()
            self._closing.wait(GROUP_S)
            self._filled.clear()
            if not self.flush(wait_ms=0):
                self._filled.set()

    def flush(self, *, wait_ms: int = CLOSE_WAIT_MS) -> bool:
        """Store what waits; false when the database stayed busy and it waits on."""
        with self._flushing:
            rows = [self._waiting.popleft() for _ in range(len(self._waiting))]
            if not rows:
                return True
            try:
                with self._store.write(wait_ms=wait_ms) as tx:
                    newest = events.insert(tx, rows)
                    events.tend(tx, newest, len(rows), self._keep, self._store.clock.now_ms())
            except DatabaseBusy:
                self._waiting.extendleft(reversed(rows))
                return False
            except HearthError:
                self._drop(len(rows))
            return True

    def _drop(self, number: int) -> None:
        self.dropped += number
        self._store.count_dropped(number)

    def close(self) -> None:
        """Store what waits, within a second, and end."""
        self._closing.set()
        self._filled.set()
        self._thread.join()
        if not self.flush():
            self._drop(len(self._waiting))
