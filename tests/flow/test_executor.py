"""A flow ends every node once, whatever the graph, the order and the moment of a cancellation."""

from __future__ import annotations

import threading
from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st

from hearth.errors import HearthError, TooManyCalls
from hearth.flow import executor, graph
from hearth.flow.executor import Executor, Verdict
from hearth.flow.graph import Edge, On


class Recorder:
    """Nodes that end as they are told to."""

    def __init__(self, failing: frozenset[int] = frozenset(), act: Callable[[int], None] = lambda _: None) -> None:
        self.performed: list[int] = []
        self.skipped: dict[int, Edge | None] = {}
        self.refused: list[int] = []
        self.ends = 0
        self.most = 0
        self._failing = failing
        self._act = act
        self._running = 0
        self._lock = threading.Lock()

    def perform(self, position: int) -> Verdict:
        with self._lock:
            self._running += 1
            self.most = max(self.most, self._running)
            self.performed.append(position)
        self._act(position)
        with self._lock:
            self._running -= 1
        return Verdict.FAILURE if position in self._failing else Verdict.SUCCESS

    def skip(self, position: int, unmet: Edge | None) -> Verdict:
        with self._lock:
            assert position not in self.skipped
            self.skipped[position] = unmet
        return Verdict.FAILURE

    def refuse(self, position: int, error: HearthError) -> Verdict:
        assert isinstance(error, TooManyCalls)
        self.refused.append(position)
        return Verdict.FAILURE

    def is_short(self, position: int) -> bool:
        return position % 2 == 0

    def finished(self) -> None:
        self.ends += 1


@st.composite
def graphs(draw: st.DrawFn) -> list[list[Edge]]:
    """Graphs without cycles."""
    size = draw(st.integers(1, 12))
    return [
        [Edge(other, draw(st.sampled_from(On))) for other in draw(st.sets(st.integers(0, node - 1)))] if node else []
        for node in range(size)
    ]


@given(graphs(), st.frozensets(st.integers(0, 11)), st.integers(1, 5))
def test_every_node_ends_once_and_only_when_its_edges_are_met(
    edges: list[list[Edge]], failing: frozenset[int], threads: int
) -> None:
    work = Recorder(failing)
    executor.run(edges, work, threads=threads)
    assert work.ends == 1
    assert sorted([*work.performed, *work.skipped]) == list(range(len(edges)))
    assert work.most <= threads
    failed = failing | set(work.skipped)
    for node in work.performed:
        for other, on in edges[node]:
            assert on is On.FINISHED or (on is On.FAILURE) == (other in failed)
            if other in work.performed:
                assert work.performed.index(other) < work.performed.index(node)
    for unmet in work.skipped.values():
        assert unmet is not None
        assert (unmet.on is On.FAILURE) != (unmet.position in failed)


@given(graphs(), st.integers(0, 11), st.frozensets(st.integers(0, 11)))
def test_a_flow_that_is_taken_back_begins_only_what_always_is(
    edges: list[list[Edge]], moment: int, always: frozenset[int]
) -> None:
    edges = [[Edge(other, On.FINISHED) for other, _ in each] for each in edges]
    kept: list[Executor] = []
    begun: list[int] = []

    def act(position: int) -> None:
        if position == moment:
            begun.extend(work.performed)
            kept[0].cancel()

    work = Recorder(act=act)
    executor.run(edges, work, threads=1, always=always, started=kept.append)
    assert work.ends == 1
    assert sorted([*work.performed, *work.skipped]) == list(range(len(edges)))
    if moment < len(edges):
        assert set(work.performed) - set(begun) <= always
        assert not always & work.skipped.keys()


def test_nodes_run_side_by_side_up_to_the_limit() -> None:
    barrier = threading.Barrier(3)

    def act(_: int) -> None:
        barrier.wait(10)

    work = Recorder(act=act)
    executor.run([[] for _ in range(6)], work, threads=3)
    assert work.most == 3


def test_a_node_for_which_there_is_no_thread_is_refused_and_the_others_go_on() -> None:
    class Full:
        def submit(self, act: Callable[[], None], *, is_short: bool) -> None:
            if is_short:
                raise TooManyCalls("the queue is full")
            act()

    work = Recorder()
    Executor([[], [], [Edge(0)], [Edge(2, On.FAILURE)]], work, Full(), limit=1).start()
    assert work.ends == 1
    assert (work.refused, work.performed, work.skipped) == ([0], [1, 3], {2: Edge(0)})


@given(st.lists(st.lists(st.integers(0, 7), max_size=4), min_size=8, max_size=8))
def test_a_cycle_is_found_where_there_is_one(others: list[list[int]]) -> None:
    edges = [[Edge(other) for other in each] for each in others]
    found = graph.cycle(edges)
    if found is None:
        left = set(range(8))
        while ready := {node for node in left if not left.intersection(others[node])}:
            left -= ready
        assert not left
    else:
        for node, after in zip(found, [*found[1:], found[0]], strict=True):
            assert after in others[node]
