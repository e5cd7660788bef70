"""machine.env: the variables that programs get."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hearth.variables import EnvPolicy, variables
from tests.marks import WINDOWS

Hearth = Callable[..., Any]


@pytest.fixture(autouse=True)
def own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GREETING", "hello")
    monkeypatch.setenv("SERVICE_PASSWORD", "hunter2hunter2")
    monkeypatch.setenv("SERVICE_URL", "https://me:hunter2hunter2@example.org/")


def test_names_are_listed_and_values_only_on_request(hearth: Hearth) -> None:
    (plain,) = hearth("machine", "env", "GREETING", "--json").json["variables"]
    (told,) = hearth("machine", "env", "GREETING", "--values", "--json").json["variables"]
    assert (plain, told["value"]) == ({"name": "GREETING", "value": None, "withheld": False}, "hello")


def test_secrets_are_marked_and_never_told(hearth: Hearth) -> None:
    done = hearth("machine", "env", "--values", "--json")
    found = {each["name"]: each for each in done.json["variables"]}
    assert found["SERVICE_PASSWORD"] == {"name": "SERVICE_PASSWORD", "value": "[redacted]", "withheld": True}
    assert found["SERVICE_URL"]["withheld"]
    assert "hunter2" not in done.out


def test_a_name_that_no_variable_has_is_told(hearth: Hearth) -> None:
    several = hearth("machine", "env", "GREETING", "NO_SUCH_NAME", "--json")
    assert (several.status, several.json["state"]) == (1, "partial")
    assert [each["name"] for each in several.json["variables"]] == ["GREETING"]
    assert [(each["name"], each["code"]) for each in several.json["errors"]] == [("NO_SUCH_NAME", "not_found")]
    alone = hearth("machine", "env", "NO_SUCH_NAME")
    assert (alone.status, "NO_SUCH_NAME" in alone.err) == (4, True)


@pytest.mark.skipif(not WINDOWS, reason="names of Windows have no case")
def test_a_name_is_found_in_any_case_on_windows(hearth: Hearth) -> None:
    assert hearth("machine", "env", "greeting", "--json").json["variables"][0]["name"].upper() == "GREETING"


def test_a_policy_shows_what_it_would_give(hearth: Hearth) -> None:
    shown = hearth("machine", "env", "--env-policy", "explicit", "--json").json["variables"]
    # Without this one, programs of Windows don't find its libraries.
    assert [each["name"] for each in shown] == (["SYSTEMROOT"] if sys.platform == "win32" else [])


NAMES = st.text("ABc_", min_size=1, max_size=4)
TABLES = st.dictionaries(NAMES, st.text("ab1", max_size=4), max_size=5)


@given(st.sampled_from(list(EnvPolicy)), TABLES, TABLES)
def test_what_a_call_names_always_arrives(policy: EnvPolicy, inherited: dict[str, str], named: dict[str, str]) -> None:
    values = variables(policy, inherited, named).values
    assert named.items() <= values.items()
    assert values.items() - named.items() <= inherited.items()


def test_names_of_windows_have_no_case() -> None:
    inherited = {"PATH": "a", "SYSTEMROOT": "b"}
    made = variables(EnvPolicy.INHERIT, inherited, {"Path": "c"}, windows=True)
    assert made.values == {"PATH": "c", "SYSTEMROOT": "b"}
    assert variables(EnvPolicy.EXPLICIT, inherited, {}, windows=True).values == {"SYSTEMROOT": "b"}
