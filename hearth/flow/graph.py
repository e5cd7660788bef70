"""What waits for what."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple


class On(StrEnum):
    """Which end of an earlier call a later one waits for."""

    SUCCESS = "success"
    FAILURE = "failure"
    FINISHED = "finished"  # either


class Edge(NamedTuple):
    """A node waits for the one at `position`."""

    position: int
    on: On = On.SUCCESS


Graph = Sequence[Sequence[Edge]]  # the edges of each node


def cycle(graph: Graph) -> list[int] | None:
    """Nodes of which each waits for the next one, and the last for the first; None where there are none."""
    done: set[int] = set()
    for start in range(len(graph)):
        path: list[int] = []
        on_path: dict[int, int] = {}
        stack = [(start, 0)]
        while stack:
            node, next_edge = stack.pop()
            if next_edge == 0:
                if node in done:
                    continue
                on_path[node] = len(path)
                path.append(node)
            if next_edge == len(graph[node]):
                done.add(node)
                path.pop()
                del on_path[node]
                continue
            stack.append((node, next_edge + 1))
            other = graph[node][next_edge].position
            if other in on_path:
                return path[on_path[other] :]
            stack.append((other, 0))
    return None
