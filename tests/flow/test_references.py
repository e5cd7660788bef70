"""What flows between calls is data, and what only looks like a reference is told."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hearth.errors import InvalidInput
from hearth.flow import references
from hearth.flow.references import RECIPE, SCATTER, UNKNOWN, Kind, Reference

VALUES = {"target": "release", "jobs": 4, "deep": {"list": [1, {"x": True}]}}
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_characters="$")),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters(exclude_characters="$")), inner),
)


def look_up(reference: Reference) -> Any:
    return VALUES.get(str(reference.name), UNKNOWN)


def resolved(value: Any) -> Any:
    return references.resolve(value, RECIPE, look_up).value


def refused(value: Any, code: str, dialect: references.Dialect = RECIPE) -> str:
    with pytest.raises(InvalidInput) as caught:
        references.resolve(value, dialect, look_up)
    (problem,) = caught.value.problems
    assert problem.code == code
    return f"{problem.field}: {problem.message}"


@given(PLAIN)
def test_what_holds_no_reference_stays_as_it_is(value: Any) -> None:
    assert references.resolve(value, RECIPE, look_up) == references.Resolved(value)


def test_names_in_texts_are_replaced_and_a_doubled_dollar_is_a_literal() -> None:
    assert resolved("out/${target}-${jobs}") == "out/release-4"
    assert resolved("$${target} costs 5$") == "${target} costs 5$"
    assert resolved(["a", {"b": "${target}"}]) == ["a", {"b": "release"}]


def test_a_value_that_is_put_in_is_never_read_again() -> None:
    made = references.resolve("${x}", RECIPE, lambda _: "${target}; rm -rf /").value
    assert made == "${target}; rm -rf /"


def test_an_exact_value_keeps_its_type() -> None:
    assert resolved({"$param": "jobs"}) == 4
    assert resolved({"$param": "deep", "$path": "list.1.x"}) is True


def test_a_path_that_leads_nowhere_says_what_there_is() -> None:
    assert "there is list" in refused({"$param": "deep", "$path": "lost"}, "path_not_found")
    assert "list of 2" in refused({"$param": "deep", "$path": "list.2"}, "path_not_found")
    refused({"$param": "deep", "$path": "list.-1"}, "path_not_found")
    refused({"$param": "deep", "$path": "list.01"}, "path_not_found")
    refused({"$param": "target", "$path": "upper"}, "path_not_found")


@pytest.mark.parametrize("part", ["__proto__", "prototype", "constructor"])
def test_the_machinery_of_objects_is_no_part_of_a_path(part: str) -> None:
    refused({"$param": "deep", "$path": f"list.{part}"}, "unsafe_path")


def test_paths_are_bounded() -> None:
    refused({"$param": "deep", "$path": "a..b"}, "wrong_form")
    refused({"$param": "deep", "$path": ".".join("x" * 33)}, "too_long")
    refused({"$param": "deep", "$path": 5}, "wrong_type")


@pytest.mark.parametrize(
    "value",
    [
        {"$param": "jobs", "more": 1},
        {"$path": "a"},
        {"$param": "a", "$step": "b"},
        "${",
        "${}",
        "${a b}",
        "${target.x}",
    ],
)
def test_what_only_looks_like_a_reference_is_refused(value: Any) -> None:
    refused(value, "wrong_reference")


def test_a_scatter_has_only_futures_and_leaves_texts_alone() -> None:
    refused({"$param": "jobs"}, "wrong_reference", SCATTER)
    found = list(references.find({"a": ["${x}", {"$future": 0, "$path": "result.path"}]}, SCATTER))
    assert found == [("a.1", Reference(Kind.FUTURE, 0, ("result", "path")))]


def test_what_is_not_known_yet_is_null_and_named() -> None:
    made = references.resolve({"path": {"$step": "x"}, "lines": ["${later}", "${target}"]}, RECIPE, look_up)
    assert made.value == {"path": None, "lines": ["${later}", "release"]}
    assert made.unknown == ("path", "lines.0")


def test_an_object_cannot_stand_inside_a_text() -> None:
    refused("a ${deep} b", "wrong_type")


def test_an_input_that_is_too_deep_is_refused() -> None:
    value: Any = 1
    for _ in range(100):
        value = [value]
    refused(value, "too_deep")


def test_a_call_that_failed_still_has_a_state_and_an_error() -> None:
    document = {"version": 1, "state": "blocked", "error": {"code": "not_found"}}
    assert references.outcome(document) == {
        "state": "blocked",
        "result": {"state": "blocked"},
        "error": {"code": "not_found"},
    }
