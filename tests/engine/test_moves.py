"""The table of states: only its moves happen, final states stay, and what waits is settled as its conditions say."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from hearth import dispatch, identifiers
from hearth.containment import Root
from hearth.engine import claims
from hearth.engine.moves import MOVES, WrongMove, move
from hearth.platforms.local import local_host
from hearth.runtime import Runtime
from hearth.settings import Settings, WorkerSettings
from hearth.store import jobs
from hearth.store.jobs import FINAL, UNFINISHED, Condition, Job, JobState
from tests.engine.workers import job, submit

pytestmark = pytest.mark.timeout(60)
ENDED = "2199-01-01T00:00:00.000Z"


def test_every_state_is_in_the_table_and_final_ones_are_followed_by_none() -> None:
    assert set(MOVES) == set(JobState)
    assert {state for state in JobState if not MOVES[state]} == set(FINAL)


def test_every_state_can_be_left_to_an_end_and_every_other_one_reached_from_another() -> None:
    assert all(MOVES[state] & {JobState.CANCELLED} for state in UNFINISHED)
    reached = set().union(*MOVES.values())
    assert set(JobState) - reached == {JobState.WAITING}  # which a job is only from its beginning


def in_state(runtime: Runtime, state: JobState) -> Job:
    """A job that stands there, by whatever way."""
    id_ = submit(runtime)
    values: dict[str, Any] = {"state": state, "id": id_, "worker": None, "ended_at": None, "unmet": 0}
    if state is JobState.RUNNING:
        values["worker"] = "wrk_1"
    elif state in FINAL:
        values["ended_at"] = ENDED
    elif state is JobState.WAITING:
        values["unmet"] = 1
    with runtime.store.write() as tx:
        tx.execute(
            "UPDATE jobs SET state = :state, worker = :worker, ended_at = :ended_at, unmet = :unmet WHERE id = :id",
            values,
        )
    return job(runtime, id_)


@pytest.mark.parametrize("was", JobState)
def test_only_moves_of_the_table_happen(runtime: Runtime, was: JobState) -> None:
    for to in JobState:
        given = in_state(runtime, was)
        changes: dict[str, Any] = {"ended_at": ENDED} if to in FINAL else {}
        if to is JobState.RUNNING:
            changes["worker"] = "wrk_1"
        if was is JobState.WAITING and to not in FINAL:
            changes["unmet"] = 0
        with runtime.store.write() as tx:
            if to in MOVES[was]:
                assert move(tx, given, to, **changes)
            else:
                with pytest.raises(WrongMove):
                    move(tx, given, to, **changes)
        assert job(runtime, given.id).state is (to if to in MOVES[was] else was)


def test_a_move_of_a_job_that_stands_elsewhere_by_now_changes_nothing(runtime: Runtime) -> None:
    given = in_state(runtime, JobState.QUEUED)
    with runtime.store.write() as tx:
        assert move(tx, given, JobState.CANCELLED, ended_at=ENDED)
        before = jobs.find(tx, given.id)
        assert not move(tx, given, JobState.RUNNING, worker="wrk_1")
        assert jobs.find(tx, given.id) == before


def test_a_move_of_a_job_that_is_another_workers_changes_nothing(runtime: Runtime) -> None:
    given = in_state(runtime, JobState.RUNNING)
    with runtime.store.write() as tx:
        assert not move(tx, given, JobState.COMPLETED, holder="wrk_2", ended_at=ENDED)
        assert jobs.find(tx, given.id) == given
        assert move(tx, given, JobState.COMPLETED, holder="wrk_1", ended_at=ENDED)


@pytest.mark.parametrize(("condition", "ended"), list(product(Condition, FINAL)))
def test_what_waits_goes_on_or_is_blocked_as_its_condition_says(
    runtime: Runtime, condition: Condition, ended: JobState
) -> None:
    first = submit(runtime)
    second = submit(runtime, dependencies=[{"job": first, "on": condition.value}])
    third = submit(runtime, dependencies=[{"job": second, "on": "finished"}])
    with runtime.store.write() as tx:
        # Not every end is one that a queued job can have; what follows is the same.
        held = job(runtime, first)._replace(state=JobState.WAITING if ended is JobState.BLOCKED else JobState.RUNNING)
        changes = {"worker": "wrk_1"} if held.state is JobState.RUNNING else {"unmet": 1}
        assert jobs.move(tx, held.seq, JobState.QUEUED, held.state, **changes)
        if ended in MOVES[held.state]:
            assert move(tx, held, ended, ended_at=ENDED)
        else:
            queued = held._replace(state=JobState.QUEUED)
            assert jobs.move(tx, held.seq, held.state, JobState.QUEUED)
            assert move(tx, queued, ended, ended_at=ENDED)
    holds = condition.holds(ended)
    assert job(runtime, second).state is (JobState.QUEUED if holds else JobState.BLOCKED)
    assert job(runtime, third).state is (JobState.WAITING if holds else JobState.QUEUED)


def test_a_job_that_is_blocked_from_its_beginning_settles_what_waits_for_it(runtime: Runtime) -> None:
    failed = submit(runtime)
    with runtime.store.write() as tx:
        move(tx, jobs.find(tx, failed) or pytest.fail(), JobState.CANCELLED, ended_at=ENDED)
    later = identifiers.new("job", 1)
    waits = submit(runtime, dependencies=[{"job": later}], allow_missing=True)
    glad = submit(runtime, dependencies=[{"job": later, "on": "finished"}], allow_missing=True)
    assert submit(runtime, id=later, dependencies=[{"job": failed}]) == later
    assert [job(runtime, id_).state for id_ in (later, waits, glad)] == [
        JobState.BLOCKED,
        JobState.BLOCKED,
        JobState.QUEUED,
    ]


def test_in_a_batch_a_job_may_wait_for_a_later_one_that_is_blocked_at_once(runtime: Runtime) -> None:
    failed = submit(runtime)
    with runtime.store.write() as tx:
        move(tx, jobs.find(tx, failed) or pytest.fail(), JobState.CANCELLED, ended_at=ENDED)
    batch = [
        {"command": "true", "dependencies": [{"index": 1}]},
        {"command": "true", "dependencies": [{"job": failed}]},
    ]
    answer = dispatch.call_json(runtime, "task.submit", {"jobs": batch, "start": False})
    assert answer.error is None
    assert {job(runtime, each.id).state for each in answer.result.jobs} == {JobState.BLOCKED}


class Jobs(RuleBasedStateMachine):
    """Jobs that depend on each other, of which one after the other makes some move, in a real database."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        work = Path(self.folder.name, "work")
        work.mkdir()
        self.runtime = Runtime(
            host=local_host(),
            settings=Settings(worker=WorkerSettings(parallel=3)),
            data_dir=str(Path(self.folder.name, "data")),
            roots=(Root(str(work)),),
            base=str(work),
            notice=lambda _: None,
        )
        self.ids: list[str] = []
        self.known: dict[str, JobState] = {}

    def teardown(self) -> None:
        self.runtime.close()
        self.folder.cleanup()

    @precondition(lambda self: len(self.ids) < 12)
    @rule(data=st.data(), on=st.lists(st.sampled_from(Condition), max_size=3), later=st.booleans())
    def submit(self, data: st.DataObject, on: list[Condition], later: bool) -> None:
        dependencies = [
            {"job": data.draw(st.sampled_from(self.ids)), "on": condition.value} for condition in on if self.ids
        ]
        delay: dict[str, Any] = {"delay_ms": 3_600_000} if later else {}
        self.ids.append(submit(self.runtime, dependencies=dependencies, **delay))

    @precondition(lambda self: self.ids)
    @rule(data=st.data())
    def move_one(self, data: st.DataObject) -> None:
        given = job(self.runtime, data.draw(st.sampled_from(self.ids)))
        # Only what a job waits for lets it go on, or blocks it; only a claim lets it run.
        settled = {JobState.QUEUED, JobState.SCHEDULED, JobState.BLOCKED} if given.state is JobState.WAITING else set()
        moves = sorted(MOVES[given.state] - settled - {JobState.RUNNING})
        if moves:
            to = data.draw(st.sampled_from(moves))
            with self.runtime.store.write() as tx:
                assert move(tx, given, to, **({"ended_at": self.runtime.now()} if to in FINAL else {}))

    @rule()
    def claim(self) -> None:
        with self.runtime.store.write() as tx:
            claimed = claims.claim(tx, self.runtime, "wrk_1", 2)
        assert [each.job.state for each in claimed] == [JobState.RUNNING] * len(claimed)

    @invariant()
    def moves_are_those_of_the_table(self) -> None:
        for id_ in self.ids:
            now = job(self.runtime, id_).state
            was = self.known.get(id_, now)
            assert now is was or reaches(was, now), (was, now)
            self.known[id_] = now

    @invariant()
    def no_job_waits_for_what_is_over(self) -> None:
        with self.runtime.store.read() as view:
            for id_ in self.ids:
                found = jobs.find(view, id_)
                assert found is not None
                dependencies = jobs.dependencies(view, found.seq)
                assert found.unmet == sum(not each.met for each in dependencies)
                others = [(each, jobs.find(view, each.on_id)) for each in dependencies]
                ends = [(each, other.state) for each, other in others if other is not None and other.state in FINAL]
                if found.state is JobState.WAITING:
                    assert len(ends) < len(dependencies)
                    assert all(each.met and each.condition.holds(state) for each, state in ends)
                elif found.state is JobState.BLOCKED:
                    assert any(not each.condition.holds(state) for each, state in ends)
                elif found.state not in (JobState.CANCELLED, JobState.EXPIRED):
                    assert len(ends) == len(dependencies) and found.unmet == 0


def reaches(was: JobState, now: JobState) -> bool:
    """Whether moves of the table lead there; one rule may make two, such as waiting, queued, running."""
    return now in MOVES[was] or any(now in MOVES[between] for between in MOVES[was])


TestJobs = Jobs.TestCase
TestJobs.settings = settings(max_examples=6, stateful_step_count=20, deadline=None)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_many_random_moves_of_many_jobs() -> None:
    from hypothesis.stateful import run_state_machine_as_test

    run_state_machine_as_test(Jobs, settings=settings(max_examples=150, stateful_step_count=60, deadline=None))
