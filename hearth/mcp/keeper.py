"""The thread that listens for this server: to bells, for arrivals and for futures that are to end; and that stores
again and again what a busy database or a full disk did not take."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from hearth.engine import futures
from hearth.errors import HearthError
from hearth.store import futures as rows

if TYPE_CHECKING:
    from hearth.mcp.app import App
    from hearth.platforms.bells import Bell

AGAIN_S = 1.0
SLOW_LOOK_S = 600.0


class Keeper:
    """Runs from the first call on, until `close`."""

    def __init__(self, app: App) -> None:
        self._app = app
        self._runtime = app.runtime
        self._left: list[Callable[[], None]] = []
        self._thread: threading.Thread | None = None
        self._closed = False

    def start(self) -> None:
        """Begin to listen; what is called from now on is heard of. What dead servers left is blocked."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="keeper", daemon=True)
            self._thread.start()

    def keep(self, store: Callable[[], None]) -> None:
        """Store something, at once or as soon as it can be."""
        try:
            store()
        except HearthError as error:
            self._runtime.log.warning(f"an answer is stored later: {error.message}")
            self._left.append(store)
            self.wake()

    def wake(self) -> None:
        self._runtime.host.ring(self._runtime.bells)

    def close(self) -> None:
        """Stop listening, and store what is left, if that can be done now."""
        self._closed = True
        if self._thread is not None:
            self.wake()
            self._thread.join(AGAIN_S)
        self._store_left()

    def _run(self) -> None:
        bell = self._runtime.host.make_bell(self._runtime.bells)
        try:
            self._safely(lambda: futures.recover(self._runtime))
            while not self._closed:
                bell.clear()
                self._app.mail.rung()
                self._safely(self._look)
                self._wait(bell)
        finally:
            bell.close()

    def _wait(self, bell: Bell) -> None:
        try:
            self._runtime.host.wait_any([bell.waitable], AGAIN_S if self._left else SLOW_LOOK_S)
        except OSError:
            time.sleep(AGAIN_S)

    def _look(self) -> None:
        self._store_left()
        if self._app.futures:
            with self._runtime.store.read() as view:
                to_end = rows.to_end(view, self._app.owner)
            for id_ in to_end:
                if (held := self._app.futures.get(id_)) is not None:
                    held.end_unstarted()

    def _store_left(self) -> None:
        left, self._left = self._left, []
        for place, store in enumerate(left):
            try:
                store()
            except HearthError:
                self._left += left[place:]
                return

    def _safely(self, act: Callable[[], object]) -> None:
        try:
            act()
        except Exception as error:
            self._runtime.log.warning(f"the server's keeper: {error!r}")
