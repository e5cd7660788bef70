"""Rows of jobs to put into a store."""

from __future__ import annotations

import sqlite3
from typing import Any

from hearth import identifiers
from hearth.engine.spec import Spec
from hearth.store import jobs
from hearth.store.jobs import FINAL, Job, JobState

NOW = "2026-01-31T12:00:00.000Z"


def row(state: JobState = JobState.COMPLETED, *, at: str = NOW, **changed: Any) -> Job:
    """A job that was made, and ended where it has, at that time."""
    made = Job(
        id=identifiers.new("job", 0),
        state=state,
        created_at=at,
        due_at=at,
        priority=0,
        group_name="default",
        title="true",
        spec=Spec(command="true", cwd="/").to_json(),
        environment=0,
        caller="shell",
        unmet=int(state is JobState.WAITING),
        merged=False,
        ended_at=at if state in FINAL else None,
    )
    return made._replace(**changed)


def insert(tx: sqlite3.Connection, *made: Job) -> list[int]:
    """Their numbers. They share an environment without variables."""
    environment = jobs.environment(tx, {})
    return [jobs.insert(tx, each._replace(environment=environment)) for each in made]
