"""A full disk: nothing half stored, and everything works again once there is room."""

from __future__ import annotations

from pathlib import Path

import pytest

from hearth.clock import Clock
from hearth.errors import NoSpace
from hearth.platforms.local import local_host
from hearth.store import events
from hearth.store.database import Store, open_store
from tests.store.rows import count, event


def fill(folder: Path) -> Path:
    ballast = folder / "ballast"
    with open(ballast, "wb", buffering=0) as file, pytest.raises(OSError, match="space"):
        while True:
            file.write(b"x" * 4096)
    return ballast


def test_a_full_database_refuses_the_transaction_whole(store: Store) -> None:
    pages = store._writer.execute("PRAGMA page_count").fetchone()[0]
    store._writer.execute(f"PRAGMA max_page_count = {pages + 5}")
    with pytest.raises(NoSpace), store.write() as tx:
        events.insert(tx, [event(number) for number in range(5_000)])
    assert count(store) == 0


def test_a_full_disk_is_named_and_harms_no_later_call(small_disk: Path) -> None:
    store = open_store(local_host(), str(small_disk / "data"), Clock())
    ballast = fill(small_disk)
    with pytest.raises(NoSpace), store.write() as tx:
        events.insert(tx, [event(number) for number in range(5_000)])
    ballast.unlink()
    with store.write() as tx:
        events.insert(tx, [event()])
    assert count(store) == 1
    store.close()


def test_a_database_that_finds_no_room_is_made_once_there_is_some(small_disk: Path) -> None:
    ballast = fill(small_disk)
    with pytest.raises(NoSpace):
        open_store(local_host(), str(small_disk / "data"), Clock())
    assert not list(small_disk.rglob("*.new*"))
    ballast.unlink()
    store = open_store(local_host(), str(small_disk / "data"), Clock())
    assert count(store) == 0
    store.close()
