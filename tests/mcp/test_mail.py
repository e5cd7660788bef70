"""Arrivals: at least once, whatever is cut or repeated, and never acknowledged before they could be received."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import settings
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, precondition, rule

from hearth.mcp.mail import MOST, MOST_BYTES, Box, Mail, within
from hearth.runtime import Runtime
from hearth.store import arrivals, conversations
from hearth.store.arrivals import Kind

MINE = "local:" + "a" * 64


class Arrivals(RuleBasedStateMachine):
    """A conversation whose requests run side by side, are cut, repeated and acknowledged in any order; and what its
    client has received."""

    requests = Bundle("requests")

    def __init__(self) -> None:
        super().__init__()
        self.box = Box()
        self.newest = 0
        self.stored = 0  # `acked` in the database
        self.received: set[int] = set()
        self.written: set[int] = set()

    @rule(number=st.integers(1, 20))
    def arrive(self, number: int) -> None:
        self.newest += number

    @rule(target=requests, is_retry=st.booleans(), with_ack=st.booleans(), beyond=st.integers(0, 3))
    def begin(self, is_retry: bool, with_ack: bool, beyond: int) -> tuple[int, int]:
        """A client that sends `ack` names the last of what it has without a gap, or more than there ever was."""
        ack = self._without_a_gap() if with_ack else None
        if ack is not None and beyond == 3:
            ack += 0 if self._without_a_gap() < self.box.offered else 1_000
        self.box.begin(ack, is_retry=is_retry)
        self.box.looked(self.newest, self.stored, 0)
        self.stored = max(self.stored, self.box.acked)
        first = self.box.acked + 1
        last = min(self.newest, self.box.acked + MOST)
        if last >= first:
            self.box.offer(last)
        return first, last

    @rule(offered=consumes(requests))
    def write_whole(self, offered: tuple[int, int]) -> None:
        first, last = offered
        self.written |= set(range(first, last + 1))
        self.received |= set(range(first, last + 1))
        if last >= first:
            self.box.wrote(last)

    @rule(offered=consumes(requests), arrived=st.booleans())
    def cut(self, offered: tuple[int, int], arrived: bool) -> None:
        """The connection is cut while the answer is written: the client may have all of it, or nothing."""
        if arrived:
            self.received |= set(range(offered[0], offered[1] + 1))

    @rule()
    def restart(self) -> None:
        self.box = Box()

    def _without_a_gap(self) -> int:
        seq = self.stored
        while seq + 1 in self.received:
            seq += 1
        return seq

    @invariant()
    def nothing_is_acknowledged_that_was_not_received(self) -> None:
        assert set(range(1, self.stored + 1)) <= self.received

    @invariant()
    def nothing_unread_is_passed_over(self) -> None:
        assert self.box.acked <= self.newest

    @precondition(lambda self: self.newest > self.stored)
    @rule()
    def a_client_that_goes_on_gets_everything(self) -> None:
        for _ in range(self.newest // MOST + 2):
            self.write_whole(self.begin(is_retry=False, with_ack=False, beyond=0))
        assert set(range(self.stored + 1, self.newest + 1)) <= self.received


Arrivals.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestArrivals = Arrivals.TestCase


@pytest.fixture
def mail(runtime: Runtime) -> Mail:
    return Mail(runtime)


def put(runtime: Runtime, number: int, size: int = 10) -> None:
    with runtime.store.write() as tx:
        for _ in range(number):
            arrivals.insert(
                tx, MINE, at=runtime.now(), kind=Kind.JOB, id_="job_x", state="completed", summary={"text": "x" * size}
            )


def seqs(items: list[dict[str, Any]]) -> list[int]:
    return [item["seq"] for item in items]


@contextmanager
def request(mail: Mail, ack: int | None = None, *, is_retry: bool = False, room: int = 24_000) -> Iterator[list[int]]:
    """What a request is told; written whole unless the block raises."""
    mail.begin(MINE, ack, is_retry=is_retry)
    items, written = mail.offer(MINE, room)
    yield seqs(items)
    written()


def test_an_answer_offers_at_most_sixteen(mail: Mail, runtime: Runtime) -> None:
    put(runtime, MOST + 4)
    with request(mail) as first:
        assert first == list(range(1, MOST + 1))
    with request(mail) as second:
        assert second == list(range(MOST + 1, MOST + 5))
    with request(mail) as third:
        assert third == []


def test_an_answer_offers_at_most_eight_kilobytes(mail: Mail, runtime: Runtime) -> None:
    put(runtime, 3, size=5_000)
    mail.begin(MINE, None, is_retry=False)
    items, _ = mail.offer(MINE, 24_000)
    assert seqs(items) == [1]
    assert len(str(items)) < MOST_BYTES


def test_an_answer_that_is_full_already_offers_nothing(mail: Mail, runtime: Runtime) -> None:
    put(runtime, 1, size=5_000)
    with request(mail, room=1_000) as told:
        assert told == []
    with request(mail) as told:
        assert told == [1]


def test_a_retry_is_offered_the_same_again(mail: Mail, runtime: Runtime) -> None:
    put(runtime, 1)
    with request(mail) as first:
        assert first == [1]
    with request(mail, is_retry=True) as again:
        assert again == [1]
    with request(mail) as other:
        assert other == []


def test_requests_side_by_side_acknowledge_nothing_of_each_other(mail: Mail, runtime: Runtime) -> None:
    put(runtime, 1)
    with request(mail) as one, request(mail) as other:
        assert one == other == [1]


def test_an_answer_that_was_cut_is_offered_again(mail: Mail, runtime: Runtime) -> None:
    put(runtime, 2)
    with pytest.raises(ConnectionError), request(mail):
        raise ConnectionError
    with request(mail) as again:
        assert again == [1, 2]


def test_with_ack_exactly_that_is_acknowledged(mail: Mail, runtime: Runtime) -> None:
    put(runtime, 3)
    with request(mail) as first:
        assert first == [1, 2, 3]
    with request(mail, ack=2) as rest:
        assert rest == [3]
    with request(mail, ack=99) as none:
        assert none == [], "no more than what was offered"
    put(runtime, 1)
    mail.rung()
    with request(mail, ack=3) as newer:
        assert newer == [4]


def test_what_was_never_offered_cannot_be_acknowledged(mail: Mail, runtime: Runtime) -> None:
    put(runtime, 2)
    with request(mail, ack=2) as told:
        assert told == [1, 2]


def test_after_a_restart_what_was_not_acknowledged_comes_again(mail: Mail, runtime: Runtime) -> None:
    put(runtime, 2)
    with request(mail):
        pass
    with request(Mail(runtime)) as again:
        assert again == [1, 2]
    with request(mail, ack=2):
        pass
    with request(Mail(runtime)) as rest:
        assert rest == []


def test_nothing_is_asked_of_the_database_until_something_rings(mail: Mail, runtime: Runtime) -> None:
    with request(mail) as told:
        assert told == []
    assert mail.is_empty(MINE)
    put(runtime, 1)
    assert mail.is_empty(MINE), "nobody rang yet"
    mail.rung()
    assert not mail.is_empty(MINE)


def test_a_hundred_thousand_unread_ones_cost_no_more_than_a_few(mail: Mail, runtime: Runtime) -> None:
    with runtime.store.write() as tx:
        tx.execute(
            "INSERT INTO arrivals WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 100000)"
            " SELECT :key, n, '2026', 'job', 'job_x', 'completed', '{}' FROM n",
            {"key": MINE},
        )
        conversations.touch(tx, MINE, runtime.now())
        tx.execute("UPDATE conversations SET next_seq = 100001")
    with runtime.store.read() as view:
        steps = 0

        def count() -> int:
            nonlocal steps
            steps += 1
            return 0

        view.set_progress_handler(count, 100)
        found = arrivals.after(view, MINE, 50_000, MOST)
        view.set_progress_handler(None, 0)
    assert [each.seq for each in found] == list(range(50_001, 50_001 + MOST))
    assert steps < 20, "hundreds of steps of SQLite's machine, not hundreds of thousands"
    with request(mail) as told:
        assert told == list(range(1, MOST + 1))


def test_items_that_fit_are_the_first_ones() -> None:
    items = [{"seq": number, "text": "x" * 100} for number in range(5)]
    assert seqs(within(items, 300)) == [0, 1]
    assert within(items, 0) == []
