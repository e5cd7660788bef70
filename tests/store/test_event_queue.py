from __future__ import annotations

import sqlite3

from hearth.store import event_queue
from hearth.store.database import DROPPED_NAME, Store
from tests.store.rows import count, event


def test_closing_stores_every_event_that_waited(store: Store) -> None:
    for number in range(1_000):
        store.events.put(event(number))
    store.events.close()
    assert count(store) == 1_000


def test_events_keep_the_order_they_came_in(store: Store) -> None:
    for number in range(300):
        store.events.put(event(number))
        if number % 100 == 0:
            store.events.flush()
    store.events.flush()
    with store.read() as view:
        found = [row[0] for row in view.execute("SELECT duration_ms FROM events ORDER BY id")]
    assert found == list(range(300))


def test_events_wait_on_while_another_process_writes(store: Store) -> None:
    other = sqlite3.connect(store.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    store.events.put(event())
    assert not store.events.flush(wait_ms=0)
    other.execute("ROLLBACK")
    other.close()
    assert store.events.flush()
    assert (count(store), store.events.dropped) == (1, 0)


def test_events_beyond_the_bound_are_counted_as_dropped(store: Store) -> None:
    other = sqlite3.connect(store.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    queue = store.events
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


def test_a_group_comes_within_its_time_without_being_asked(store: Store) -> None:
    stored = []

    def note(statement: str) -> None:
        if statement.startswith("COMMIT"):
            stored.append(statement)
            done.set()

    import threading

    done = threading.Event()
    store._writer.set_trace_callback(note)
    store.events.put(event())
    assert done.wait(3)
    store.events.close()
    assert count(store) == 1
