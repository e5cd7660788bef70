"""conversation list: which conversations left something, by fingerprint."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hearth import conversations
from hearth.runtime import Runtime
from hearth.store import arrivals
from hearth.store import conversations as rows
from hearth.store.arrivals import Kind

Hearth = Callable[..., Any]


def test_conversations_are_listed_with_what_they_have_not_read(hearth: Hearth, runtime: Runtime) -> None:
    first, second = conversations.named("first"), conversations.named("second")
    with runtime.store.write() as tx:
        rows.touch(tx, first, "2026-01-01T00:00:00.000Z")
        for _ in range(3):
            at = "2026-01-02T00:00:00.000Z"
            arrivals.insert(tx, second, at=at, kind=Kind.JOB, id_="job_x", state="completed", summary={})
        rows.ack(tx, second, 1, "2026-01-02T00:00:00.000Z")
    listed = hearth("conversation", "list", "--json").json["conversations"]
    assert [each["conversation"] for each in listed] == [second, first]
    assert (listed[0]["arrivals"], listed[0]["unread"], listed[1]["arrivals"]) == (3, 2, 0)


def test_a_page_goes_on_where_the_last_one_ended(hearth: Hearth, runtime: Runtime) -> None:
    with runtime.store.write() as tx:
        for number in range(3):
            rows.touch(tx, conversations.named(str(number)), "2026-01-01T00:00:00.000Z")
    seen: list[str] = []
    cursor: tuple[str, ...] = ()
    for _ in range(3):
        page = hearth("conversation", "list", "--limit", "1", *cursor, "--json").json
        seen += [each["conversation"] for each in page["conversations"]]
        cursor = ("--cursor", page["next_cursor"] or "")
    assert cursor == ("--cursor", "")
    assert len(set(seen)) == 3


def test_a_cursor_that_is_none_is_refused(hearth: Hearth) -> None:
    assert hearth("conversation", "list", "--cursor", "x").status == 2
