"""Streamable HTTP on this machine's own addresses: sockets, the loop, and how it ends.

uvicorn's protocol does the HTTP; its server, which wakes ten times a second, does not come into it.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any

from hearth.errors import NotLoopback, PortTaken, SystemRefused
from hearth.mcp.connections import Connection, Limits
from hearth.mcp.deliveries import told
from hearth.mcp.guard import NAMES, PATH, Asgi, Bounds, Guard

if TYPE_CHECKING:
    from mcp.server.lowlevel.server import Server

    from hearth.cancellation import Cancellation
    from hearth.mcp.app import App

BACKLOG = 1_024
LAST_WORDS_S = 0.5  # for what was cancelled to tell so
CALLS_DESCRIPTORS = 512  # for the database, and for what calls open
SCARCE_SHARE = 8  # of few descriptors connections get one in eight


class Listening:
    """The sockets of a server, bound and not yet served."""

    def __init__(self, sockets: list[socket.socket]) -> None:
        self.sockets = sockets
        self.port: int = sockets[0].getsockname()[1]

    @property
    def url(self) -> str:
        address = self.sockets[0].getsockname()[0]
        return f"http://{f'[{address}]' if ':' in address else address}:{self.port}{PATH}"

    def close(self) -> None:
        for each in self.sockets:
            each.close()


def listen(app: App, host: str, port: int) -> Listening:
    """Take the port. Raises `NotLoopback`, `PortTaken`, `SystemRefused`."""
    address = loopback(host)
    try:
        first = _bound(address, port)
    except OSError as error:
        raise _refused(app, error, address, port) from error
    sockets = [first]
    if host in ("localhost", "127.0.0.1") and socket.has_ipv6:
        # For clients to whom localhost means ::1; without it they find nobody, which is no harm.
        with contextlib.suppress(OSError):
            sockets.append(_bound("::1", first.getsockname()[1]))
    return Listening(sockets)


def loopback(host: str) -> str:
    """The address that a name of this machine means. Raises `NotLoopback`."""
    import ipaddress

    if host.lower() == "localhost":
        return "127.0.0.1"
    try:
        if ipaddress.ip_address(host.strip("[]")).is_loopback:
            return host.strip("[]")
    except ValueError:
        pass
    raise NotLoopback(f"{host} is not an address of this machine alone", host=host)


def _bound(address: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        exclusive = getattr(socket, "SO_EXCLUSIVEADDRUSE", None)
        # On Windows SO_REUSEADDR would let two servers share a port.
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR if exclusive is None else exclusive, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind((address, port))
        made.listen(BACKLOG)
        made.setblocking(False)
    except BaseException:
        made.close()
        raise
    return made


def _refused(app: App, error: OSError, address: str, port: int) -> Exception:
    import errno

    # Windows says EACCES where another program holds the port for itself.
    if error.errno not in (errno.EADDRINUSE, errno.EACCES) or (error.errno == errno.EACCES and port < 1024):
        return SystemRefused(f"{address}:{port} cannot be listened on: {error.strerror}", errno=error.errno)
    holder = _holder(app, port)
    named = f" by {holder['name']} (process {holder['pid']})" if holder else ""
    return PortTaken(f"port {port} is taken{named}", port=port, holder=holder)


def _holder(app: App, port: int) -> dict[str, Any] | None:
    """Who listens on the port, as far as the system tells."""
    table = app.runtime.host.process_table()
    try:
        owners = table.ports()
        pid = next(
            pid for pid, ports in owners.items() if any(each.port == port and each.state == "listen" for each in ports)
        )
        return {"pid": pid, "name": next(iter(table.processes((pid,), commands=False))).name}
    except (OSError, StopIteration):
        return None


def serve(app: App, server: Server[Any], listening: Listening, stop: Cancellation, ready: Callable[[], None]) -> None:
    """Serve until `stop` is set, then let what is held end, for `serve.shutdown_grace_s` at most."""
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(_serve(app, server, listening, stop, ready))


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """The quickest loop that there is; None for asyncio's own."""
    try:
        import uvloop
    except ImportError:  # there is none for Windows
        return None
    factory: Callable[[], asyncio.AbstractEventLoop] = uvloop.new_event_loop
    return factory


