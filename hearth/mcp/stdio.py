"""The protocol over standard input and output, for a host that starts hearth itself.

The real streams are moved away first: what else prints goes to standard error, and programs find nothing to read. The
loop reads a pipe itself; anything else a thread reads, so that a signal need not wait for a line that never comes.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import select
import stat
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from hearth.mcp.deliveries import Delivery
from hearth.mcp.http import loop_factory
from hearth.mcp.lane import MAX_BODY, Lane, Taken

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.server.lowlevel.server import Server

    from hearth.cancellation import Cancellation
    from hearth.mcp.app import App

    Incoming = MemoryObjectSendStream[SessionMessage | Exception]

WINDOW = 64  # lines that may wait to be handled
LAST_S = 2.5
MAX_LINE_BYTES = 64 * 1024 * 1024


@contextlib.contextmanager
def own_streams() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """The real standard input and output, which nobody else has while the block runs."""
    kept = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    # Never closed: the thread that reads may still wait on it when the process ends.
    source, target = os.fdopen(kept[0], "rb", closefd=False), os.fdopen(kept[1], "wb", closefd=False)
    try:
        yield source, target
    finally:
        with contextlib.suppress(OSError):
            target.flush()
        os.dup2(kept[1], 1)


def serve(app: App, server: Server[Any], stop: Cancellation, alone: Callable[[], None]) -> None:
    """Serve until standard input ends, which `alone` is told, or until `stop` is set; what is held then gets
    `serve.shutdown_grace_s`."""
    with own_streams() as (source, target), asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(_serve(app, server, stop, alone, source, target))


async def _serve(
    app: App, server: Server[Any], stop: Cancellation, alone: Callable[[], None], source: BinaryIO, target: BinaryIO
) -> None:
    loop = asyncio.get_running_loop()
    stopped = asyncio.Event()
    incoming, read = anyio.create_memory_object_stream[SessionMessage | Exception](WINDOW)
    write, outgoing = anyio.create_memory_object_stream[SessionMessage](0)
    pipe = _Pipe(target)
    lane = _PipeLane(Lane(app), pipe) if app.runtime.settings.serve.lane else None
    owed = _Owed()
    tasks = [
        asyncio.ensure_future(server.run(read, write, server.create_initialization_options())),
        asyncio.ensure_future(_write(app, outgoing, pipe, owed)),
        asyncio.ensure_future(_read(source, _Inbox(lane, incoming, owed), stopped)),
    ]
    with stop.calls(lambda: loop.call_soon_threadsafe(stopped.set)):
        await stopped.wait()
    if not stop.is_set() and pipe.has_reader():
        await _answer_the_last(app, owed)
    app.close()
    if stop.is_set():
        await _until_idle(app)
    else:
        alone()  # nobody is left to be answered
    app.cancel()
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks, timeout=1)


async def _read(source: BinaryIO, inbox: _Inbox, stopped: asyncio.Event) -> None:
    """Take in line after line until there are no more."""
    try:
        if is_pipe(source):
            await _read_pipe(source, inbox)
        else:
            await _read_beside(source, inbox)
    finally:
        stopped.set()


def is_pipe(source: BinaryIO) -> bool:
    """Whether the loop can wait for it. What is shared with others, such as a terminal, is not made to not block."""
    kind = os.fstat(source.fileno()).st_mode
    return os.name != "nt" and (stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind)) and not _same(source.fileno(), 1)


def _same(one: int, other: int) -> bool:
    return os.path.samestat(os.fstat(one), os.fstat(other))


async def _read_pipe(source: BinaryIO, inbox: _Inbox) -> None:
    reader = asyncio.StreamReader(MAX_LINE_BYTES)
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), source)
    try:
        while line := await reader.readline():
            await inbox.take(line)
    except (OSError, ValueError):
        """A line without an end: there is no next one to go on with."""
    finally:
        transport.close()


async def _read_beside(source: BinaryIO, inbox: _Inbox) -> None:
    loop = asyncio.get_running_loop()
    over = asyncio.Event()

    def read() -> None:
        with contextlib.suppress(OSError, ValueError, RuntimeError):  # such as a loop that has ended
            while line := source.readline(MAX_LINE_BYTES):
                # Waited for, so that no more is read than is handled.
                asyncio.run_coroutine_threadsafe(inbox.take(line), loop).result()
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(over.set)

    threading.Thread(target=read, name="stdin", daemon=True).start()
    await over.wait()


class _Owed:
    """The requests that the SDK has not answered."""

    def __init__(self) -> None:
        self._ids: set[Any] = set()
        self.nothing = asyncio.Event()
        self.nothing.set()

    def add(self, message: SessionMessage | Exception) -> None:
        if (
            isinstance(message, SessionMessage)
            and hasattr(message.message, "id")
            and hasattr(message.message, "method")
        ):
            self._ids.add(message.message.id)
            self.nothing.clear()

    def discard(self, id_: Any) -> None:
        self._ids.discard(id_)
        if not self._ids:
            self.nothing.set()


class _Inbox:
    """Gives each line to the lane, or to the SDK."""

    def __init__(self, lane: _PipeLane | None, incoming: Incoming, owed: _Owed) -> None:
        self._lane = lane
        self._incoming = incoming
        self._owed = owed

    async def take(self, line: bytes) -> None:
        if self._lane is None or not await self._lane.takes(line):
            message = _message(line)
            self._owed.add(message)
            await self._incoming.send(message)


def _message(line: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except Exception as error:
        return error  # which the SDK answers


async def _write(app: App, outgoing: MemoryObjectReceiveStream[SessionMessage], pipe: _Pipe, owed: _Owed) -> None:
    async for message in outgoing:
        written = pipe.write(message.message.model_dump_json(by_alias=True, exclude_unset=True))
        delivery = app.deliveries.pop(getattr(message.message, "id", None), None)
        if delivery is not None and written:
            delivery.written()
        if not hasattr(message.message, "method"):
            owed.discard(getattr(message.message, "id", None))


class _Pipe:
    """Standard output, whose reader may go away."""

    def __init__(self, target: BinaryIO) -> None:
        self._target = target

    def has_reader(self) -> bool:
        """Whether somebody could still read; where the system does not tell, as if."""
        if not hasattr(select, "poll"):
            return True
        poll = select.poll()
        poll.register(self._target, 0)  # errors and hang-ups are told in any case
        return not poll.poll(0)

    def write(self, text: str) -> bool:
        """Whether the reader was there."""
        try:
            self._target.write(text.encode() + b"\n")
            self._target.flush()
        except OSError:
            return False
        return True


class _PipeLane:
    """The short way over pipes. What it holds can be cancelled as what the SDK holds."""

    def __init__(self, lane: Lane, pipe: _Pipe) -> None:
        self._lane = lane
        self._pipe = pipe
        self._settled = False
        self._room = asyncio.Semaphore(WINDOW)
        self._held: dict[int | str, asyncio.Task[None]] = {}

    async def takes(self, line: bytes) -> bool:
        """Begin to answer a line, or to cancel what it names; false where it is not the lane's."""
        try:
            message = json.loads(line) if len(line) <= MAX_BODY else None
        except (ValueError, RecursionError):
            return False
        if not self._settled:
            # The first request says which era the connection is of, and the SDK must know.
            self._settled = isinstance(message, dict) and "id" in message
            return False
        if (named := _cancelled(message)) is not None and named in self._held:
            self._held[named].cancel()
            return True
        taken = self._lane.take(message)
        if taken is None or taken.id in self._held:
            return False
        await self._room.acquire()
        self._held[taken.id] = asyncio.ensure_future(self._answer(taken))
        return True

    async def _answer(self, taken: Taken) -> None:
        try:
            delivery = Delivery()
            if self._pipe.write(await self._lane.answer(taken, {}, delivery)):
                delivery.written()
        finally:
            del self._held[taken.id]
            self._room.release()


def _cancelled(message: Any) -> int | str | None:
    """The request that a notification cancels."""
    if not isinstance(message, dict) or message.get("method") != "notifications/cancelled":
        return None
    params = message.get("params")
    named = params.get("requestId") if isinstance(params, dict) else None
    return named if isinstance(named, (int, str)) else None


async def _answer_the_last(app: App, owed: _Owed) -> None:
    """Behind the end of input, as that of a file of requests, answers still go out, if they come soon."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(LAST_S):
            await owed.nothing.wait()
            await app.idle()


async def _until_idle(app: App) -> None:
    """Until no call is held, or the grace is over."""
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(app.runtime.settings.serve.shutdown_grace_s):
            await app.idle()
