"""Threads for calls: bounded, fair, and some always for short ones."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest

from hearth.errors import Closing, TooManyCalls
from hearth.logs import Log
from hearth.mcp.pool import Limits, Pool

SECONDS = 4


@pytest.fixture
def make() -> Iterator[Callable[..., Pool]]:
    pools: list[Pool] = []

    def made(**limits: int) -> Pool:
        pools.append(Pool(Log(), Limits(**limits)))
        return pools[-1]

    yield made
    for pool in pools:
        pool.close()


class Gate:
    """Work that does not end before `open`."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self._all = threading.Event()
        self._changed = threading.Condition()

    def work(self, name: str) -> Callable[[], None]:
        def act() -> None:
            with self._changed:
                self.begun.append(name)
                self._changed.notify_all()
            assert self._all.wait(SECONDS)

        return act

    def until(self, number: int) -> None:
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.begun) >= number, SECONDS), self.begun

    def open(self) -> None:
        self._all.set()


def done(pool: Pool, conversation: str = "x", *, is_short: bool = True) -> bool:
    """Whether a call is worked on to its end."""
    ended = threading.Event()
    pool.submit(conversation, ended.set, is_short=is_short)
    return ended.wait(SECONDS)


def test_short_calls_are_worked_on_while_all_others_wait(make: Callable[..., Pool]) -> None:
    pool, gate = make(threads=3, for_short=1, of_one=3), Gate()
    for number in range(5):
        pool.submit("a", gate.work(f"a{number}"), is_short=False)
    gate.until(2)
    assert done(pool, "b")
    assert len(gate.begun) == 2
    gate.open()
    gate.until(5)


def test_conversations_take_turns(make: Callable[..., Pool]) -> None:
    pool, gate = make(threads=2, for_short=1, of_one=2), Gate()
    order: list[str] = []
    pool.submit("a", gate.work("first"), is_short=False)
    gate.until(1)
    for name in ("a1", "a2", "a3", "b1", "b2", "c1"):
        pool.submit(name[0], lambda name=name: order.append(name), is_short=False)  # type: ignore[misc]
    gate.open()
    assert done(pool, "d", is_short=False)
    assert order[:3] == ["a1", "b1", "c1"]


def test_one_conversation_has_no_more_than_its_share(make: Callable[..., Pool]) -> None:
    pool, gate = make(threads=8, for_short=1, of_one=2), Gate()
    for number in range(5):
        pool.submit("a", gate.work(f"a{number}"), is_short=False)
    gate.until(2)
    assert done(pool, "b", is_short=False)
    assert len(gate.begun) == 2
    gate.open()
    gate.until(5)


def test_what_is_first_needs_no_turn(make: Callable[..., Pool]) -> None:
    pool, gate = make(threads=2, for_short=1, of_one=1, waiting_of_one=2), Gate()
    for _ in range(3):
        pool.submit("a", gate.work("a"), is_short=False)
        gate.until(1)
    with pytest.raises(TooManyCalls):
        pool.submit("a", gate.work("a"), is_short=True)
    ended = threading.Event()
    pool.first(ended.set)
    assert ended.wait(SECONDS)
    gate.open()


def test_what_was_withdrawn_is_not_done(make: Callable[..., Pool]) -> None:
    pool, gate = make(threads=2, for_short=1, of_one=1), Gate()
    running = pool.submit("a", gate.work("a"), is_short=False)
    gate.until(1)
    waiting = pool.submit("a", gate.work("b"), is_short=False)
    assert pool.withdraw(waiting)
    assert not pool.withdraw(waiting)
    assert not pool.withdraw(running)
    gate.open()
    assert done(pool, "a", is_short=False)
    assert gate.begun == ["a"]


def test_a_call_that_breaks_off_takes_no_thread_with_it(make: Callable[..., Pool]) -> None:
    pool = make(threads=1, for_short=0, of_one=1)

    def act() -> None:
        raise SystemExit(1)

    pool.submit("a", act, is_short=False)
    assert done(pool, "a", is_short=False)


def test_many_calls_of_many_conversations_are_all_done(make: Callable[..., Pool]) -> None:
    pool = make(threads=4, for_short=1, of_one=2, waiting_of_one=1_000)
    left = threading.Semaphore(0)
    for number in range(1_000):
        pool.submit(str(number % 7), left.release, is_short=number % 3 == 0)
    for _ in range(1_000):
        assert left.acquire(timeout=SECONDS)


def test_a_closed_pool_begins_nothing(make: Callable[..., Pool]) -> None:
    pool = make()
    pool.close()
    with pytest.raises(Closing):
        pool.submit("a", lambda: None, is_short=True)