async def _serve(
    app: App, server: Server[Any], listening: Listening, stop: Cancellation, ready: Callable[[], None]
) -> None:
    async with protocol(server, app) as inner:
        guard = guarded(app, inner, listening.port)
        loop = asyncio.get_running_loop()
        stopped = asyncio.Event()
        with stop.calls(lambda: loop.call_soon_threadsafe(stopped.set)):
            connections = await _accept(app, guard, listening)
            ready()
            await stopped.wait()
        await connections.end(app)


def guarded(app: App, inner: Asgi, port: int) -> Guard:
    """The guard that the settings describe, around an app."""
    settings = app.runtime.settings.serve
    address = loopback(settings.host)
    name = f"[{address}]" if ":" in address else address
    return Guard(
        inner,
        port=port,
        names=dict.fromkeys((*NAMES, name)),
        origins=settings.origins,
        bounds=Bounds(settings.max_body_bytes, settings.request_timeout_s),
        is_ready=lambda: not app.closing,
    )


@contextlib.asynccontextmanager
async def protocol(server: Server[Any], app: App) -> AsyncIterator[Asgi]:
    """What speaks the protocol, as an ASGI app; both eras, without sessions."""
    from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

    from hearth.mcp.lane import HttpLane, Lane

    manager = StreamableHTTPSessionManager(
        server, stateless=True, max_request_body_size=app.runtime.settings.serve.max_body_bytes
    )
    async with manager.run():
        if app.runtime.settings.serve.lane:
            yield told(HttpLane(Lane(app), manager.handle_request))
        else:
            yield told(manager.handle_request)


class _Connections:
    """The listeners and what came through them."""

    def __init__(self, listeners: list[asyncio.Server], state: Any) -> None:
        self._listeners = listeners
        self._state = state

    async def end(self, app: App) -> None:
        """Accept nothing more; wait for what is held, then take it back."""
        app.close()
        for listener in self._listeners:
            listener.close()
        for each in tuple(self._state.connections):
            each.shutdown()
        await self._until_idle(app, app.runtime.settings.serve.shutdown_grace_s)
        app.cancel()
        await self._until_idle(app, LAST_WORDS_S)
        for task in tuple(self._state.tasks):
            task.cancel()
        for each in tuple(self._state.connections):
            each.transport.abort()

    async def _until_idle(self, app: App, seconds: float) -> None:
        """Until no request is answered any more, and no call that was answered pending is at work."""
        idle = asyncio.ensure_future(app.idle())
        await asyncio.wait((*self._state.tasks, idle), timeout=seconds, return_when=asyncio.ALL_COMPLETED)
        idle.cancel()


async def _accept(app: App, guard: Guard, listening: Listening) -> _Connections:
    from uvicorn.config import Config
    from uvicorn.server import ServerState

    config = Config(
        guard,
        lifespan="off",
        ws="none",
        interface="asgi3",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
    )
    config.load()
    state, limits = ServerState(), _limits(app)
    loop = asyncio.get_running_loop()
    return _Connections(
        [
            await loop.create_server(lambda: Connection(limits, config, state), sock=each, backlog=BACKLOG)
            for each in listening.sockets
        ],
        state,
    )


def _limits(app: App) -> Limits:
    settings = app.runtime.settings.serve
    handles = app.runtime.host.most_descriptors(settings.max_connections + CALLS_DESCRIPTORS)
    most = settings.max_connections
    if handles is not None:
        most = min(most, max(handles - CALLS_DESCRIPTORS, handles // SCARCE_SHARE))
    return Limits(connections=most, head_seconds=settings.request_timeout_s)
