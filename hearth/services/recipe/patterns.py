"""What comes again and again in a long sequence of calls.

The sequence is one of small numbers, one for each kind of call; 0 is a break over which no pattern goes. All the
places where the sequence goes on alike lie side by side once the rests of it that begin at each place are sorted, so
one pass over neighbours has every pattern that cannot be made longer without losing an occurrence (the intervals of
the common prefixes of a suffix array: Abouelhoda, Kurtz and Ohlebusch, 2004). Of these the ones are chosen, one after
the other, that save most calls where no chosen one lies already.
"""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from heapq import heapify, heappop, heappush

MAX_LENGTH = 50
# Places looked at while patterns are chosen, for each place of the sequence: far more than sequences of calls need.
MAX_WORK = 64
_BREAK = "\0"
_UNBROKEN = re.compile("[^\0]+")


@dataclass(frozen=True, slots=True)
class Pattern:
    """Numbers that come one after the other at each of `starts`: places in the sequence, in order, which neither
    overlap nor belong to a pattern that saves more."""

    numbers: tuple[int, ...]
    starts: tuple[int, ...]

    @property
    def saved(self) -> int:
        """How many calls fewer there would be, were each occurrence a single one."""
        return (len(self.numbers) - 1) * len(self.starts)


@dataclass(frozen=True, slots=True)
class Patterns:
    """The patterns, those that save most first. `whole`: False where looking for them took too long to go on."""

    found: list[Pattern]
    whole: bool


def repeated(
    sequence: array[int], *, least: int, shortest: int, most: int, longest: int = MAX_LENGTH, work: int = MAX_WORK
) -> Patterns:
    """At most `most` patterns of `shortest` to `longest` numbers with at least `least` occurrences, both at least 2.

    A pattern that repeats itself, such as 1 2 1 2, is left out for the part that it repeats, unless that is shorter
    than `shortest`. Takes about 300 bytes a place.
    """
    text = _as_text(sequence, least)
    tree = _Suffixes(text, shortest, longest)
    # By most calls saved; of equals the shorter one, and then the one that sorts first.
    queue = [(-(length - 1) * (last - first + 1), length, first, last) for length, first, last in tree.repeats(least)]
    heapify(queue)
    covered = bytearray(len(text))
    left = work * len(text)
    found: list[Pattern] = []
    while queue and len(found) < most:
        _, length, first, last = heappop(queue)
        begin = tree.places[first]
        if _repeats_itself(text[begin : begin + length], shortest):
            continue
        if (left := left - (last - first + 1)) < 0:
            return Patterns(found, whole=False)
        starts = _apart(sorted(tree.places[first : last + 1]), length, covered)
        if len(starts) < least:
            continue
        # What a pattern saves only ever shrinks, so one that still saves as much as any other can is the best.
        now = (-(length - 1) * len(starts), length, first, last)
        if queue and queue[0] < now:
            heappush(queue, now)
            continue
        for place in starts:
            covered[place : place + length] = b"\1" * length
        found.append(Pattern(tuple(sequence[begin : begin + length]), tuple(starts)))
    return Patterns(found, whole=True)


def _as_text(sequence: array[int], least: int) -> str:
    """A character for each number that comes often enough to be in a pattern, a break for all others."""
    counts = Counter(sequence)
    counts.pop(0, None)
    frequent = sorted(number for number, count in counts.items() if count >= least)
    letters = dict.fromkeys(counts, _BREAK) | {number: chr(place) for place, number in enumerate(frequent, 1)}
    letters[0] = _BREAK
    return "".join(map(letters.__getitem__, sequence))


class _Suffixes:
    """The places of a text, sorted by how it goes on from there to the next break, at most `longest` characters."""

    def __init__(self, text: str, shortest: int, longest: int) -> None:
        self._text = text
        self._shortest = shortest
        starts: list[int] = []
        rests: list[str] = []
        for match in _UNBROKEN.finditer(text):
            begin, end = match.span()
            places = range(begin, end - shortest + 1)
            starts.extend(places)
            rests.extend(text[place : min(place + longest, end)] for place in places)
        order = sorted(range(len(starts)), key=rests.__getitem__)
        self.places = [starts[each] for each in order]
        self._rests = [rests[each] for each in order]

    def repeats(self, least: int) -> Iterator[tuple[int, int, int]]:
        """Each length at which `least` or more neighbours are alike and not all come after the same: with the first
        and the last of them."""
        # Of the intervals still open: length, first, and what all their places come after (None: various things).
        open_ones: list[tuple[int, int, str | None]] = []
        before = self._before(0) if self.places else None
        for last in range(len(self.places)):
            common = self._common(last)
            first = last
            after = before
            while open_ones and open_ones[-1][0] > common:
                length, first, inner = open_ones.pop()
                after = _both(inner, after)
                if after is None and last - first + 1 >= least:
                    yield length, first, last
            if common and (not open_ones or open_ones[-1][0] < common):
                open_ones.append((common, first, after))
            elif open_ones:
                length, begin, inner = open_ones[-1]
                open_ones[-1] = (length, begin, _both(inner, after))
            if last + 1 < len(self.places):
                before = self._before(last + 1)

    def _before(self, index: int) -> str | None:
        """The character that a place comes after; None at the beginning, which is like nothing else."""
        place = self.places[index]
        previous = self._text[place - 1] if place else _BREAK
        return None if previous == _BREAK else previous

    def _common(self, index: int) -> int:
        """How many characters a place and the next one have in common; 0 where that is too short, and at the end."""
        if index + 1 == len(self._rests):
            return 0
        one, other = self._rests[index], self._rests[index + 1]
        if one[: self._shortest] != other[: self._shortest]:
            return 0
        if other.startswith(one):
            return len(one)
        low, high = self._shortest, min(len(one), len(other))
        while low < high:
            middle = (low + high + 1) // 2
            if one[low:middle] == other[low:middle]:
                low = middle
            else:
                high = middle - 1
        return low


def _both(one: str | None, other: str | None) -> str | None:
    return one if one == other else None


def _repeats_itself(word: str, shortest: int) -> bool:
    """Whether a part of the word, repeated, is all of it and a shorter pattern that is long enough says the same."""
    length = len(word)
    for period in range(1, length // 2 + 1):
        if word[period:] == word[:-period]:
            enough = -(-shortest // period) * period
            return length != enough
    return False


def _apart(places: list[int], length: int, covered: bytearray) -> list[int]:
    """The most of the places at which `length` uncovered ones begin that do not overlap."""
    made = []
    free = 0
    for place in places:
        if place >= free and covered.find(1, place, place + length) < 0:
            made.append(place)
            free = place + length
    return made
