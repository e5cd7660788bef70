"""Files that hold jobs."""

from __future__ import annotations

import json

from hearth import check
from hearth.runtime import Runtime
from hearth.services.task.job_input import JobFields, JobInput


def read(runtime: Runtime, path: str) -> tuple[JobFields, ...]:
    """The jobs of a file."""
    with runtime.containment.locate(path) as place, open(place.open_file(), "rb") as file:
        values = json.loads(file.read())
    return tuple(check.validate(JobInput, each) for each in values["jobs"])
