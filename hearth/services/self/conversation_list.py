"""conversation list: who called, by fingerprint."""

from __future__ import annotations

from typing import Annotated

from hearth.errors import invalid
from hearth.model import Cli, Ge, Help, Items, Le, Len, State, model
from hearth.runtime import Runtime
from hearth.store import conversations
from hearth.store.conversations import Conversation


@model
class ListConversations:
    limit: Annotated[int, Ge(1), Le(1_000), Cli(names=("-n",)), Help("Most conversations in an answer.")] = 50
    cursor: Annotated[str | None, Len(1, 200), Help("Go on after an earlier answer's `next_cursor`.")] = None


@model
class ConversationEntry:
    """A conversation that left something."""

    conversation: Annotated[str, Help("Its kind and fingerprint, which --conversation takes.")]
    first_at: Annotated[str, Help("When something was stored for it first.")]
    last_at: Annotated[str, Help("When something was stored for it last.")]
    jobs: Annotated[int, Help("Its jobs that have not ended.")]
    futures: Annotated[int, Help("Its calls that were answered pending and have not ended.")]
    arrivals: Annotated[int, Help("How much it was, or is to be, told of.")]
    unread: Annotated[int, Help("How much of that it has not acknowledged.")]


@model
class ConversationList:
    state: Annotated[State, Help("Partial: there are more.")] = State.COMPLETED
    conversations: Annotated[
        tuple[ConversationEntry, ...],
        Items(columns=("conversation", "last_at", "jobs", "futures", "arrivals", "unread")),
        Help("Conversations, the one that was heard of last first."),
    ]
    next_cursor: Annotated[str | None, Help("Where to go on; null at the end.")] = None


def list_conversations(runtime: Runtime, given: ListConversations) -> ConversationList:
    """Those of which something is stored: who only reads leaves nothing. Raises `InvalidInput` for a cursor that is
    none."""
    with runtime.store.read() as view:
        found = conversations.newest_first(view, before=_before(given.cursor), most=given.limit + 1)
    shown = found[: given.limit]
    more = len(found) > given.limit
    return ConversationList(
        state=State.PARTIAL if more else State.COMPLETED,
        conversations=tuple(map(_entry, shown)),
        next_cursor=f"{shown[-1].last_at} {shown[-1].key}" if more else None,
    )


def _before(cursor: str | None) -> tuple[str, str]:
    if cursor is None:
        return "~", ""
    last_at, _, key = cursor.partition(" ")
    if not key:
        raise invalid("cursor", "wrong_form", "is no cursor of an earlier answer")
    return last_at, key


def _entry(found: Conversation) -> ConversationEntry:
    return ConversationEntry(
        conversation=found.key,
        first_at=found.first_at,
        last_at=found.last_at,
        jobs=found.jobs,
        futures=found.futures,
        arrivals=found.next_seq - 1,
        unread=found.next_seq - 1 - found.acked,
    )
