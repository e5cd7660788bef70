from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hearth.configuration import edit
from hearth.configuration.load import Flags, load
from hearth.platforms.local import local_host

Hearth = Callable[..., Any]


def test_set_writes_the_users_file_where_there_is_no_project(hearth: Hearth, user_file: Path) -> None:
    done = hearth("config", "set", "fs.sync", "false", "--json")
    assert (done.status, done.json["value"], done.json["origin"]) == (0, False, str(user_file))
    assert hearth("config", "get", "fs.sync").out == "false\n"


def test_set_writes_the_nearest_projects_file(hearth: Hearth, work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (work / "hearth.toml").write_bytes(b"")
    (work / "sub").mkdir()
    monkeypatch.chdir(work / "sub")
    assert hearth("config", "set", "max_output_bytes", "2000").status == 0
    assert (work / "hearth.toml").read_text("utf-8") == "max_output_bytes = 2000\n"


def test_set_for_the_project_makes_a_file_that_is_trusted(hearth: Hearth, work: Path) -> None:
    assert hearth("config", "set", "fs.sync", "false", "--project", "--json").json["note"] is None
    assert hearth("config", "set", "secrets.on_persist", "redact", "--json").json["value"] == "redact"
    assert hearth("config", "path", "--json").json["data_dir"] == str(work / ".hearth")


def test_set_in_an_untrusted_file_says_that_it_is_not_in_force(hearth: Hearth, work: Path) -> None:
    (work / "hearth.toml").write_text("# from a clone\n", "utf-8")
    done = hearth("config", "set", "fs.sync", "false", "--json")
    assert (done.status, done.json["value"]) == (0, True)
    assert "is not trusted" in done.json["note"]


def test_set_below_another_layer_says_which_one_wins(hearth: Hearth, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEARTH_FS_SYNC", "true")
    assert hearth("config", "set", "fs.sync", "false", "--json").json["note"] == "HEARTH_FS_SYNC goes before this file"


def test_comments_order_and_line_ends_stay(hearth: Hearth, work: Path) -> None:
    file = work / "x.toml"
    file.write_bytes(b"\xef\xbb\xbf# mine\r\nmax_output_bytes = 2000 # small\r\n\r\n[fs] # files\r\nsync = true\r\n")
    for key, value in (("fs.sync", "false"), ("command_timeout_ms", "5"), ("fs.lock_timeout_ms", "7")):
        assert hearth("config", "set", key, value, "--config", "x.toml").status == 0
    assert file.read_bytes() == (
        b"\xef\xbb\xbf# mine\r\nmax_output_bytes = 2000 # small\r\ncommand_timeout_ms = 5\r\n\r\n"
        b"[fs] # files\r\nsync = false\r\nlock_timeout_ms = 7\r\n"
    )


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("max_output_bytes", "12", "must be 1024 or more"),
        ("max_output_bytes", "many", "must be a whole number"),
        ("fs.sync", "yes", "must be true or false"),
        ("fs.hard_links", "both", "must be one of report, in_place"),
        ("fs.sink", "true", "did you mean fs.sync?"),
        ("fs", "true", "is not a setting"),
    ],
)
def test_a_wrong_value_is_refused_and_nothing_written(
    hearth: Hearth, user_file: Path, key: str, value: str, message: str
) -> None:
    done = hearth("config", "set", key, value, "--json")
    assert done.status == 2
    assert message in done.json["error"]["message"]
    assert not user_file.exists()


def test_a_file_that_is_no_toml_is_left_as_it_is(hearth: Hearth, user_file: Path) -> None:
    user_file.write_bytes(b"x = [\n")
    done = hearth("config", "set", "fs.sync", "false", "--json")
    assert (done.status, done.json["error"]["code"]) == (2, "invalid_setting")
    assert user_file.read_bytes() == b"x = [\n"


def test_a_json_file_is_not_changed(hearth: Hearth, work: Path) -> None:
    (work / "x.json").write_text("{}", "utf-8")
    assert hearth("config", "set", "fs.sync", "false", "--config", "x.json").status == 2


def test_user_and_project_together_are_refused(hearth: Hearth) -> None:
    assert hearth("config", "set", "fs.sync", "false", "--user", "--project").status == 2


def test_a_relative_data_directory_is_seen_from_the_shell(hearth: Hearth, work: Path) -> None:
    assert hearth("config", "set", "data_dir", "d", "--user", "--json").json["value"] == str(work / "d")


def test_unset_brings_the_default_back(hearth: Hearth, user_file: Path) -> None:
    user_file.write_text("# keep\n[fs]\nsync = false\n", "utf-8")
    done = hearth("config", "unset", "fs.sync", "--json")
    assert (done.status, done.json["value"], done.json["origin"]) == (0, True, "default")
    assert user_file.read_text("utf-8") == "# keep\n[fs]\n"


def test_unset_takes_out_a_wrong_key_too(hearth: Hearth, user_file: Path) -> None:
    user_file.write_text("nonsense = 1\n", "utf-8")
    assert hearth("config", "unset", "nonsense").status == 0
    assert hearth("config", "check").status == 0


def test_unset_of_what_is_not_set_is_not_found(hearth: Hearth) -> None:
    assert hearth("config", "unset", "fs.sync", "--json").status == 4


def test_parallel_changes_lose_nothing(work: Path, user_file: Path) -> None:
    host = local_host()
    config = load(host, {}, str(work), Flags())
    file = edit.target(config, user=True, project=False)
    numbers = {"max_output_bytes": 2000, "command_timeout_ms": 7, "fs.lock_timeout_ms": 8, "worker.idle_exit_s": 9}
    threads = [threading.Thread(target=edit.put, args=(config, file, *item)) for item in numbers.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(5)
    assert set(load(host, {}, str(work), Flags()).origins) == set(numbers)
    assert [path.name for path in user_file.parent.iterdir() if path.suffix == ".tmp"] == []


def test_a_file_that_is_none_is_named(hearth: Hearth, work: Path) -> None:
    (work / "hearth.toml").mkdir()
    done = hearth("config", "set", "fs.sync", "false", "--project", "--json")
    assert done.status == 2
    assert done.json["error"]["message"] == f"{work / 'hearth.toml'} is no regular file"
