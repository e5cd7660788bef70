"""Arrivals: what is offered to a conversation with each answer, until it has acknowledged it.

At least once: only what was written whole to a client that was there counts as offered, only what was offered can be
acknowledged, and only `acked` is stored. A client that sends `ack` gets each arrival once; for one that does not,
a later request acknowledges what earlier answers offered it.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hearth.errors import HearthError
from hearth.plain import plain
from hearth.store import arrivals, conversations

if TYPE_CHECKING:
    from hearth.runtime import Runtime
    from hearth.store.arrivals import Arrival

MOST = 16
MOST_BYTES = 8 * 1024
MOST_BOXES = 10_000
ACK_WAIT_MS = 50  # while the database is busy, a later call stores it


class Box:
    """How far one conversation is, in this process's memory. Not safe between threads; `Mail` is."""

    __slots__ = ("acked", "newest", "offered", "stored", "turn", "written")

    def __init__(self) -> None:
        self.acked = 0
        self.stored = 0  # of `acked`
        self.newest = 0
        self.offered = 0  # by any answer, whether it was written or not
        self.written = 0  # by answers that were written whole
        self.turn: int | None = None  # when `newest` was looked up

    def begin(self, ack: int | None, *, is_retry: bool) -> None:
        """A request begins."""
        if ack is not None:
            self.acked = max(self.acked, min(ack, self.offered))
        elif not is_retry:
            self.acked = max(self.acked, self.written)

    def looked(self, newest: int, acked: int, turn: int) -> None:
        self.newest, self.turn = max(self.newest, newest), turn
        self.acked = max(self.acked, acked)
        self.stored = max(self.stored, acked)

    def offer(self, last: int) -> None:
        """An answer is about to be written that offers all behind `acked` up to `last`."""
        self.offered = max(self.offered, last)

    def wrote(self, last: int) -> None:
        self.written = max(self.written, last)


class Mail:
    """The boxes of all conversations that call. Reads nothing where nothing has rung since the last look."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._lock = threading.Lock()
        self._boxes: OrderedDict[str, Box] = OrderedDict()
        self._turn = 0

    def rung(self) -> None:
        """Something may have arrived for anybody."""
        self._turn += 1

    def begin(self, conversation: str, ack: int | None, *, is_retry: bool) -> None:
        """A request of a conversation begins."""
        with self._lock:
            self._box(conversation).begin(ack, is_retry=is_retry)

    def look(self, conversation: str) -> bool:
        """Whether there is something to offer; asks the database where that may have changed, and stores there what
        was acknowledged. Not for the loop's thread."""
        with self._lock:
            box = self._box(conversation)
            turn = self._turn
            fresh, acked, stored = box.turn == turn, box.acked, box.stored
        try:
            if acked > stored:
                self._store_ack(conversation, box, acked)
            if not fresh:
                with self._runtime.store.read() as view:
                    cursor = conversations.cursor(view, conversation)
                with self._lock:
                    box.looked(cursor.newest, cursor.acked, turn)
        except HearthError as error:
            self._runtime.log.info(f"arrivals of {conversation[:16]} wait: {error.message}")
        return box.newest > box.acked

    def _store_ack(self, conversation: str, box: Box, acked: int) -> None:
        with self._runtime.store.write(wait_ms=ACK_WAIT_MS) as tx:
            conversations.ack(tx, conversation, acked, self._runtime.now())
        with self._lock:
            box.stored = max(box.stored, acked)

    def is_empty(self, conversation: str) -> bool:
        """Whether there is surely nothing to offer. Never waits."""
        with self._lock:
            box = self._boxes.get(conversation)
            return box is not None and box.turn == self._turn and box.newest <= box.acked

    def offer(self, conversation: str, room: int) -> tuple[list[dict[str, Any]], Callable[[], None]]:
        """What an answer with so many bytes left tells of, and what to call once it is written. Not for the loop's
        thread."""
        if not self.look(conversation):
            return [], _nothing
        with self._lock:
            acked = self._boxes[conversation].acked if conversation in self._boxes else 0
        try:
            with self._runtime.store.read() as view:
                found = arrivals.after(view, conversation, acked, MOST)
        except HearthError as error:
            self._runtime.log.info(f"arrivals of {conversation[:16]} wait: {error.message}")
            return [], _nothing
        items = within(map(item, found), min(room, MOST_BYTES))
        if not items:
            return [], _nothing
        last = items[-1]["seq"]
        with self._lock:
            box = self._box(conversation)
            box.offer(last)
        return items, lambda: self._wrote(box, last)

    def _wrote(self, box: Box, last: int) -> None:
        with self._lock:
            box.wrote(last)

    def _box(self, conversation: str) -> Box:
        box = self._boxes.get(conversation)
        if box is None:
            box = self._boxes[conversation] = Box()
            if len(self._boxes) > MOST_BOXES:
                self._boxes.popitem(last=False)  # what it was offered is offered once more
        else:
            self._boxes.move_to_end(conversation)
        return box


def item(arrival: Arrival) -> dict[str, Any]:
    """What is told about an arrival."""
    return {
        "seq": arrival.seq,
        "kind": arrival.kind.value,
        "id": arrival.id,
        "state": arrival.state,
        "at": arrival.at,
        "summary": plain(json.loads(arrival.summary)),
    }


def within(items: Any, room: int) -> list[dict[str, Any]]:
    """The first ones that together have at most `room` bytes."""
    made: list[dict[str, Any]] = []
    left = room - 2
    for each in items:
        left -= len(json.dumps(each, ensure_ascii=False, separators=(",", ":")).encode()) + 1
        if left < 0:
            break
        made.append(each)
    return made


def _nothing() -> None:
    """Nothing was offered."""
