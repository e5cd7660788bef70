"""What all calls of one server share."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from hearth.engine.futures import owner_here
from hearth.errors import Closing
from hearth.mcp import tools
from hearth.mcp.envelope import content_bytes
from hearth.mcp.keeper import Keeper
from hearth.mcp.mail import Mail
from hearth.mcp.pool import Pool
from hearth.mcp.retries import Seen
from hearth.runtime import Caller

if TYPE_CHECKING:
    from hearth.mcp.deliveries import Delivery
    from hearth.mcp.held import Held
    from hearth.mcp.pool import Limits
    from hearth.runtime import Runtime


T = TypeVar("T")


class App:
    """The runtime, the tools, the threads that work, and the calls that are at work now."""

    def __init__(self, runtime: Runtime, *, conversation: str | None = None, limits: Limits | None = None) -> None:
        """`conversation` is whose calls are that name none: the one client's of a server over pipes."""
        settings = runtime.settings
        content = content_bytes(settings.serve.answer_max_bytes, settings.max_output_bytes)
        self.runtime = runtime.for_call(caller=Caller.MCP, settings=replace(settings, max_output_bytes=content))
        self.conversation = conversation
        self.tools = tools.load(settings.serve.tools)
        self.room = settings.serve.answer_max_bytes
        self.owner = owner_here(runtime.host)
        self.pool = Pool(runtime.log, limits)
        self.mail = Mail(self.runtime)
        self.keeper = Keeper(self)
        self.seen = Seen()
        self.keyed: dict[tuple[str, str], Held] = {}  # at work, by conversation and request
        self.futures: dict[str, Held] = {}
        self.deliveries: dict[Any, Delivery] = {}  # over pipes, by the id of the request
        self.closing = False
        self.is_ending = False
        self._held: set[Held] = set()
        self._idle: list[asyncio.Event] = []

    @property
    def held(self) -> int:
        """How many calls are on their way."""
        return len(self._held)

    def begin(self, held: Held) -> None:
        """A call is at work until `ended`. Raises `Closing` once no more begin."""
        if self.closing:
            raise Closing("the server is about to end")
        self.keeper.start()
        self._held.add(held)

    def ended(self, held: Held) -> None:
        self._held.discard(held)
        if held.key is not None and self.keyed.get(held.key[:2]) is held:
            del self.keyed[held.key[:2]]
        if not self._held:
            for waiting in self._idle:
                waiting.set()

    async def aside(self, act: Callable[[], T]) -> T:
        """What `act` returns, or raises, done in a thread for short calls."""
        loop = asyncio.get_running_loop()
        made: asyncio.Future[T] = loop.create_future()

        def work() -> None:
            try:
                done = act()
            except Exception as error:
                loop.call_soon_threadsafe(_refuse, made, error)
            else:
                loop.call_soon_threadsafe(_resolve, made, done)

        self.pool.first(work)
        return await made

    async def idle(self) -> None:
        """Wait until no call is at work."""
        if self._held:
            self._idle.append(asyncio.Event())
            await self._idle[-1].wait()

    def close(self) -> None:
        """Begin nothing more. What is at work goes on until `cancel`."""
        self.closing = True

    def cancel(self) -> None:
        """Take back every call that is at work."""
        self.closing = self.is_ending = True
        for each in tuple(self._held):
            each.end_unstarted()

    def end(self) -> None:
        """Let go of the threads; what they still do is not waited for."""
        self.pool.close()
        self.keeper.close()


def _resolve(made: asyncio.Future[T], done: T) -> None:
    if not made.done():
        made.set_result(done)


def _refuse(made: asyncio.Future[T], error: Exception) -> None:
    if not made.done():
        made.set_exception(error)
