"""run.arrivals: what ended in a conversation, acknowledged or not."""

from __future__ import annotations

import json
from typing import Annotated, Any

from hearth.errors import invalid
from hearth.model import Cli, Ge, Help, Items, Le, State, model
from hearth.runtime import Caller, Runtime
from hearth.store import arrivals
from hearth.store.arrivals import Arrival, Kind

MOST_SEQ = 1 << 53


@model
class ListArrivals:
    since: Annotated[
        int, Ge(0), Le(MOST_SEQ), Help("Only those behind this one: a seq, or an earlier answer's next_cursor.")
    ] = 0
    limit: Annotated[int, Ge(1), Le(1_000), Cli(names=("-n",)), Help("Most arrivals in an answer.")] = 50


@model
class ArrivalEntry:
    """A job or a call that ended."""

    seq: Annotated[int, Help("Its number in the conversation, from 1.")]
    kind: Annotated[Kind, Help("What ended.")]
    id: Annotated[str, Help("The job or the call.")]
    state: Annotated[str, Help("How it ended.")]
    at: Annotated[str, Help("When it ended.")]
    summary: Annotated[dict[str, Any], Help("What came of it; all of it is told by task get.")]


@model
class ArrivalList:
    state: Annotated[State, Help("Partial: there are more.")] = State.COMPLETED
    told: Annotated[
        tuple[ArrivalEntry, ...], Items(columns=("seq", "kind", "id", "state", "at")), Help("The arrivals, in order.")
    ]
    next_cursor: Annotated[str | None, Help("The seq to go on behind; null at the end.")] = None


def list_arrivals(runtime: Runtime, given: ListArrivals) -> ArrivalList:
    """Those that are still kept. Raises `InvalidInput` at a shell that names no conversation."""
    if runtime.conversation is None:
        if runtime.caller is Caller.SHELL:
            hint = "`hearth conversation list` shows their names"
            raise invalid("conversation", "missing", "say which one with --conversation", hint=hint)
        return ArrivalList(told=())
    with runtime.store.read() as view:
        found = arrivals.after(view, runtime.conversation, given.since, given.limit + 1)
    shown = found[: given.limit]
    more = len(found) > given.limit
    return ArrivalList(
        state=State.PARTIAL if more else State.COMPLETED,
        told=tuple(map(_entry, shown)),
        next_cursor=str(shown[-1].seq) if more else None,
    )


def _entry(arrival: Arrival) -> ArrivalEntry:
    return ArrivalEntry(
        seq=arrival.seq,
        kind=arrival.kind,
        id=arrival.id,
        state=arrival.state,
        at=arrival.at,
        summary=json.loads(arrival.summary),
    )
