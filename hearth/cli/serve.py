"""`hearth serve`: the process around the server: its settings, its worker, its signals and its end."""

from __future__ import annotations

import contextlib
import gc
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

from hearth.cancellation import Cancellation
from hearth.cli import interrupts, render
from hearth.cli.invoke import open_runtime
from hearth.cli.options import Globals
from hearth.errors import HearthError, invalid
from hearth.model import Ge, Help, Le, Len, model
from hearth.runtime import Caller, Runtime
from hearth.settings import ServeTools

if TYPE_CHECKING:
    from hearth.mcp.app import App

EXIT_S = 1.5  # behind the grace: for what hangs, then the process ends whatever hangs
WORKER_S = 1.0


@model
class Serve:
    port: Annotated[int | None, Ge(0), Le(65_535), Help("The port to listen on; 0: any. By default serve.port.")] = None
    host: Annotated[
        str | None, Len(1, 64), Help("The address of this machine to listen on. By default serve.host.")
    ] = None
    stdio: Annotated[bool, Help("Serve the one client that started this process, over its pipes.")] = False
    tools: Annotated[
        ServeTools | None, Help("With split there are also tools that only read, for hosts that ask before the others.")
    ] = None
    worker: Annotated[bool, Help("Look after jobs as well.")] = True


def serve(options: Globals, given: Serve) -> int:
    """Serve until a signal comes, or over pipes until they are closed; the exit status. Raises `NotLoopback`,
    `PortTaken`, `InvalidInput`, `SettingError`."""
    if given.stdio and given.port is not None:
        raise invalid("port", "not_both", "with --stdio there is no port")
    runtime = _configured(open_runtime(options, Caller.MCP), given)
    with contextlib.closing(runtime), interrupts.passed_on(runtime.cancelled) as heard:
        grace = runtime.settings.serve.shutdown_grace_s
        with runtime.cancelled.calls(lambda: _end_anyway(runtime, heard, grace + EXIT_S)):
            _run(options, runtime, given, lambda: _end_anyway(runtime, heard, EXIT_S))
        return heard.exit_status or 0


def _configured(runtime: Runtime, given: Serve) -> Runtime:
    changes = {name: value for name in ("port", "host", "tools") if (value := getattr(given, name)) is not None}
    settings = replace(runtime.settings, serve=replace(runtime.settings.serve, **changes))
    return runtime.for_call(settings=settings)


def _run(options: Globals, runtime: Runtime, given: Serve, alone: Callable[[], None]) -> None:
    from hearth.mcp import noise
    from hearth.mcp.app import App

    noise.send_to(runtime.log)
    app = App(runtime, conversation=_own_conversation() if given.stdio else None)
    with contextlib.ExitStack() as stack:
        stack.callback(app.end)
        if given.worker:
            stack.enter_context(_worker(runtime))
        if given.stdio:
            _serve_stdio(app, runtime, alone)
        else:
            _serve_http(options, app, runtime)


def _own_conversation() -> str:
    """That of the one client, which has this process for itself."""
    from hearth import conversations

    return conversations.fingerprint(conversations.Kind.STDIO, os.urandom(16).hex())


def _serve_stdio(app: App, runtime: Runtime, alone: Callable[[], None]) -> None:
    from hearth.mcp import server, stdio

    _settle()
    app.keeper.start()
    stdio.serve(app, server.build(app), runtime.cancelled, alone)


def _serve_http(options: Globals, app: App, runtime: Runtime) -> None:
    from hearth.mcp import http

    settings = runtime.settings.serve
    # Before the protocol is loaded, which takes most of the start: who connects early waits instead of failing.
    with contextlib.closing(http.listen(app, settings.host, settings.port)) as listening:
        from hearth.mcp import server

        made = server.build(app)

        def ready() -> None:
            _settle()
            _tell_ready(options, listening.url)
            app.keeper.start()

        http.serve(app, made, listening, runtime.cancelled, ready)


def _settle() -> None:
    """What is loaded by now stays, so it need not be looked through again and again."""
    gc.collect()
    gc.freeze()


def _tell_ready(options: Globals, url: str) -> None:
    from hearth import __version__

    if options.output.quiet:
        return
    if options.output.machine_readable:
        render.write_line(render.to_json({"event": "ready", "url": url, "pid": os.getpid(), "version": __version__}))
    else:
        render.write_line(f"hearth {__version__} serves {url} (Ctrl-C ends it)")


@contextlib.contextmanager
def _worker(runtime: Runtime) -> Iterator[None]:
    """A worker in a thread of its own; what runs when it ends goes to another one."""
    from hearth.engine import presence
    from hearth.engine.leases import Kind
    from hearth.engine.worker import Worker

    stop = Cancellation()
    worker = Worker(runtime.for_call(cancelled=stop), Kind.SERVER)

    def hand_over() -> bool:
        with contextlib.suppress(HearthError, OSError):
            return presence.hand_over(runtime)
        return False

    def work() -> None:
        try:
            worker.run(stop, hand_over=hand_over)
        except HearthError as error:  # its database was taken away, which calls are told, too
            runtime.log.warning(f"the server looks after no jobs any more: {error.message}")

    thread = threading.Thread(target=work, name="worker", daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join(WORKER_S)


def _end_anyway(runtime: Runtime, heard: interrupts.Heard, seconds: float) -> None:
    """End the process after that time, if it has not ended by then."""

    def end() -> None:
        time.sleep(seconds)
        runtime.log.warning("the server did not end in time and was ended")
        os._exit(heard.exit_status or 0)

    threading.Thread(target=end, name="deadline", daemon=True).start()
