"""A door at which programs of jobs knock: a test waits for them, lets them go on, and sees that they are gone."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager

SECONDS = 20.0


class Door:
    """`knock` is Python code that knocks, and waits until it is let in."""

    def __init__(self, server: socket.socket) -> None:
        self._server = server
        self._visitors: list[Visitor] = []
        port = server.getsockname()[1]
        self.knock = f"import socket; door = socket.create_connection(('127.0.0.1', {port})); door.recv(1)\n"

    def open(self) -> Visitor:
        """The next one that knocks; it waits."""
        found, _ = self._server.accept()
        found.settimeout(SECONDS)
        self._visitors.append(Visitor(found))  # or it would be let in once nobody holds it
        return self._visitors[-1]

    def close(self) -> None:
        for visitor in self._visitors:
            visitor.close()


class Visitor:
    """One process, from its knocking to its end."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def let_in(self) -> None:
        self._connection.sendall(b"!")

    def close(self) -> None:
        self._connection.close()

    def is_gone(self) -> bool:
        """Whether its process has ended, for which it has some time."""
        try:
            with self._connection:
                return self._connection.recv(1) == b""
        except ConnectionResetError:
            return True
        except TimeoutError:
            return False


@contextmanager
def door() -> Iterator[Door]:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(SECONDS)
        made = Door(server)
        try:
            yield made
        finally:
            made.close()
