"""What all calls of one server share."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from hearth.cancellation import Cancellation
from hearth.errors import Closing
from hearth.mcp import tools
from hearth.mcp.envelope import content_bytes
from hearth.runtime import Caller

if TYPE_CHECKING:
    from hearth.runtime import Runtime

THREADS = 32


class App:
    """The runtime, the tools, the threads that work, and the calls that are held now."""

    def __init__(self, runtime: Runtime) -> None:
        settings = runtime.settings
        content = content_bytes(settings.serve.answer_max_bytes, settings.max_output_bytes)
        self.runtime = runtime.for_call(caller=Caller.MCP, settings=replace(settings, max_output_bytes=content))
        self.tools = tools.load(settings.serve.tools)
        self.room = settings.serve.answer_max_bytes
        self.pool = ThreadPoolExecutor(THREADS, "call")
        self.closing = False
        self._held: set[Cancellation] = set()
        self._idle: list[asyncio.Event] = []

    @property
    def held(self) -> int:
        """How many calls are on their way."""
        return len(self._held)

    @contextmanager
    def call(self) -> Iterator[Cancellation]:
        """While the block runs, there is a call that can be taken back. Raises `Closing` once no more begin."""
        if self.closing:
            raise Closing("the server is about to end")
        cancelled = Cancellation()
        self._held.add(cancelled)
        try:
            yield cancelled
        finally:
            self._held.discard(cancelled)
            if not self._held:
                for waiting in self._idle:
                    waiting.set()

    async def idle(self) -> None:
        """Wait until no call is held."""
        if self._held:
            self._idle.append(asyncio.Event())
            await self._idle[-1].wait()

    def close(self) -> None:
        """Begin nothing more. What is held goes on until `cancel`."""
        self.closing = True

    def cancel(self) -> None:
        """Take back every call that is held."""
        for each in tuple(self._held):
            each.set()
        self.pool.shutdown(wait=False, cancel_futures=True)
