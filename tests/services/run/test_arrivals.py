"""run.arrivals: what a conversation was told of, as long as it is kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hearth import conversations
from hearth.runtime import Caller, Runtime
from hearth.store import arrivals
from hearth.store import conversations as rows
from hearth.store.arrivals import Kind

Hearth = Callable[..., Any]
NOTES = conversations.named("notes")


@pytest.fixture
def told(runtime: Runtime) -> None:
    """Three arrivals, of which two were acknowledged."""
    with runtime.store.write() as tx:
        for number in range(3):
            summary = {"title": f"job {number}"}
            now = runtime.now()
            arrivals.insert(tx, NOTES, at=now, kind=Kind.JOB, id_=f"job_{number}", state="failed", summary=summary)
        rows.ack(tx, NOTES, 2, runtime.now())


@pytest.mark.usefixtures("told")
def test_what_was_acknowledged_can_be_read_again(runtime: Runtime) -> None:
    mine = runtime.for_call(caller=Caller.MCP, conversation=NOTES)
    assert [each.seq for each in mine.call("run.arrivals").told] == [1, 2, 3]
    page = mine.call("run.arrivals", since=1, limit=1)
    assert (page.state, page.told[0].id, page.next_cursor) == ("partial", "job_1", "2")
    assert page.told[0].summary == {"title": "job 1"}
    assert mine.call("run.arrivals", since=3).told == ()


@pytest.mark.usefixtures("told")
def test_others_read_nothing_of_it(runtime: Runtime) -> None:
    for conversation in (conversations.named("other"), None):
        other = runtime.for_call(caller=Caller.MCP, conversation=conversation)
        assert other.call("run.arrivals").told == ()


@pytest.mark.usefixtures("told")
def test_the_shell_reads_those_of_the_conversation_that_it_names(hearth: Hearth) -> None:
    assert [line["seq"] for line in hearth("run", "arrivals", "--conversation", "notes", "--ndjson").lines[:-1]] == [
        1,
        2,
        3,
    ]
    assert hearth("run", "arrivals", "--conversation", NOTES, "--json").json["told"][0]["id"] == "job_0"
    refused = hearth("run", "arrivals", "--json")
    assert (refused.status, refused.json["error"]["code"]) == (2, "invalid_input")
