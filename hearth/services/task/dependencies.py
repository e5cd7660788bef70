"""What jobs wait for: each other in a batch, and jobs that are there already."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from hearth.errors import InvalidInput, Problem, invalid
from hearth.runtime import Caller, Runtime
from hearth.services.task import job_input
from hearth.services.task.entry import visible
from hearth.services.task.future_entry import is_future
from hearth.services.task.job_input import ID, ID_FORM, JobFields, JobInput
from hearth.store import jobs
from hearth.store.jobs import FINAL, Condition, Dependency, Job

if TYPE_CHECKING:
    from collections.abc import Mapping


class Resolved(NamedTuple):
    """What one job depends on. `broken` says why it can never start."""

    dependencies: tuple[Dependency, ...]
    unmet: int
    broken: str | None


def place_of(asked: JobFields, index: int) -> str:
    """How names of the job's fields begin in errors: one of a list is known by its place."""
    return f"jobs.{index}." if isinstance(asked, JobInput) else ""


def check_batch(asked: Sequence[JobFields]) -> None:
    """Raise `InvalidInput` for indices that name no other job of the batch, and for circles."""
    chosen = {each.id: index for index, each in enumerate(asked) if each.id}
    problems = [problem for index, each in enumerate(asked) for problem in _problems(index, each, len(asked))]
    if problems:
        raise InvalidInput(*problems)
    edges = {index: [_index(each, chosen) for each in job.dependencies] for index, job in enumerate(asked)}
    circle = _circle({index: [to for to in targets if to is not None] for index, targets in edges.items()})
    if circle:
        told = " -> ".join(map(str, circle))
        raise invalid(f"jobs.{circle[0]}.dependencies", "cyclic", f"the jobs wait for each other: {told}")


def _problems(index: int, asked: JobFields, count: int) -> Iterator[Problem]:
    for place, each in enumerate(asked.dependencies):
        field = f"{place_of(asked, index)}dependencies.{place}"
        if (each.job is None) is (each.index is None):
            yield Problem(field, "not_one_of", "names either a job or an index of this batch")
        elif each.index is not None and each.index >= count:
            yield Problem(field, "out_of_range", f"{each.index} is the place of no job of this batch")
        elif each.index == index or (each.job is not None and each.job == asked.id):
            yield Problem(field, "cyclic", "a job cannot wait for itself")


def _index(dependency: job_input.Dependency, chosen: Mapping[str, int]) -> int | None:
    return dependency.index if dependency.index is not None else chosen.get(dependency.job or "")


def _circle(edges: Mapping[int, list[int]]) -> list[int]:
    """Places of jobs that wait for each other, the first one again at the end; empty where there are none."""
    done: set[int] = set()
    for start in edges:
        path: list[int] = []
        stack: list[tuple[int, Iterator[int]]] = []
        if start not in done:
            path.append(start)
            stack.append((start, iter(edges[start])))
        while stack:
            node, targets = stack[-1]
            target = next(targets, None)
            if target is None:
                done.add(node)
                stack.pop()
                path.pop()
            elif target in path:
                return [*path[path.index(target) :], target]
            elif target not in done:
                path.append(target)
                stack.append((target, iter(edges[target])))
    return []


def resolve(
    tx: sqlite3.Connection,
    runtime: Runtime,
    wanted: Sequence[job_input.Dependency],
    ids: Sequence[str],
    own_id: str,
    where: str = "",
    *,
    allow_missing: bool,
) -> Resolved:
    """Look the jobs up; `where` begins the names of fields in errors. Raises `InvalidInput` for one that does not
    exist, unless `allow_missing` and it could come to exist, and for a circle through jobs that wait for `own_id`
    already."""
    found: list[Dependency] = []
    broken: str | None = None
    for place, each in enumerate(wanted):
        field = f"{where}dependencies.{place}"
        name = ids[each.index] if each.index is not None else _full_id(tx, runtime, each.job or "", field)
        if is_future(name):
            raise invalid(field, "not_a_job", f"{name} is a call; a job can only wait for jobs")
        job = visible(runtime, jobs.find(tx, name))
        if job is None and name not in ids and not allow_missing:
            raise invalid(
                field,
                "unknown_job",
                f"there is no job {name}",
                hint="pass allow_missing (--allow-missing) to wait for one that is submitted later",
            )
        if job is None and name not in ids and not re.fullmatch(ID, name):
            raise invalid(field, "wrong_form", f"{name} is no id that a job can have: that is {ID_FORM}")
        met = job is not None and job.state in FINAL and each.on.holds(job.state)
        broken = broken or broken_by(job, each.on)
        found.append(Dependency(name, each.on, met))
    _refuse_circle(tx, own_id, [each.on_id for each in found])
    return Resolved(tuple(found), sum(not each.met for each in found), broken)


def broken_by(job: Job | None, on: Condition) -> str | None:
    """Why what waits so for a job can never start, if it has ended otherwise."""
    if job is None or job.state not in FINAL or on.holds(job.state):
        return None
    return f"it waits for the {on} of {job.id}, which ended as {job.state}"


def _full_id(tx: sqlite3.Connection, runtime: Runtime, word: str, field: str) -> str:
    if runtime.caller is not Caller.SHELL or jobs.find(tx, word) is not None:
        return word
    candidates = jobs.starting_with(tx, word)
    if len(candidates) > 1:
        raise invalid(field, "ambiguous", f"{word} begins several ids, such as {candidates[0].id}")
    return candidates[0].id if candidates else word


def _refuse_circle(tx: sqlite3.Connection, own_id: str, on: Sequence[str]) -> None:
    """Only a job whose id was chosen beforehand can be waited for before it exists."""
    if not jobs.waiting_for(tx, own_id):
        return
    seen: set[str] = set()
    ahead = list(on)
    while ahead:
        name = ahead.pop()
        if name == own_id:
            raise invalid("dependencies", "cyclic", f"jobs that wait for {own_id} are among what it waits for")
        job = jobs.find(tx, name) if name not in seen else None
        seen.add(name)
        if job is not None and job.state not in FINAL:
            ahead += [each.on_id for each in jobs.dependencies(tx, job.seq)]
