"""What was done again and again: the patterns in the calls that the log of events tells of.

A call is of the same kind as another when the operation and the form of the input are the same, and with a program its
name and first word (`git commit`). Calls belong together that were made in the same conversation and run, a recipe's
own apart from those of who ran it. Reads that no recipe can make are passed over; any other call that a recipe cannot
make, and one that failed, ends what could be one pattern.
"""

from __future__ import annotations

import json
import re
import sqlite3
from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hearth import catalog
from hearth.flow.calls import FAILURES
from hearth.operation import Effect, Surface
from hearth.runtime import Caller
from hearth.services.recipe.patterns import Pattern, Patterns, repeated
from hearth.store import events

WINDOW = 100_000  # events that are looked at together
MOST_IN_WINDOW = 50
MOST_HABITS = 1_000
MOST_OCCURRENCES = 100

Form = tuple[Any, ...]
Kind = tuple[str, Form]  # the operation and the form of the input
_WORD = re.compile(r"[-a-z][a-z0-9:_-]*", re.ASCII)
RUN = "recipe.run"


@dataclass(slots=True)
class Habit:
    """Calls that came one after the other `count` times. `occurrences`: the events of some of them, newest last."""

    operations: tuple[str, ...]
    count: int
    occurrences: list[tuple[int, ...]]

    @property
    def saved(self) -> int:
        """How many calls fewer there would be, were each occurrence a single one."""
        return (len(self.operations) - 1) * self.count


@dataclass(slots=True)
class Habits:
    """What was found in `events` events. `older`: there are earlier ones, which were not looked at. `whole`: False
    where looking further took too long."""

    found: list[Habit]
    events: int = 0
    older: bool = True
    whole: bool = True


def habits(
    view: sqlite3.Connection, *, conversation: str | None, least: int, shortest: int, most: int, everything: bool
) -> Habits:
    """At most `most` of them, those that save most first: in the newest 100,000 events, or in all of them, so many at
    a time. Memory is bounded by what so many need: some 40 MB."""
    made = Habits([])
    by_kinds: dict[tuple[Kind, ...], Habit] = {}
    # What comes twice in several windows may come often enough in all of them.
    least_in_window = 2 if everything else least
    upto = newest = events.newest(view)
    while made.older and (everything or upto == newest):
        window = _Window()
        made.events += window.read(events.window(view, after=upto - WINDOW, upto=upto, conversation=conversation))
        found = window.patterns(least=least_in_window, shortest=shortest)
        made.whole = made.whole and found.whole
        for pattern in found.found:
            _merge(by_kinds, window.kinds_of(pattern), window.habit(pattern))
        _forget(by_kinds)
        upto -= WINDOW
        made.older = events.any_upto(view, upto)
    often = (habit for habit in by_kinds.values() if habit.count >= least)
    made.found = sorted(often, key=lambda habit: (-habit.saved, len(habit.operations)))[:most]
    return made


def _merge(by_kinds: dict[tuple[Kind, ...], Habit], kinds: tuple[Kind, ...], habit: Habit) -> None:
    known = by_kinds.setdefault(kinds, habit)
    if known is not habit:
        known.count += habit.count
        known.occurrences[:0] = habit.occurrences[: MOST_OCCURRENCES - len(known.occurrences)]


def _forget(by_kinds: dict[tuple[Kind, ...], Habit]) -> None:
    """Keep those that save most: what came seldom in a hundred thousand events is no habit."""
    for kinds in sorted(by_kinds, key=lambda kinds: -by_kinds[kinds].saved)[MOST_HABITS:]:
        del by_kinds[kinds]


@dataclass(slots=True)
class _Sequence:
    """The calls of one conversation and run: numbers of their kinds and of their events, 0 for a break."""

    numbers: array[int] = field(default_factory=lambda: array("l"))
    ids: array[int] = field(default_factory=lambda: array("q"))

    def add(self, number: int, event: int) -> None:
        self.numbers.append(number)
        self.ids.append(event)

    def end(self) -> None:
        if self.numbers and self.numbers[-1]:
            self.add(0, 0)


class _Window:
    """Events that are looked at together."""

    def __init__(self) -> None:
        self._kinds: dict[Kind, int] = {}
        self._whole = _Sequence()

    def read(self, calls: Iterator[events.Call]) -> int:
        """Read the calls; how many there were."""
        count = 0
        sequences: dict[tuple[str | None, str | None, bool], _Sequence] = {}
        usable = _Usable()
        kinds = self._kinds
        for event, operation, caller, run, conversation, state, data in calls:
            count += 1
            key = (conversation, run, caller == Caller.RECIPE)
            sequence = sequences.get(key)
            if sequence is None:
                sequence = sequences[key] = _Sequence()
            if usable[operation] and state not in FAILURES:
                kind = (operation, _form(json.loads(data)))
                sequence.add(kinds.setdefault(kind, len(kinds) + 1), event)
            elif usable[operation] is not None:
                sequence.end()
            if operation == RUN and (steps := sequences.get((conversation, run, True))):
                steps.end()
        for sequence in sequences.values():
            sequence.end()
            self._whole.numbers.extend(sequence.numbers)
            self._whole.ids.extend(sequence.ids)
        return count

    def patterns(self, *, least: int, shortest: int) -> Patterns:
        return repeated(self._whole.numbers, least=least, shortest=shortest, most=MOST_IN_WINDOW)

    def kinds_of(self, pattern: Pattern) -> tuple[Kind, ...]:
        names = list(self._kinds)
        return tuple(names[number - 1] for number in pattern.numbers)

    def habit(self, pattern: Pattern) -> Habit:
        # A place further on in the sequence need not be a later event: conversations stand one behind the other.
        newest = sorted(self._whole.ids[start] for start in pattern.starts)[-MOST_OCCURRENCES:]
        wanted = frozenset(newest)
        length = len(pattern.numbers)
        spans = (tuple(self._whole.ids[start : start + length]) for start in pattern.starts)
        occurrences = sorted(span for span in spans if span[0] in wanted)
        return Habit(tuple(operation for operation, _ in self.kinds_of(pattern)), len(pattern.starts), occurrences)


def _form(value: dict[str, Any]) -> Form:
    """What inputs have in common that differ in single values only: the names of fields, the lengths of lists, and
    what tells one use of a program from another."""
    form: list[Any] = [*value]
    for name, each in value.items():
        if name == "command":
            form.append(each if isinstance(each, str) else None)
        elif isinstance(each, list):
            form.append(len(each))
            form.extend(_form(item) for item in each if isinstance(item, dict))
            if name == "args" and each and isinstance(each[0], str) and _WORD.fullmatch(each[0]):
                form.append(each[0])
        elif isinstance(each, dict):
            form.append(_form(each))
    return tuple(form)


class _Usable(dict[str, "bool | None"]):
    """Of operations by name: whether a recipe can make such a call; None where it does not matter that it cannot."""

    def __init__(self) -> None:
        for family, row in catalog.walk():
            in_recipes = Surface.RECIPE in row.surfaces
            self[f"{family.name}.{row.name}"] = in_recipes or (None if row.effect is Effect.READ else False)

    def __missing__(self, operation: str) -> bool:
        return False  # of another version of hearth
