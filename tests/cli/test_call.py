from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Hearth = Callable[..., Any]


def test_call_answers_as_the_command_does_with_json(work: Path, hearth: Hearth) -> None:
    (work / "a.txt").write_bytes(b"hello")
    called = hearth("call", "fs.stat", '{"path": "a.txt"}')
    assert (called.status, called.json) == (0, hearth("fs", "stat", "a.txt", "--json").json)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_call_reads_its_input_from_a_file_in_any_unicode(work: Path, hearth: Hearth, encoding: str) -> None:
    (work / "given.json").write_text('{"path": "given.json"}', encoding)
    assert hearth("call", "fs.stat", "@given.json").json["kind"] == "file"


def test_call_reads_its_input_from_standard_input(work: Path, hearth: Hearth) -> None:
    assert hearth("call", "fs.stat", "-", stdin=b'\xef\xbb\xbf{"path": "."}').json["path"] == str(work)


def test_call_answers_a_wrong_input_in_json_with_the_field(hearth: Hearth) -> None:
    done = hearth("call", "fs.stat", '{"path": "a", "pth": 1}')
    assert done.status == 2
    assert done.json["error"]["details"]["problems"] == [
        {"field": "pth", "code": "unknown_field", "message": "is not a field; did you mean path?"}
    ]


@pytest.mark.parametrize(
    ("replacements", "told"),
    [
        ("x", ["replacements: must be a list"]),
        ({"old": "a"}, ["replacements: must be a list"]),
        (["x"], ["replacements.0: must be an object"]),
        ([5, {"old": "a", "new": "b"}], ["replacements.0: must be an object"]),
    ],
)
def test_a_list_of_objects_that_is_none_is_told_in_hearths_own_words(
    hearth: Hearth, replacements: Any, told: list[str]
) -> None:
    done = hearth("call", "fs.patch", json.dumps({"path": "a", "replacements": replacements}))
    problems = done.json["error"]["details"]["problems"]
    assert done.status == 2
    assert [f"{each['field']}: {each['message']}" for each in problems] == told


def test_json_whose_quotes_a_shell_ate_is_told_the_way_around(hearth: Hearth) -> None:
    done = hearth("call", "fs.stat", "{path: a.txt}")
    assert done.status == 2
    assert "@input.json" in done.json["error"]["hint"]
    assert "(-)" in done.json["error"]["hint"]


@pytest.mark.parametrize("text", ["NaN", '{"path": Infinity}', "[" * 100_000, "9" * 5_000, ""])
def test_what_is_no_json_is_refused_and_is_no_bug(hearth: Hearth, text: str) -> None:
    done = hearth("call", "fs.stat", text)
    assert (done.status, done.json["error"]["code"]) == (2, "invalid_input")


def test_an_input_file_that_is_missing_is_named(hearth: Hearth) -> None:
    done = hearth("call", "fs.stat", "@nowhere.json")
    assert done.status == 2
    assert "nowhere.json" in done.json["error"]["message"]


def test_call_without_an_operation_points_to_the_list(hearth: Hearth) -> None:
    done = hearth("call")
    assert done.status == 2
    assert "hearth operations" in done.err


def test_call_keeps_the_status_of_the_operation(hearth: Hearth) -> None:
    assert hearth("call", "fs.stat", json.dumps({"path": "nowhere"})).status == 4


def test_null_means_absent_for_an_optional_field(hearth: Hearth) -> None:
    assert hearth("call", "fs.stat", '{"path": ".", "follow": null}').status == 0


def test_call_gives_ndjson_when_asked(hearth: Hearth) -> None:
    assert len(hearth("call", "fs.stat", '{"path": "."}', "--ndjson").lines) == 1
