"""A call as a part of a flow: which operations there are, what is wrong before anything runs, and what it came to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from hearth import catalog, check
from hearth.document import document
from hearth.errors import InvalidInput, Problem, UnknownOperation
from hearth.flow.executor import Verdict
from hearth.flow.references import Resolved
from hearth.model import State
from hearth.operation import Family, Operation, Surface, types_of

if TYPE_CHECKING:
    from hearth.runtime import Runtime

# Dependents and recipes stop here; a part of the work is still an answer.
FAILURES = frozenset((State.FAILED, State.BLOCKED, State.CONFLICT, State.CANCELLED))


def names(surface: Surface) -> list[str]:
    """The operations of a surface, as `family.operation`."""
    return [f"{family.name}.{row.name}" for family, row in catalog.walk() if surface in row.surfaces]


def find(dotted: str, surface: Surface, where: str) -> tuple[Family, Operation]:
    """The row of an operation of this surface. Raises `InvalidInput` about the field `where`."""
    try:
        family, row = catalog.find(dotted)
    except UnknownOperation as error:
        raise InvalidInput(Problem(where, "not_one_of", f"{error.message}; {error.hint}")) from None
    if surface not in row.surfaces:
        raise InvalidInput(Problem(where, "not_one_of", f"{dotted} cannot be called here"))
    return family, row


def problems(family: Family, row: Operation, resolved: Resolved, where: str) -> Iterator[Problem]:
    """What is wrong with an input whatever its unknown parts turn out to be; `where` begins the names of fields."""
    try:
        check.validate(types_of(family.load(row.target))[0], resolved.value)
    except InvalidInput as error:
        for problem in error.problems:
            if not any(_touches(problem.field, place) for place in resolved.unknown):
                yield Problem(f"{where}{problem.field}".rstrip("."), problem.code, problem.message)


def _touches(field: str, place: str) -> bool:
    """Whether a problem may be there only because the value at that place is not known."""
    return field == place or field.startswith(place + ".") or (place.startswith(field + ".") if field else False)


def perform(runtime: Runtime, operation: str, value: Any) -> dict[str, Any]:
    """Make the call through the door; its answer as a document."""
    return document(runtime.through_door(operation, value))


def verdict(state: str) -> Verdict:
    return Verdict.FAILURE if state in FAILURES else Verdict.SUCCESS
