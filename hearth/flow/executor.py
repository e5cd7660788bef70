"""Works through a graph: a node begins when what it waits for has ended as it was to."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from enum import Enum
from typing import Protocol

from hearth.errors import HearthError
from hearth.flow.crew import Crew, Foreground
from hearth.flow.graph import Edge, Graph, On


class Verdict(Enum):
    """What the end of a node means to those that wait for it."""

    SUCCESS = "success"
    FAILURE = "failure"


class Work(Protocol):
    """What the nodes are. Called from any thread, for a node once; what raises is a bug."""

    def perform(self, position: int) -> Verdict:
        """Do it."""

    def skip(self, position: int, unmet: Edge | None) -> Verdict:
        """It does not begin: an edge is `unmet`, or without one the flow was taken back."""

    def refuse(self, position: int, error: HearthError) -> Verdict:
        """It cannot begin: there is no thread for it."""

    def is_short(self, position: int) -> bool:
        """Whether it never waits for anything."""

    def finished(self) -> None:
        """All nodes have ended."""


class Executor:
    """One flow. It has no thread of its own: whoever ends a node submits those that may begin then."""

    def __init__(
        self, graph: Graph, work: Work, crew: Crew, *, limit: int, always: frozenset[int] = frozenset()
    ) -> None:
        """`limit`: most nodes at once. `always`: nodes that begin although the flow was taken back."""
        self._graph = graph
        self._work = work
        self._crew = crew
        self._limit = limit
        self._always = always
        self._lock = threading.Lock()
        self._verdicts: dict[int, Verdict] = {}
        self._waiting = set(range(len(graph)))  # neither ready nor skipped yet
        self._ready: deque[int] = deque()
        self._running = 0
        self._cancelled = False
        self._over = False
        self._dependents: list[list[int]] = [[] for _ in graph]
        for position, edges in enumerate(graph):
            for edge in edges:
                self._dependents[edge.position].append(position)

    def start(self) -> None:
        """Submit what waits for nothing."""
        self._go_on(range(len(self._graph)))

    def cancel(self) -> None:
        """Begin nothing more but what always is. What runs is ended by whoever takes it back."""
        with self._lock:
            self._cancelled = True
            self._waiting.update(self._ready)  # so that they are looked at once more
            self._ready.clear()
        self._go_on(range(len(self._graph)))

    def _go_on(self, candidates: range | list[int]) -> None:
        """Begin and skip what can be, and what can be then, and so on."""
        looked_at = deque(candidates)
        while True:
            with self._lock:
                skipped: list[tuple[int, Edge | None]] = []
                while looked_at:
                    self._look_at(looked_at.popleft(), skipped)
                begin = self._take()
            ended = [(position, self._work.skip(position, unmet)) for position, unmet in skipped]
            ended += [(position, verdict) for position in begin if (verdict := self._submit(position)) is not None]
            if not ended:
                break
            for position, verdict in ended:
                looked_at.extend(self._settled(position, verdict))
        if self._is_over():
            self._work.finished()

    def _look_at(self, position: int, skipped: list[tuple[int, Edge | None]]) -> None:
        if position not in self._waiting:
            return
        is_always = position in self._always
        if self._cancelled and not is_always:
            self._waiting.discard(position)
            skipped.append((position, None))
            return
        edges = self._graph[position]
        unmet = next((edge for edge in edges if self._is_unmet(edge)), None)
        if unmet is not None:
            self._waiting.discard(position)
            skipped.append((position, unmet))
        elif all(edge.position in self._verdicts for edge in edges):
            self._waiting.discard(position)
            self._ready.append(position)

    def _is_unmet(self, edge: Edge) -> bool:
        verdict = self._verdicts.get(edge.position)
        return verdict is not None and edge.on is not On.FINISHED and edge.on.value != verdict.value

    def _take(self) -> list[int]:
        taken: list[int] = []
        while self._ready and self._running < self._limit:
            taken.append(self._ready.popleft())
            self._running += 1
        return taken

    def _submit(self, position: int) -> Verdict | None:
        """Hand it to the crew; how it ended, if that cannot be."""
        try:
            self._crew.submit(lambda: self._perform(position), is_short=self._work.is_short(position))
        except HearthError as error:
            with self._lock:
                self._running -= 1
            return self._work.refuse(position, error)
        return None

    def _perform(self, position: int) -> None:
        verdict = Verdict.FAILURE
        try:
            verdict = self._work.perform(position)
        finally:
            with self._lock:
                self._running -= 1
            self._go_on(self._settled(position, verdict))

    def _settled(self, position: int, verdict: Verdict) -> list[int]:
        with self._lock:
            self._verdicts[position] = verdict
        return self._dependents[position]

    def _is_over(self) -> bool:
        """Whether all has ended; true once."""
        with self._lock:
            was_over = self._over
            self._over = len(self._verdicts) == len(self._graph)
            return self._over and not was_over


def run(
    graph: Graph,
    work: Work,
    *,
    threads: int,
    always: frozenset[int] = frozenset(),
    started: Callable[[Executor], None] | None = None,
) -> None:
    """Work through a graph in this thread and as many others as there is work for, until all has ended. `started` is
    handed the executor, before anything begins."""
    crew = Foreground(threads)
    executor = Executor(graph, _Ending(work, crew), crew, limit=threads, always=always)
    if started is not None:
        started(executor)
    executor.start()
    crew.work()


class _Ending:
    """Work whose end sends the crew home."""

    def __init__(self, work: Work, crew: Foreground) -> None:
        self.perform = work.perform
        self.skip = work.skip
        self.refuse = work.refuse
        self.is_short = work.is_short
        self._work = work
        self._crew = crew

    def finished(self) -> None:
        try:
            self._work.finished()
        finally:
            self._crew.done()
