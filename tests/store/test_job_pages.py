"""Pages of jobs, as the database finds them."""

from __future__ import annotations

from typing import Any

import pytest

from hearth.store import job_pages, jobs
from hearth.store.database import Store
from hearth.store.jobs import FINAL, Job, JobState

AT = "2026-01-{:02}T00:00:00.000Z"


def keep(store: Store, number: int = 1, **facts: Any) -> list[int]:
    """Jobs that are as `facts` say; their sequence numbers."""
    labels = facts.pop("labels", ())
    made = []
    with store.write() as tx:
        environment = jobs.environment(tx, {})
        for _ in range(number):
            state = facts.get("state", JobState.COMPLETED)
            usual: dict[str, Any] = {
                "state": state,
                "created_at": AT.format(1),
                "due_at": AT.format(1),
                "priority": 0,
                "group_name": "default",
                "title": "true",
                "spec": "{}",
                "environment": environment,
                "caller": "shell",
                "unmet": int(state is JobState.WAITING),
                "merged": False,
                "ended_at": AT.format(1) if state in FINAL else None,
            }
            (count,) = tx.execute("SELECT count(*) FROM jobs").fetchone()
            made.append(jobs.insert(tx, Job(id=f"job_{count}", **{**usual, **facts}), labels=labels))
    return made


def found(store: Store, **wanted: Any) -> list[int]:
    with store.read() as view:
        return [job.seq for job in job_pages.page(view, **{"before": 1 << 62, "limit": 100, **wanted})]


def test_states_are_joined_newest_first(store: Store) -> None:
    (failed,) = keep(store, state=JobState.FAILED)
    (lost,) = keep(store, state=JobState.LOST)
    (done,) = keep(store)
    (again,) = keep(store, state=JobState.FAILED)
    assert found(store, states=(JobState.FAILED, JobState.LOST)) == [again, lost, failed]
    assert found(store, states=(JobState.FAILED, JobState.LOST), limit=2) == [again, lost]
    assert found(store, states=(JobState.FAILED, JobState.LOST), before=again) == [lost, failed]
    assert found(store, states=(JobState.FAILED, JobState.COMPLETED)) == [again, done, failed]


def test_several_labels_are_all_of_them(store: Store) -> None:
    (one,) = keep(store, labels=("a",))
    (both,) = keep(store, labels=("a", "b"))
    keep(store, labels=("ab",))
    assert found(store, labels=("a",)) == [both, one]
    assert found(store, labels=("b", "a", "b")) == [both]
    assert found(store, labels=("a", "c")) == []


def test_times_bound_what_is_found_although_clocks_went_back(store: Store) -> None:
    (late,) = keep(store, created_at=AT.format(20))
    (early,) = keep(store, created_at=AT.format(10))
    assert found(store, since=AT.format(15)) == [late]
    assert found(store, until=AT.format(15)) == [early]
    assert found(store, since=AT.format(10), until=AT.format(20)) == [early, late]
    assert found(store, since=AT.format(21)) == found(store, until=AT.format(9)) == []


@pytest.mark.parametrize("text", ["100%", "A_B", "back\\slash", "MAKE"])
def test_text_is_found_as_it_is_in_letters_of_any_case(store: Store, text: str) -> None:
    (wanted,) = keep(store, title="make 100% a_b back\\slash")
    keep(store, title="mace 1000 axb backslash")
    assert found(store, text=text) == [wanted]


def test_what_a_page_is_chosen_by_adds_up(store: Store) -> None:
    facts: dict[str, Any] = {
        "group_name": "g",
        "labels": ("l",),
        "schedule": "sch_1",
        "conversation": "c",
        "state": JobState.FAILED,
    }
    (wanted,) = keep(store, **facts)
    names = {"group_name": "group", "state": "states"}
    chosen = {names.get(name, name): (value,) if name == "state" else value for name, value in facts.items()}
    others: dict[str, Any] = {
        "group_name": "h", "labels": ("m",), "schedule": "sch_2", "conversation": "d", "state": JobState.COMPLETED,
    }  # fmt: skip
    for name, other in others.items():
        keep(store, **{**facts, name: other})
    assert found(store, **chosen) == [wanted]


def test_unfinished_jobs_come_in_the_order_in_which_they_were_submitted(store: Store) -> None:
    queued = keep(store, 2, state=JobState.QUEUED)
    keep(store)
    waiting = keep(store, state=JobState.WAITING, group_name="other")
    with store.read() as view:
        assert [job.seq for job in job_pages.unfinished(view)] == queued + waiting
        assert [job.seq for job in job_pages.unfinished(view, group="other")] == waiting


PAGES = {name: sql for name, sql in vars(job_pages).items() if name.startswith("_PAGE")}


@pytest.mark.parametrize("sql", [job_pages._FIRST_SINCE, job_pages._LAST_UNTIL])
def test_where_a_time_begins_and_ends_is_read_off_the_index_of_times(store: Store, sql: str) -> None:
    with store.read() as view:
        plan = [row["detail"] for row in view.execute("EXPLAIN QUERY PLAN " + sql, {"since": "", "until": ""})]
    assert ["jobs_by_time" in step for step in plan] == [True]


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_read_in_the_order_of_an_index(store: Store, name: str) -> None:
    names = ("before", "first", "limit", "states", "state", "group_name", "label", "labels", "count", "text", "since")
    values = dict.fromkeys((*names, "until", "schedule", "conversation"), 1)
    with store.read() as view:
        plan = [row["detail"] for row in view.execute("EXPLAIN QUERY PLAN " + PAGES[name], values)]
    assert not [step for step in plan if "TEMP B-TREE" in step or step.startswith("SCAN")]
    index = {
        "_PAGE": "INTEGER PRIMARY KEY",
        "_PAGE_OF_LABEL": "PRIMARY KEY",
        "_PAGE_OF_GROUP": "jobs_by_group",
    }.get(name, "jobs_by_" + name.removeprefix("_PAGE_OF_").lower())
    assert index in plan[0]
