from __future__ import annotations

import sqlite3
import threading

import pytest

from hearth.settings import RetentionSettings
from hearth.store import event_queue
from hearth.store.database import DROPPED_NAME, Store
from hearth.store.event_queue import EventQueue
from tests.store.rows import count, event


@pytest.fixture
def queue(store: Store) -> EventQueue:
    return store.event_queue(RetentionSettings())


def test_closing_stores_every_event_that_waited(store: Store, queue: EventQueue) -> None:
    for number in range(1_000):
        queue.put(event(number))
    queue.close()
    assert count(store) == 1_000


def test_events_keep_the_order_they_came_in(store: Store, queue: EventQueue) -> None:
    for number in range(300):
        queue.put(event(number))
        if number % 100 == 0:
            queue.flush()
    queue.flush()
    with store.read() as view:
        found = [row[0] for row in view.execute("SELECT duration_ms FROM events ORDER BY id")]
    assert found == list(range(300))


def test_events_wait_on_while_another_process_writes(store: Store, queue: EventQueue) -> None:
    other = sqlite3.connect(store.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    queue.put(event())
    assert not queue.flush(wait_ms=0)
    other.execute("ROLLBACK")
    other.close()
    assert queue.flush()
    assert (count(store), queue.dropped) == (1, 0)


def test_events_beyond_the_bound_are_counted_as_dropped(store: Store, queue: EventQueue) -> None:
    other = sqlite3.connect(store.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    for number in range(event_queue.MAX_WAITING + 3):
        queue.put(event(number))
    other.execute("ROLLBACK")
    other.close()
    queue.close()
    dropped = queue.dropped
    # The queue's own thread may have held a group in hand while the rest came in.
    assert count(store) + dropped == event_queue.MAX_WAITING + 3
    if dropped:
        with open(store.path.replace("hearth.sqlite3", DROPPED_NAME), "rb") as file:
            assert len(file.read()) == dropped


def test_a_group_comes_within_its_time_without_being_asked(store: Store, queue: EventQueue) -> None:
    stored = []

    def note(statement: str) -> None:
        if statement.startswith("COMMIT"):
            stored.append(statement)
            done.set()

    done = threading.Event()
    store._writer.set_trace_callback(note)
    queue.put(event())
    assert done.wait(3)
    queue.close()
    assert count(store) == 1
