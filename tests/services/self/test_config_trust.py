from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

Hearth = Callable[..., Any]


def test_trust_puts_the_projects_settings_in_force(hearth: Hearth, work: Path) -> None:
    file = work / "hearth.toml"
    file.write_bytes(b"max_output_bytes = 99999\n[fs]\nsync = false\n")
    assert hearth("config", "get", "fs.sync").out == "true\n"
    done = hearth("config", "trust", "--json").json
    assert done["sha256"] == sha256(file.read_bytes()).hexdigest()
    assert done["settings"] == ["max_output_bytes", "fs.sync"]
    assert hearth("config", "get", "fs.sync").out == "false\n"


def test_trust_ends_with_a_change_of_the_file(hearth: Hearth, work: Path) -> None:
    file = work / "hearth.toml"
    file.write_bytes(b"[fs]\nsync = false\n")
    hearth("config", "trust")
    file.write_bytes(b"[fs]\nsync = false\nhard_links = 'in_place'\n")
    assert hearth("config", "get", "fs.sync").out == "true\n"


def test_trust_can_be_taken_back(hearth: Hearth, work: Path) -> None:
    (work / "hearth.toml").write_bytes(b"[fs]\nsync = false\n")
    hearth("config", "trust")
    assert hearth("config", "trust", "--revoke", "--json").json["trusted"] is False
    assert hearth("config", "get", "fs.sync").out == "true\n"
    assert hearth("config", "trust", "--revoke").status == 4


def test_trust_without_a_project_is_not_found(hearth: Hearth) -> None:
    assert hearth("config", "trust").status == 4


def test_a_file_can_be_named(hearth: Hearth, work: Path) -> None:
    (work / "sub").mkdir()
    (work / "sub" / "hearth.toml").write_bytes(b"")
    assert hearth("config", "trust", "sub/hearth.toml").status == 0
    assert hearth("config", "trust", "sub/none.toml", "--json").json["error"]["code"] == "invalid_setting"
