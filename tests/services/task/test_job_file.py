from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.services.task.conftest import Run


def submitted(hearth: Run, *words: str, stdin: bytes = b"") -> Any:
    done = hearth("task", "submit", "--no-start", "--json", "--file", *words, stdin=stdin)
    assert done.status == 0, done
    return done.json["jobs"]


def problems(hearth: Run, work: Path, text: str | bytes) -> list[tuple[str, str]]:
    data = text if isinstance(text, bytes) else text.encode()
    (work / "jobs").write_bytes(data)
    done = hearth("task", "submit", "--no-start", "--json", "--file", "jobs")
    assert done.status == 2, done
    assert hearth("task", "list", "--json").json["jobs"] == []
    return [(each["field"], each["code"]) for each in done.json["error"]["details"]["problems"]]


TOML = """
[defaults]
group = "night"
timeout_ms = 500

[[jobs]]
command = "make"
args = ["all"]

[[jobs]]
command = "make"
args = ["package"]
group = "day"
run_at = 2999-01-31T12:00:00+02:00
dependencies = [{ index = 0 }]
"""


def test_tables_of_toml_are_jobs_with_what_defaults_say(hearth: Run, work: Path) -> None:
    (work / "jobs.toml").write_text(TOML, encoding="utf-8")
    first, second = submitted(hearth, "jobs.toml")
    assert [(job["state"], job["title"]) for job in (first, second)] == [
        ("queued", "make all"), ("waiting", "make package"),
    ]  # fmt: skip
    told = hearth("task", "get", second["id"], "--json").json
    assert (told["job"]["group"], told["job"]["due_at"]) == ("day", "2999-01-31T10:00:00.000Z")
    assert told["timeout_ms"] == 500
    assert told["job"]["dependencies"] == [{"job": first["id"], "on": "success", "met": False}]
    assert hearth("task", "get", first["id"], "--json").json["job"]["group"] == "night"


@pytest.mark.parametrize("wrap", [lambda jobs: jobs, lambda jobs: {"jobs": jobs}], ids=["list", "object"])
def test_json_is_read_from_standard_input_too(hearth: Run, wrap: Any) -> None:
    text = json.dumps(wrap([{"command": "true"}, {"command": "false"}]), indent=1)
    assert [job["title"] for job in submitted(hearth, "-", stdin=b"\xef\xbb\xbf" + text.encode())] == ["true", "false"]


def test_every_problem_is_told_with_its_place(hearth: Run, work: Path) -> None:
    jobs = [{"command": "true", "timeout_ms": 0}, {"args": []}, {"command": "x", "dependencies": [{"on": "maybe"}]}]
    assert problems(hearth, work, json.dumps(jobs)) == [
        ("jobs.0.timeout_ms", "too_small"),
        ("jobs.1.command", "missing"),
        ("jobs.2.dependencies.0.on", "not_one_of"),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[jobs]]\ncommand =", ("file", "not_toml")),
        ('{"jobs": [}', ("", "not_json")),
        ("", ("jobs", "wrong_type")),
        ("[]", ("jobs", "wrong_count")),
        ("[[jobs]]\ncommand = 'x'\nrun_at = 2026-01-01T00:00:00", ("jobs.0.run_at", "wrong_form")),
        ("[[jobs]]\ncommand = 'x'\nrun_at = 2026-01-01", ("jobs.0.run_at", "wrong_form")),
        ("jobs = 3", ("jobs", "wrong_type")),
        ("defaults = 3\n[[jobs]]\ncommand = 'x'", ("defaults", "wrong_type")),
        ("job = 3\n[[jobs]]\ncommand = 'x'", ("job", "unknown_field")),
        (json.dumps([{"command": "x"}] * 65), ("jobs", "wrong_count")),
        (b"\xff\xfe[", ("file", "wrong_encoding")),
    ],
)
def test_what_is_no_file_of_jobs_is_refused(
    hearth: Run, work: Path, text: str | bytes, expected: tuple[str, str]
) -> None:
    assert problems(hearth, work, text) == [expected]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"command": "x"}', "command: is neither jobs nor defaults; jobs: must be a list of tables"),
        ("wait = true\n[[jobs]]\ncommand = 'x'", "wait: is neither jobs nor defaults"),
        ("[[jobs]]\ncommand = 'x'\n[[jobs]]\npriority = 1", "jobs.1.command: is required"),
        ('[{"command": "x", "dependencies": [{"job": "y"}]}]', "jobs.0.dependencies.0: there is no job y"),
    ],
)
def test_errors_in_a_file_are_told_in_the_words_of_the_file(hearth: Run, work: Path, text: str, told: str) -> None:
    (work / "jobs").write_text(text, encoding="utf-8")
    assert hearth("task", "submit", "--no-start", "--file", "jobs").err.splitlines()[0] == f"hearth: {told}"


def test_a_file_is_read_below_the_roots_only(hearth: Run, work: Path) -> None:
    (work.parent / "jobs").write_text("[]", encoding="utf-8")
    done = hearth("task", "submit", "--json", "--file", "../jobs")
    assert done.json["error"]["code"] == "outside_root"
    assert hearth("task", "submit", "--json", "--file", "missing").status == 4


def test_a_file_above_the_bound_is_refused(hearth: Run, work: Path) -> None:
    (work / "jobs").write_bytes(b"#" * (4 * 1024 * 1024 + 1))
    assert hearth("task", "submit", "--json", "--file", "jobs").json["error"]["code"] == "too_large"


@pytest.mark.parametrize("words", [("--group", "g"), ("--timeout", "1s")])
def test_options_of_one_job_do_not_go_with_a_file(hearth: Run, work: Path, words: tuple[str, ...]) -> None:
    (work / "jobs").write_text('[{"command": "true"}]', encoding="utf-8")
    done = hearth("task", "submit", "--no-start", *words, "--file", "jobs", "--json")
    assert (done.status, done.json["error"]["details"]["problems"][0]["code"]) == (2, "not_both")
