from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hearth.cli import app

Hearth = Callable[..., Any]


@pytest.mark.parametrize(
    "words",
    [
        ("--json", "fs", "stat", "."),
        ("fs", "--json", "stat", "."),
        ("fs", "stat", "--json", "."),
        ("fs", "stat", ".", "--json"),
    ],
    ids=["before the family", "before the operation", "after it", "at the end"],
)
def test_a_global_option_stands_anywhere(hearth: Hearth, words: tuple[str, ...]) -> None:
    assert hearth(*words).json["state"] == "completed"


@pytest.mark.parametrize(
    "words",
    [("fs", "stat", "--nope", "--json"), ("--json", "nope"), ("fs", "nope", "--json"), ("fs", "stat", "--json")],
)
def test_wrong_words_are_told_in_json_wherever_json_was_asked_for(hearth: Hearth, words: tuple[str, ...]) -> None:
    done = hearth(*words)
    assert (done.status, done.json["state"], done.json["error"]["code"]) == (2, "blocked", "invalid_input")
    assert done.err == ""


def test_wrong_words_are_told_on_standard_error_to_a_person(hearth: Hearth) -> None:
    done = hearth("fs", "stat", "--nope")
    assert (done.status, done.out) == (2, "")
    assert "hearth fs stat --help" in done.err


def test_json_behind_two_hyphens_is_a_word_and_no_option(hearth: Hearth) -> None:
    done = hearth("fs", "stat", "--", "--json")
    assert (done.status, done.out) == (4, "")


@pytest.mark.parametrize("words", [(), ("-h",), ("--help",), ("fs", "-h"), ("fs", "stat", "-h"), ("call", "--help")])
def test_help_is_one_word_away(hearth: Hearth, words: tuple[str, ...]) -> None:
    done = hearth(*words)
    assert "Usage: hearth" in done.out + done.err


def test_quiet_prints_no_result_but_keeps_the_status_and_the_error(hearth: Hearth) -> None:
    assert hearth("fs", "stat", ".", "-q").out == ""
    done = hearth("fs", "stat", "nowhere", "-q")
    assert done.status == 4
    assert "nowhere" in done.err


def test_roots_and_data_directory_come_from_options(work: Path, hearth: Hearth) -> None:
    (work / "in").mkdir()
    assert hearth("fs", "stat", str(work), "--root", "in").status == 1
    assert hearth("fs", "stat", "in", "--root", "in", "--data-dir", "data").status == 0
    assert os.path.exists(work / "data" / "hearth.sqlite3")


def test_quiet_prints_no_json_either_but_the_error(hearth: Hearth) -> None:
    for form in ("--json", "--ndjson"):
        done = hearth("fs", "stat", ".", "--quiet", form)
        assert (done.status, done.out) == (0, "")
        done = hearth("fs", "stat", "nowhere", "--quiet", form)
        assert (done.status, done.lines[0]["error"]["code"]) == (4, "not_found")


@pytest.mark.parametrize("name", ["--data-dir", "--config", "--root", "--run", "--conversation"])
def test_an_empty_global_option_is_refused(hearth: Hearth, name: str) -> None:
    done = hearth("fs", "stat", ".", name, "")
    assert (done.status, done.err) == (2, f"hearth: {name}: must not be empty\n")


def test_lines_of_json_hold_no_bare_content(work: Path, hearth: Hearth) -> None:
    (work / "a").write_bytes(b"text\n")
    assert hearth("config", "get", "fs.sync", "--ndjson").lines[0]["value"] is True
    assert hearth("fs", "read", "a", "--ndjson").lines[0]["data"] == "text\n"


def test_a_bug_at_the_edge_names_the_file_with_its_traceback(
    hearth: Hearth, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def broken() -> Any:
        raise ZeroDivisionError("seven")

    monkeypatch.setattr(app, "build_app", broken)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    done = hearth("--json")
    assert (done.status, done.json["error"]["code"]) == (70, "internal_error")
    assert "ZeroDivisionError: seven" in Path(done.json["error"]["details"]["file"]).read_text("utf-8")


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("fs rm x", "delete"),
        ("fs cat x", "read"),
        ("fs serach x", "search"),
        ("stat x", "hearth fs stat"),
        ("docter", "doctor"),
    ],
)
def test_a_wrong_command_is_told_the_one_that_was_probably_meant(hearth: Hearth, words: str, meant: str) -> None:
    done = hearth(*words.split())
    assert done.status == 2
    assert f"; did you mean {meant}?" in done.err
