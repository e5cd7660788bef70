"""recipe.suggest: recipes for what was done again and again."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from typing import Annotated

from hearth import catalog, conversations
from hearth.errors import InvalidInput
from hearth.model import Cli, Ge, Help, Items, Le, State, model
from hearth.operation import types_of
from hearth.runtime import Runtime
from hearth.services.recipe.generalise import CannotTell, Made, generalised
from hearth.services.recipe.habits import Habit, habits
from hearth.services.recipe.patterns import MAX_LENGTH
from hearth.services.recipe.source import to_toml
from hearth.store import events

MOST_WORDS = 4


@model
class SuggestRecipes:
    threshold: Annotated[int, Ge(2), Le(10_000), Help("How often it must have been done.")] = 3
    min_length: Annotated[int, Ge(2), Le(MAX_LENGTH), Help("Of how many calls it must be, at least.")] = 2
    limit: Annotated[int, Ge(1), Le(50), Cli(names=("-n",)), Help("Most recipes in an answer.")] = 10
    all: Annotated[bool, Help("Look at all events that are kept rather than the newest 100,000.")] = False


@model
class Suggestion:
    """A recipe that would have saved calls."""

    name: Annotated[str, Help("What it could be called.")]
    pattern: Annotated[tuple[str, ...], Help("The operations, in order.")]
    count: Annotated[int, Help("How often they were done, not counting what a suggestion above covers.")]
    saved: Annotated[int, Help("How many calls fewer that would have been.")]
    last_at: Annotated[str, Help("When they were last begun.")]
    source: Annotated[str, Help("A definition to review, as TOML.")]


@model
class Suggestions:
    state: Annotated[State, Help("Partial: looking further would have taken too long.")] = State.COMPLETED
    suggestions: Annotated[
        tuple[Suggestion, ...],
        Items(columns=("name", "count", "saved", "last_at", "pattern")),
        Help("Those that save most first."),
    ]
    events: Annotated[int, Help("How many events were looked at.")]
    older: Annotated[bool, Help("Whether there are older ones; `all` looks at them too.")]


def suggest(runtime: Runtime, given: SuggestRecipes) -> Suggestions:
    """What was done by whoever may be seen: over MCP in the caller's own conversation. Makes nothing."""
    with runtime.store.read() as view:
        found = habits(
            view,
            conversation=conversations.own(runtime),
            least=given.threshold,
            shortest=given.min_length,
            most=given.limit,
            everything=given.all,
        )
        names = _Names()
        made = tuple(each for habit in found.found if (each := _suggestion(view, habit, names)) is not None)
    return Suggestions(
        state=State.COMPLETED if found.whole else State.PARTIAL,
        suggestions=made,
        events=found.events,
        older=found.older,
    )


def stream(runtime: Runtime, given: SuggestRecipes) -> Iterator[bytes]:
    """The definitions, ready to be put into files, each below what is to be known of it."""
    found = suggest(runtime, given)
    for each in found.suggestions:
        about = f"# done {each.count} times, last {each.last_at}; would have saved {each.saved} calls"
        yield f"{about}\n{each.source}\n".encode()
    if not found.suggestions:
        more = "; --all looks at older ones too" if found.older else ""
        runtime.notice(f"hearth: nothing was done {given.threshold} times in {found.events:,} events{more}")
    if found.state is State.PARTIAL:
        runtime.notice("hearth: there may be more, which would have taken too long to find")


def _suggestion(view: sqlite3.Connection, habit: Habit, names: _Names) -> Suggestion | None:
    """None where the events hold too little to make a recipe of them."""
    inputs = [[events.input_of(view, number) for number in occurrence] for occurrence in habit.occurrences]
    kept = [[each for each in occurrence if each] for occurrence in inputs if all(occurrence)]
    if not kept:
        return None
    rows = [catalog.find(operation) for operation in habit.operations]
    models = [types_of(family.load(row.target))[0] for family, row in rows]
    made = [
        [Made(operation, json.loads(data)) for operation, (_, data) in zip(habit.operations, occurrence, strict=True)]
        for occurrence in kept
    ]
    try:
        definition = generalised(names.next(habit.operations), models, made)
    except (CannotTell, InvalidInput):
        return None
    return Suggestion(
        name=definition.name,
        pattern=habit.operations,
        count=habit.count,
        saved=habit.saved,
        last_at=kept[-1][0][0],
        source=to_toml(definition),
    )


class _Names:
    """Names for definitions, each another one."""

    def __init__(self) -> None:
        self._taken: set[str] = set()

    def next(self, operations: tuple[str, ...]) -> str:
        words = dict.fromkeys(operation.partition(".")[2].replace("_", "-") for operation in operations)
        base = "-then-".join(list(words)[:MOST_WORDS])
        name, number = base, 2
        while name in self._taken:
            name, number = f"{base}-{number}", number + 1
        self._taken.add(name)
        return name
