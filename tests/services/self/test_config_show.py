from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hearth.configuration import keys
from hearth.plain import plain
from hearth.settings import Settings

Hearth = Callable[..., Any]


def test_every_setting_is_shown(hearth: Hearth) -> None:
    rows = hearth("config", "show", "--json").json["settings"]
    assert [row["key"] for row in rows] == list(keys.fields())
    assert all(row["value"] == plain(keys.value_of(Settings(), row["key"])) for row in rows if row["key"] != "data_dir")


def test_each_value_says_where_it_stands(hearth: Hearth, user_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    user_file.write_text("max_output_bytes = 9000\n[fs]\nsync = false\n", "utf-8")
    monkeypatch.setenv("HEARTH_FS_SYNC", "true")
    done = hearth("config", "show", "--origin", "--data-dir", "d", "--json")
    origins = {row["key"]: row["origin"] for row in done.json["settings"]}
    assert origins["max_output_bytes"] == str(user_file)
    assert origins["fs.sync"] == "HEARTH_FS_SYNC"
    assert origins["data_dir"] == "--data-dir"
    assert origins["fs.hard_links"] == "default"


def test_a_value_is_shown_as_config_set_takes_it(hearth: Hearth) -> None:
    assert "fs.sync\ttrue" in [line.rstrip("\t") for line in hearth("config", "show").out.splitlines()]


def test_wrong_settings_are_shown_with_their_defaults(hearth: Hearth, work: Path) -> None:
    (work / "hearth.toml").write_text("max_output_bytes = 3\nnonsense = 1\n", "utf-8")
    done = hearth("config", "show", "--json")
    assert done.status == 0
    assert next(row["value"] for row in done.json["settings"] if row["key"] == "max_output_bytes") == 65_536


def test_wrong_settings_are_told_beside_what_is_shown(hearth: Hearth, work: Path) -> None:
    (work / "hearth.toml").write_text("max_output_bytes = 3\nnonsense = 1\n", "utf-8")
    told = hearth("config", "show", "--json").err
    assert f"hearth: left out: {work / 'hearth.toml'}: max_output_bytes must be 1024 or more" in told
    assert "nonsense is not a setting" in told


def test_a_value_that_cannot_be_used_is_an_error_for_who_asks_for_it(
    hearth: Hearth, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEARTH_FS_SYNC", "maybe")
    done = hearth("config", "get", "fs.sync", "--json")
    assert (done.status, done.json["error"]["code"]) == (2, "invalid_setting")
    assert done.json["error"]["message"] == "HEARTH_FS_SYNC: fs.sync must be true or false"
    assert hearth("config", "get", "max_output_bytes").out == "65536\n"
    (work / "hearth.toml").write_text("x = [\n", "utf-8")
    assert hearth("config", "get", "max_output_bytes").status == 2


def test_other_commands_refuse_wrong_settings_by_file_and_key(hearth: Hearth, work: Path) -> None:
    (work / "hearth.toml").write_text("max_output_bytes = 3\nnonsense = 1\n", "utf-8")
    done = hearth("fs", "stat", ".", "--json")
    assert (done.status, done.json["error"]["code"]) == (2, "invalid_setting")
    problems = done.json["error"]["details"]["problems"]
    assert [(problem["where"], problem["key"]) for problem in problems] == [
        (str(work / "hearth.toml"), "max_output_bytes"),
        (str(work / "hearth.toml"), "nonsense"),
    ]


def test_what_is_left_out_is_told_in_one_notice(hearth: Hearth, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (work / "hearth.toml").write_text("data_dir = 'd'\nroots = ['/']\n", "utf-8")
    monkeypatch.setenv("HEARTH_TYPO", "1")
    done = hearth("fs", "stat", ".", "--json")
    assert done.status == 0
    assert done.err.count("is not trusted, so it may not set data_dir, roots") == 1
    assert "no such setting: HEARTH_TYPO" in done.err


def test_get_prints_the_bare_value(hearth: Hearth) -> None:
    assert hearth("config", "get", "fs.sync").out == "true\n"
    assert hearth("config", "get", "log").out == "\n"
    assert hearth("config", "get", "fs.hard_links", "--json").json["value"] == "report"


def test_get_of_an_unknown_key_suggests_one(hearth: Hearth) -> None:
    done = hearth("config", "get", "fs.sink", "--json")
    assert (done.status, done.json["error"]["code"]) == (2, "invalid_setting")
    assert "did you mean fs.sync?" in done.json["error"]["message"]


def test_path_names_the_files_and_the_data_directory(hearth: Hearth, work: Path, user_file: Path) -> None:
    (work / "hearth.toml").write_bytes(b"")
    done = hearth("config", "path", "--json").json
    assert [(file["layer"], file["path"], file["exists"], file["trusted"]) for file in done["files"]] == [
        ("user", str(user_file), False, True),
        ("project", str(work / "hearth.toml"), True, False),
    ]
    assert (done["data_dir"], done["data_dir_origin"]) == (str(work / ".hearth"), str(work / "hearth.toml"))


def test_check_finds_what_is_wrong_and_fails(hearth: Hearth, work: Path) -> None:
    (work / "hearth.toml").write_text("max_output_bytes = 3\nlog = 'debug'\n", "utf-8")
    done = hearth("config", "check", "--json")
    assert (done.status, done.json["state"]) == (1, "failed")
    assert [(each["key"], each["code"]) for each in done.json["problems"]] == [("max_output_bytes", "too_small")]
    assert [each["key"] for each in done.json["ignored"]] == ["log"]


def test_check_of_good_settings_completes(hearth: Hearth) -> None:
    assert hearth("config", "check").status == 0
