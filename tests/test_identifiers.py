from __future__ import annotations

from hearth import identifiers


def test_a_ulid_has_the_form_of_its_specification() -> None:
    # The example of https://github.com/ulid/spec: 01ARZ3NDEKTSV4RRFFQ69G5FAV begins with this time.
    assert identifiers.ulid(1_469_922_850_259)[:10] == "01arz3ndek"
    assert len(identifiers.ulid(0)) == 26


def test_identifiers_sort_by_their_time() -> None:
    made = [identifiers.new("rec", milliseconds) for milliseconds in (0, 1, 1_000, 1_700_000_000_000, (1 << 48) - 1)]
    assert made == sorted(made)


def test_identifiers_of_one_moment_differ() -> None:
    assert len({identifiers.new("rec", 1) for _ in range(1_000)}) == 1_000
