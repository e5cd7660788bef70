"""What an operation is handed: the host, the settings, the store, the clock, and who is calling."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any, BinaryIO, ClassVar

from hearth.cancellation import Cancellation
from hearth.clock import Clock, timestamp
from hearth.containment import Containment, Root
from hearth.errors import NotFound
from hearth.logs import Log
from hearth.platforms.base import Host
from hearth.settings import Settings

if TYPE_CHECKING:
    from hearth.answers import Answer
    from hearth.configuration.load import Configuration
    from hearth.platforms.detached import Detacher
    from hearth.platforms.processes import Launcher, Stream
    from hearth.store.blobs import Blobs
    from hearth.store.database import Store


class Caller(StrEnum):
    """Which edge a call came through."""

    SHELL = "shell"
    BATCH = "batch"
    MCP = "mcp"
    RECIPE = "recipe"


class StoreOpener:
    """Opens one store for all copies of a runtime, whichever thread needs it first."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._store: Store | None = None
        self._kept: dict[str, Any] = {}

    def get(self, runtime: Runtime, *, wait_ms: int | None = None) -> Store:
        """The store. One that nobody opened yet may be busy for the usual time, or for `wait_ms`."""
        with self._lock:
            if self._store is None:
                from hearth.store.database import BUSY_TIMEOUT_MS, open_store

                if runtime.config is not None and not os.path.isdir(runtime.data_dir):
                    from hearth.configuration.load import note_new_data_directory

                    note_new_data_directory(runtime.config)
                wait_ms = BUSY_TIMEOUT_MS if wait_ms is None else wait_ms
                self._store = open_store(runtime.host, runtime.data_dir, runtime.clock, runtime.notice, wait_ms=wait_ms)
            return self._store

    def keep(self, name: str, make: Callable[[], Any]) -> Any:
        """Something that a service makes once for all calls of this process; its `close` is called at the end."""
        with self._lock:
            if name not in self._kept:
                self._kept[name] = make()
            return self._kept[name]

    def close(self) -> None:
        with self._lock:
            store, self._store = self._store, None
            kept, self._kept = self._kept, {}
        for each in kept.values():
            each.close()
        if store is not None:
            store.close()


@dataclass
class Runtime:
    """One process's view of its host; `for_call` gives a call its own caller and cancellation."""

    # `dispatch.call_json`, which puts itself here.
    door: ClassVar[Callable[[Runtime, str, Any], Answer]]

    host: Host
    settings: Settings
    data_dir: str
    roots: tuple[Root, ...]
    base: str  # where relative paths start
    caller: Caller = Caller.SHELL
    via: Caller | None = None  # what the caller's call is a part of, such as a recipe, where events are to say so
    clock: Clock = field(default_factory=Clock)
    group: str | None = None  # the change set that mutations belong to
    conversation: str | None = None
    cancelled: Cancellation = field(default_factory=Cancellation)
    stdin: BinaryIO | None = None  # only where the caller's standard input is the operation's
    notice: Callable[[str], None] = lambda text: print(text, file=sys.stderr)  # noqa: T201
    # Where a program's outputs go as they come, instead of into the answer; only at a shell.
    live: Callable[[Stream, bytes], None] | None = None
    progress: Callable[[str], None] = lambda _: None  # how far long work is: "12,000 files"
    log: Log = field(default_factory=Log)
    changed: Callable[[str], None] = lambda _: None  # told the receipt of each change of files, once it is stored
    # Over MCP: how long the caller is ready to wait for all of several calls; 0: not at all.
    hold_s: float | None = None
    config: Configuration | None = None  # how the settings came about
    opener: StoreOpener = field(default_factory=StoreOpener)

    @cached_property
    def containment(self) -> Containment:
        # The user's own settings say what the roots are, so they must not be reachable through a root.
        settings = os.path.join(self.host.user_config_directory(), "hearth")
        return Containment(self.host, self.roots, base=self.base, private=(self.data_dir, settings))

    @property
    def store(self) -> Store:
        """The database, opened when it is first needed. Raises `DatabaseError`."""
        return self.opener.get(self)

    @property
    def blobs(self) -> Blobs:
        """The content-addressed bodies of the data directory."""
        from hearth.store.blobs import Blobs

        return Blobs(self.host, self.data_dir)

    @property
    def launcher(self) -> Launcher:
        """What starts programs; one for this process, whose programs end with it."""
        made: Launcher = self.opener.keep("launcher", self.host.make_launcher)
        return made

    @property
    def detacher(self) -> Detacher:
        """What starts programs of jobs, which outlive this process; one for this process."""
        made: Detacher = self.opener.keep("detacher", self.host.make_detacher)
        return made

    @property
    def bells(self) -> str:
        """The folder in which whoever changes the jobs rings."""
        return os.path.join(self.data_dir, "bells")

    def for_call(self, **changes: Any) -> Runtime:
        """The same host, settings and store, for a call with a caller, cancellation or standard input of its own."""
        return replace(self, **changes)

    def call(self, dotted: str, **values: Any) -> Any:
        """Run another family's `family.operation` as a part of this call, without an event of its own. Raises
        what it raises, and `InvalidInput` for values that it does not take."""
        from hearth import bounds, catalog
        from hearth.operation import types_of

        family, row = catalog.find(dotted)
        function = family.load(row.target)
        return function(self, bounds.build(types_of(function)[0], values))

    def through_door(self, dotted: str, value: Any) -> Answer:
        """Make a call of its own, as a part of this one: checked, decided on and recorded like every other."""
        return type(self).door(self, dotted, value)

    def now(self) -> str:
        return timestamp(self.clock.now_ms())

    def close(self) -> None:
        self.opener.close()


def current_directory() -> str:
    """Where the shell stands; as the user spells it when the system still agrees. Raises `NotFound`."""
    try:
        return os.getcwd()
    except FileNotFoundError:
        raise NotFound("the current directory no longer exists") from None


def environment() -> Mapping[str, str]:
    """The environment that this process was started with."""
    return os.environ
