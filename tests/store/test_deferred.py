"""What goes along with the next transaction."""

from __future__ import annotations

import sqlite3

import pytest

from hearth.clock import Clock
from hearth.platforms.local import local_host
from hearth.store import events
from hearth.store.database import Store, open_store
from tests.store.rows import count, event


def add(tx: sqlite3.Connection) -> None:
    events.insert(tx, [event()])


def test_a_deferred_act_is_done_by_the_next_transaction(store: Store) -> None:
    store.defer(add)
    with store.write() as tx:
        add(tx)
    assert count(store) == 2


def test_a_read_of_this_process_sees_what_was_deferred(store: Store) -> None:
    store.defer(add)
    with store.read() as tx:
        assert tx.execute("SELECT count(*) FROM events").fetchone()[0] == 1


def test_a_transaction_that_fails_leaves_a_deferred_act_for_the_next(store: Store) -> None:
    store.defer(add)
    with pytest.raises(RuntimeError, match="failed"), store.write():
        raise RuntimeError("failed")
    assert count(store) == 1


def test_closing_does_what_was_deferred(store: Store) -> None:
    data_dir = store.path.rsplit("hearth.sqlite3", 1)[0]
    store.defer(add)
    store.close()
    again = open_store(local_host(), data_dir, Clock())
    assert count(again) == 1
    again.close()
