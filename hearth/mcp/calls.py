"""A call from its arguments to its reply."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hearth import dispatch
from hearth.errors import HearthError
from hearth.mcp import envelope
from hearth.mcp.arguments import Call, call_of
from hearth.mcp.envelope import Reply
from hearth.mcp.progress import Progress

if TYPE_CHECKING:
    from hearth.mcp.app import App
    from hearth.mcp.progress import Report
    from hearth.mcp.tools import Tool
    from hearth.runtime import Runtime


@dataclass(frozen=True, slots=True)
class Context:
    """What is known of a request beside its arguments: `_meta`, the HTTP headers in lower case (none over stdio), and
    how to tell how far the work is, where the client wants to know."""

    meta: Mapping[str, Any]
    headers: Mapping[str, str]
    report: Report | None = None


async def answer(app: App, tool: Tool, arguments: Any, context: Context) -> Reply:
    """The reply; only being cancelled raises, which takes back the call."""
    try:
        call = call_of(tool, arguments)
        with app.call() as cancelled, Progress(context.report) as progress:
            runtime = app.runtime.for_call(cancelled=cancelled, progress=progress.note, group=call.common.run)
            loop = asyncio.get_running_loop()
            try:
                return await loop.run_in_executor(app.pool, _work, app, runtime, call)
            except asyncio.CancelledError:
                cancelled.set()
                raise
    except HearthError as error:
        return envelope.failure(error)
    except Exception as error:
        from hearth.crash import internal

        return envelope.failure(internal(app.runtime.data_dir, error))


def _work(app: App, runtime: Runtime, call: Call) -> Reply:
    made = dispatch.call_json(runtime, call.operation, call.value)
    return envelope.reply(runtime, made, call.value, app.room)
