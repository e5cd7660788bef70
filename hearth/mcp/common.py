"""What every call over MCP may say beside its operation's own input."""

from __future__ import annotations

from typing import Annotated

from hearth.model import Ge, Help, Le, Len, model

MAX_WAIT_MS = 45_000


@model
class Common:
    detach: Annotated[bool, Help("Answer at once; the result arrives later.")] = False
    wait_ms: Annotated[int | None, Ge(0), Le(MAX_WAIT_MS), Help("How long to wait before answering pending.")] = None
    conversation: Annotated[str | None, Len(1, 4_096), Help("The handle of an earlier answer.")] = None
    run: Annotated[str | None, Len(1, 200), Help("The run that this belongs to.")] = None
    ack: Annotated[int | None, Ge(0), Help("The last arrival received.")] = None
    approval_id: Annotated[str | None, Len(1, 64), Help("What a blocked answer named.")] = None
