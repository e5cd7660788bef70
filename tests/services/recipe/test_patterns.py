"""What comes again and again in a sequence of calls."""

from __future__ import annotations

import tracemalloc
from array import array
from collections import Counter
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from hearth.services.recipe.patterns import repeated


def found(
    numbers: list[int], *, least: int = 3, shortest: int = 2, most: int = 10
) -> list[tuple[tuple[int, ...], int]]:
    patterns = repeated(array("l", numbers), least=least, shortest=shortest, most=most)
    assert patterns.whole
    return [(each.numbers, len(each.starts)) for each in patterns.found]


def test_a_sequence_done_three_times_is_one_pattern_and_none_of_its_parts() -> None:
    assert found([1, 2, 3, 9, 1, 2, 3, 8, 1, 2, 3]) == [((1, 2, 3), 3)]


def test_a_longer_pattern_that_is_done_less_often_leaves_the_shorter_one_what_it_does_not_cover() -> None:
    long, short = [1, 2, 3, 4, 5], [2, 3]
    numbers = [*long, 7, *long, 8, *long, 9, *short, 7, *short, 8, *short]
    assert found(numbers) == [((1, 2, 3, 4, 5), 3), ((2, 3), 3)]


def test_a_call_made_over_and_over_is_a_pattern_as_short_as_is_asked_for() -> None:
    assert found([1] * 6) == [((1, 1), 3)]
    assert found([1] * 12, shortest=4) == [((1, 1, 1, 1), 3)]


def test_what_goes_round_and_round_is_told_once() -> None:
    assert found([1, 2, 3] * 20) == [((1, 2, 3), 20)]


def test_nothing_goes_over_a_break() -> None:
    assert found([1, 0, 2] * 5) == [((2, 1), 4)]
    assert found([1, 0, 2, 0] * 5) == []
    assert found([1, 2, 0, 1, 2, 0, 1, 2]) == [((1, 2), 3)]


def test_what_comes_less_often_than_asked_for_is_no_pattern() -> None:
    assert found([1, 2, 0, 1, 2]) == []
    assert found([1, 2, 0, 1, 2], least=2) == [((1, 2), 2)]


def test_no_pattern_is_longer_than_a_recipe_may_be() -> None:
    numbers = [*range(1, 81), 0] * 3
    assert [len(pattern) for pattern, _ in found(numbers)] == [50]


def test_looking_ends_where_it_would_take_too_long() -> None:
    assert not repeated(array("l", [1, 2, 0] * 9), least=3, shortest=2, most=10, work=0).whole


numbers = st.lists(st.integers(0, 3), max_size=40)


@given(numbers, st.integers(2, 4), st.integers(2, 4), st.integers(2, 6))
def test_patterns_are_those_that_trying_every_part_of_the_sequence_finds(
    sequence: list[int], least: int, shortest: int, longest: int
) -> None:
    longest = max(longest, shortest)
    patterns = repeated(array("l", sequence), least=least, shortest=shortest, most=4, longest=longest, work=1_000)
    assert [(each.numbers, list(each.starts)) for each in patterns.found] == by_trying(
        sequence, least, shortest, longest, 4
    )


@given(numbers, st.integers(2, 4))
def test_no_call_is_part_of_two_occurrences(sequence: list[int], least: int) -> None:
    patterns = repeated(array("l", sequence), least=least, shortest=2, most=10)
    spans = sorted((start, start + len(each.numbers)) for each in patterns.found for start in each.starts)
    assert all(end <= begin for (_, end), (begin, _) in pairwise(spans))
    for each in patterns.found:
        assert len(each.starts) >= least
        assert all(tuple(sequence[start : start + len(each.numbers)]) == each.numbers for start in each.starts)


def test_twenty_thousand_calls_need_less_than_twelve_megabytes() -> None:
    numbers = array("l", (n * n % 1_009 % 61 + (n % 7 == 0) for n in range(20_000)))
    tracemalloc.start()
    try:
        assert repeated(numbers, least=3, shortest=2, most=10).found
        assert tracemalloc.get_traced_memory()[1] < 12 * 2**20
    finally:
        tracemalloc.stop()


def by_trying(
    sequence: list[int], least: int, shortest: int, longest: int, most: int
) -> list[tuple[tuple[int, ...], list[int]]]:
    counts = Counter(sequence)
    sequence = [number if counts[number] >= least else 0 for number in sequence]
    places: dict[tuple[int, ...], list[int]] = {}
    for start in range(len(sequence)):
        for end in range(start + shortest, min(start + longest, len(sequence)) + 1):
            word = tuple(sequence[start:end])
            if 0 not in word:
                places.setdefault(word, []).append(start)

    def grows(word: tuple[int, ...], step: int) -> bool:
        """Whether all places have the same number before (-1) or behind (the length) them."""
        beside = {sequence[at + step] if 0 <= at + step < len(sequence) else 0 for at in places[word]}
        return len(beside) == 1 and beside != {0}

    words = [
        word
        for word, starts in places.items()
        if len(starts) >= least
        and not grows(word, -1)
        and (len(word) == longest or not grows(word, len(word)))
        and not unit_says_the_same(word, shortest)
    ]
    covered: set[int] = set()
    chosen: list[tuple[tuple[int, ...], list[int]]] = []
    while len(chosen) < most:
        best = min(
            (
                (-(len(word) - 1) * len(starts), len(word), word, starts)
                for word in words
                if len(starts := apart(places[word], len(word), covered)) >= least
            ),
            default=None,
        )
        if best is None:
            break
        _, length, word, starts = best
        chosen.append((word, starts))
        covered |= {at + step for at in starts for step in range(length)}
    return chosen


def unit_says_the_same(word: tuple[int, ...], shortest: int) -> bool:
    for period in range(1, len(word) // 2 + 1):
        if all(word[at] == word[at - period] for at in range(period, len(word))):
            enough = period
            while enough < shortest:
                enough += period
            return len(word) != enough
    return False


def apart(starts: list[int], length: int, covered: set[int]) -> list[int]:
    made: list[int] = []
    for start in starts:
        if covered.isdisjoint(range(start, start + length)) and (not made or start >= made[-1] + length):
            made.append(start)
    return made
