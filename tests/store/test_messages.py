"""What conversations left is forgotten in time, and nothing before."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hearth.clock import Clock, timestamp
from hearth.platforms.local import local_host
from hearth.settings import RetentionSettings
from hearth.store import arrivals, conversations, futures, requests
from hearth.store.arrivals import Kind
from hearth.store.database import Store
from hearth.store.futures import Future, FutureState
from hearth.store.requests import KEPT_MS, Request
from hearth.store.retention import DAY_MS, Retention, tend

NOW = Clock().now_ms()
Retain = Callable[..., Retention]


@pytest.fixture
def retain(store: Store, data: Path) -> Retain:
    def make(*, dry_run: bool = False) -> Retention:
        keep = RetentionSettings(jobs_days=10, mailbox_days=5)
        return Retention(local_host(), store, str(data), keep, NOW, dry_run=dry_run)

    return make


def ago(days: float) -> str:
    return timestamp(NOW - int(days * DAY_MS))


def future(store: Store, id_: str, *, days: float | None) -> None:
    """One that ended so long ago, or runs."""
    made = Future(
        id=id_,
        conversation="local:x",
        operation="machine.exec",
        caller="mcp",
        state=FutureState.RUNNING,
        created_at=ago(100),
        pid=1,
        pid_start="1",
        boot="b",
    )
    with store.write() as tx:
        futures.insert(tx, made)
        if days is not None:
            assert futures.finish(tx, id_, FutureState.COMPLETED, at=ago(days), result="{}")


def arrival(store: Store, key: str, days: float) -> None:
    with store.write() as tx:
        arrivals.insert(tx, key, at=ago(days), kind=Kind.JOB, id_="job_x", state="completed", summary={})


def request(store: Store, key: str, *, ms: int, answered: bool) -> None:
    at = timestamp(NOW - ms)
    with store.write() as tx:
        made = Request(conversation="local:x", key=key, digest="d", at=at, pid=1, pid_start="1", boot="b")
        requests.insert(tx, made)
        if answered:
            requests.answer(tx, "local:x", key, at=at, answer="{}")


def removed(retention: Retention) -> dict[str, int]:
    return {each.kind: each.count for each in retention.expire_messages()}


def ids(store: Store, sql: str) -> list[Any]:
    with store.read() as view:
        return [row[0] for row in view.execute(sql)]


@pytest.fixture
def filled(store: Store) -> Store:
    for id_, days in (("old", 11), ("young", 9), ("runs", None)):
        future(store, f"fut_{id_}", days=days)
    arrival(store, "local:old", 6)
    arrival(store, "local:both", 6)
    arrival(store, "local:both", 4)
    minute = KEPT_MS + 1_000
    for key, ms, answered in (("old", minute, True), ("young", 0, True), ("runs", minute, False)):
        request(store, key, ms=ms, answered=answered)
    request(store, "lost", ms=2 * DAY_MS, answered=False)
    return store


def test_what_is_beyond_its_days_goes(filled: Store, retain: Retain) -> None:
    counted = removed(retain(dry_run=True))
    assert counted == removed(retain()) | {"conversations": 0}, "a dry run sees the arrivals that keep a conversation"
    assert ids(filled, "SELECT id FROM futures ORDER BY seq") == ["fut_young", "fut_runs"]
    assert ids(filled, "SELECT key FROM requests ORDER BY seq") == ["young", "runs"]
    assert ids(filled, "SELECT seq FROM arrivals") == [2]
    assert ids(filled, "SELECT key FROM conversations") == ["local:both"]


def test_it_goes_in_passing_as_well(filled: Store, retain: Retain) -> None:
    tend(retain(), number=1)
    assert ids(filled, "SELECT id FROM futures ORDER BY seq") == ["fut_young", "fut_runs"]
    assert ids(filled, "SELECT seq FROM arrivals") == [2]


def test_arrivals_count_on_where_the_forgotten_ones_ended(filled: Store, retain: Retain) -> None:
    removed(retain())
    arrival(filled, "local:both", 0)
    assert ids(filled, "SELECT seq FROM arrivals ORDER BY seq") == [2, 3]


def test_nothing_is_acknowledged_beyond_what_there_is(store: Store) -> None:
    arrival(store, "local:x", 0)
    with store.write() as tx:
        conversations.ack(tx, "local:x", 99, ago(0))
        assert conversations.cursor(tx, "local:x") == (1, 1)
        conversations.ack(tx, "local:x", 0, ago(0))
        assert conversations.cursor(tx, "local:x") == (1, 1), "never fewer than before"
