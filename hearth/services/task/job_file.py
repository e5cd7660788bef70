"""Files that hold jobs: `[[jobs]]` tables of TOML, or JSON as the input of submit."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import date, time
from typing import Any

from hearth import check
from hearth.errors import InvalidInput, Problem, TooLarge, invalid
from hearth.runtime import Caller, Runtime
from hearth.services.task.job_input import JobFields, JobInput

STANDARD_INPUT = "-"
MOST_BYTES = 4 * 1024 * 1024
MOST_JOBS = 64
# A list of JSON begins otherwise than [[jobs]] and [defaults].
_JSON = re.compile(r"\s*(\{|\[\s*[{\]])")


def read(runtime: Runtime, path: str) -> tuple[JobFields, ...]:
    """The jobs of a file, or at the shell of standard input for `-`; each has what its table says, else what the table
    `defaults` says. Raises `InvalidInput` with every problem, `TooLarge` above 4 MiB, and what `containment.locate`
    raises."""
    data = _bytes(runtime, path)
    if len(data) > MOST_BYTES:
        raise TooLarge(f"a file of jobs has at most {MOST_BYTES:,} bytes", path=path)
    document = _plain(_parsed(data))
    if isinstance(document, list):
        document = {"jobs": document}
    return _jobs(document)


def _bytes(runtime: Runtime, path: str) -> bytes:
    if path == STANDARD_INPUT and runtime.caller is Caller.SHELL:
        if runtime.stdin is None:
            raise invalid("file", "no_input", "standard input is closed")
        return runtime.stdin.read(MOST_BYTES + 1)
    with runtime.containment.locate(path) as place, open(place.open_file(), "rb") as file:
        return file.read(MOST_BYTES + 1)


def _parsed(data: bytes) -> Any:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise invalid("file", "wrong_encoding", f"must be UTF-8: {error.reason} at byte {error.start}") from None
    if _JSON.match(text):
        return check.parse(text)
    import tomllib

    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise invalid("file", "not_toml", f"this is neither JSON nor TOML: {error}") from None


def _plain(value: Any) -> Any:
    """Times of TOML as texts."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value.isoformat() if isinstance(value, (date, time)) else value


def _jobs(document: Any) -> tuple[JobFields, ...]:
    problems = list(_problems(document))
    if problems:
        raise InvalidInput(*problems)
    made: list[JobFields] = []
    for index, job in enumerate(document["jobs"]):
        try:
            made.append(check.validate(JobInput, {**document.get("defaults", {}), **job}))
        except InvalidInput as error:
            problems += [replace(each, field=f"jobs.{index}.{each.field}") for each in error.problems]
    if problems:
        raise InvalidInput(*problems)
    return tuple(made)


def _problems(document: Any) -> Iterator[Problem]:
    """What is wrong with the whole."""
    if not isinstance(document, dict):
        yield Problem("file", "wrong_type", "must hold jobs")
        return
    for name in document.keys() - {"jobs", "defaults"}:
        yield Problem(name, "unknown_field", "is neither jobs nor defaults")
    if not isinstance(document.get("defaults", {}), dict):
        yield Problem("defaults", "wrong_type", "must be a table")
    jobs = document.get("jobs")
    if not isinstance(jobs, list) or not all(isinstance(job, dict) for job in jobs):
        yield Problem("jobs", "wrong_type", "must be a list of tables")
    elif not 1 <= len(jobs) <= MOST_JOBS:
        yield Problem("jobs", "wrong_count", f"must be 1 to {MOST_JOBS} jobs")
