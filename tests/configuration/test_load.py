from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import hearth
from hearth.configuration import trust
from hearth.platforms.local import local_host
from hearth.settings import HardLinks, LogLevel, Settings
from tests.configuration.conftest import Load
from tests.conftest import Done


def problems(configured: Load, text: str, name: str = "x.toml", **more: object) -> list[tuple[str, str]]:
    Path(name).write_text(text, "utf-8")
    found = configured({"HEARTH_CONFIG": name}, **more).problems
    return [(each.key, each.code) for each in found]


def test_without_files_everything_has_its_default(configured: Load) -> None:
    made = configured()
    assert made.settings == Settings()
    assert made.origins == {}


def test_each_layer_wins_over_the_one_before(configured: Load, work: Path, user_file: Path) -> None:
    user_file.write_text("max_output_bytes = 9000\ncommand_timeout_ms = 900\n[fs]\nlock_timeout_ms = 90\n", "utf-8")
    assert configured().settings.max_output_bytes == 9000
    (work / "hearth.toml").write_text("max_output_bytes = 8000\ncommand_timeout_ms = 800\n", "utf-8")
    assert configured().settings.max_output_bytes == 8000
    (work / "named.toml").write_text("max_output_bytes = 7000\n", "utf-8")
    environ = {"HEARTH_CONFIG": "named.toml"}
    assert configured(environ).settings.max_output_bytes == 7000
    environ["HEARTH_MAX_OUTPUT_BYTES"] = "6000"
    made = configured(environ)
    assert (made.settings.max_output_bytes, made.settings.command_timeout_ms) == (6000, 800)
    assert made.settings.fs.lock_timeout_ms == 90
    assert made.origins == {
        "max_output_bytes": "HEARTH_MAX_OUTPUT_BYTES",
        "command_timeout_ms": str(work / "hearth.toml"),
        "fs.lock_timeout_ms": str(user_file),
    }


def test_a_flag_wins_over_all(configured: Load, work: Path) -> None:
    made = configured({"HEARTH_DATA_DIR": "env", "HEARTH_ROOTS": "env"}, data_dir="flag", roots=("flag",), verbose=True)
    assert made.data_dir == str(work / "flag")
    assert [root.path for root in made.settings.roots] == [str(work / "flag")]
    assert made.settings.log is LogLevel.DEBUG
    assert made.origins == {"data_dir": "--data-dir", "roots": "--root", "log": "--verbose"}


def test_a_file_given_by_flag_replaces_the_three_files(configured: Load, work: Path, user_file: Path) -> None:
    user_file.write_text("max_output_bytes = 9000\n", "utf-8")
    (work / "hearth.toml").write_text("command_timeout_ms = 800\n", "utf-8")
    (work / "named.toml").write_text("[fs]\nsync = false\n", "utf-8")
    (work / "only.toml").write_text("[fs]\nlock_timeout_ms = 1\n", "utf-8")
    made = configured({"HEARTH_CONFIG": "named.toml"}, config="only.toml")
    assert made.origins == {"fs.lock_timeout_ms": str(work / "only.toml")}


def test_the_nearest_project_file_counts(configured: Load, work: Path) -> None:
    (work / "a" / "b").mkdir(parents=True)
    (work / "hearth.toml").write_text("max_output_bytes = 8000\n", "utf-8")
    (work / "a" / "hearth.toml").write_text("max_output_bytes = 7000\n", "utf-8")
    assert configured(here=work / "a" / "b").settings.max_output_bytes == 7000


def test_json_is_read_only_where_the_name_says_so(configured: Load) -> None:
    assert problems(configured, '{"fs": {"sync": false}}', "x.json") == []
    assert problems(configured, '{"fs": {"sync": false}}', "x.toml") == [("", "not_toml")]


def test_a_byte_order_mark_is_skipped(configured: Load, work: Path) -> None:
    (work / "x.toml").write_bytes(b"\xef\xbb\xbfmax_output_bytes = 8000\r\n")
    assert configured({"HEARTH_CONFIG": "x.toml"}).settings.max_output_bytes == 8000


@pytest.mark.parametrize(
    ("text", "key", "code"),
    [
        ("max_output_byte = 2000", "max_output_byte", "unknown_key"),
        ("[fs]\nsynk = true", "fs.synk", "unknown_key"),
        ("[nothing]\nx = 1", "nothing", "unknown_key"),
        ("fs = 3", "fs", "unknown_key"),
        ('max_output_bytes = "2000"', "max_output_bytes", "wrong_type"),
        ("max_output_bytes = 2000.0", "max_output_bytes", "wrong_type"),
        ("max_output_bytes = true", "max_output_bytes", "wrong_type"),
        ("max_output_bytes = 12", "max_output_bytes", "too_small"),
        ("max_output_bytes = 99999999999", "max_output_bytes", "too_large"),
        ("[fs]\nsync = 1", "fs.sync", "wrong_type"),
        ('[fs]\nhard_links = "both"', "fs.hard_links", "not_one_of"),
        ('roots = "src"', "roots", "wrong_type"),
        ("roots = [3]", "roots", "wrong_type"),
        ("roots = [{read_only = true}]", "roots", "missing"),
        ('roots = [{path = "a", readonly = true}]', "roots", "unknown_field"),
        ('roots = [""]', "roots", "too_short"),
        ("data_dir = 2026-01-01", "data_dir", "wrong_type"),
        ('data_dir = "a\\u0000b"', "data_dir", "wrong_form"),
        ("x = ", "", "not_toml"),
    ],
)
def test_a_wrong_setting_is_named_with_its_key(configured: Load, text: str, key: str, code: str) -> None:
    assert problems(configured, text) == [(key, code)]


def test_a_misspelt_key_gets_a_suggestion(configured: Load, work: Path) -> None:
    (work / "x.toml").write_text("[retention]\nevent_days = 3\n[secrets]\nonpersist = 'redact'\nsync = true\n", "utf-8")
    messages = [str(problem) for problem in configured({"HEARTH_CONFIG": "x.toml"}).problems]
    assert [message.rpartition("; ")[2] for message in messages] == [
        "did you mean retention.events_days?",
        "did you mean secrets.on_persist?",
        "did you mean fs.sync?",
    ]
    assert messages[0].startswith(f"{work / 'x.toml'}: retention.event_days ")


def test_all_problems_are_found_at_once(configured: Load) -> None:
    assert len(problems(configured, "a = 1\nmax_output_bytes = 1\n[fs]\nsync = 'no'\n")) == 3


def test_a_named_file_that_is_missing_is_a_problem(configured: Load) -> None:
    assert [each.code for each in configured({"HEARTH_CONFIG": "none.toml"}).problems] == ["not_readable"]
    assert [each.code for each in configured(config="none.toml").problems] == ["not_readable"]


def test_a_file_that_is_not_utf_8_says_so(configured: Load, work: Path) -> None:
    (work / "x.toml").write_bytes("max_output_bytes = 8000\n".encode("utf-16"))
    assert [each.code for each in configured({"HEARTH_CONFIG": "x.toml"}).problems] == ["wrong_encoding"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no FIFOs in directories")
def test_a_fifo_is_refused_rather_than_waited_for(configured: Load, work: Path) -> None:
    os.mkfifo(work / "x.toml")
    assert [each.code for each in configured({"HEARTH_CONFIG": "x.toml"}).problems] == ["not_regular"]


def test_words_of_the_environment_are_exact(configured: Load) -> None:
    good = {"HEARTH_FS_SYNC": "false", "HEARTH_WORKER_IDLE_EXIT_S": "5", "HEARTH_FS_HARD_LINKS": "in_place"}
    made = configured(good).settings
    assert (made.fs.sync, made.worker.idle_exit_s, made.fs.hard_links) == (False, 5, HardLinks.IN_PLACE)
    for name, word in (
        ("FS_SYNC", "yes"),
        ("WORKER_IDLE_EXIT_S", " 5 "),
        ("WORKER_IDLE_EXIT_S", "1_0"),
        ("LOG", "loud"),
    ):
        assert [each.where for each in configured({f"HEARTH_{name}": word}).problems] == [f"HEARTH_{name}"]


def test_a_variable_that_is_set_but_empty_is_not_set(configured: Load) -> None:
    made = configured({"HEARTH_FS_SYNC": "", "HEARTH_CONFIG": ""})
    assert (made.settings, made.problems) == (Settings(), ())


def test_an_unknown_variable_is_told_and_no_error(configured: Load) -> None:
    made = configured({"HEARTH_FS_SINK": "1"})
    assert (made.unknown_variables, made.problems) == (("HEARTH_FS_SINK",), ())


def test_roots_of_the_environment_are_separated_as_path_is(configured: Load, work: Path) -> None:
    made = configured({"HEARTH_ROOTS": os.pathsep.join(["a", "", "b"])})
    assert [root.path for root in made.settings.roots] == [str(work / "a"), str(work / "b")]


def test_paths_of_a_file_are_seen_from_it(configured: Load, work: Path, home: Path) -> None:
    (work / "conf").mkdir()
    (work / "conf" / "x.toml").write_text(
        "data_dir = '../d'\nroots = ['.', {path = '~/r', read_only = true}]\n", "utf-8"
    )
    made = configured({"HEARTH_CONFIG": "conf/x.toml"})
    assert made.data_dir == str(work / "d")
    found = [(root.path, root.read_only) for root in made.settings.roots]
    assert found == [(str(work / "conf"), False), (str(home / "r"), True)]


def test_a_root_may_be_a_file_uri(configured: Load, work: Path) -> None:
    (work / "My Work").mkdir()
    uri = (work / "My Work").as_uri()
    (work / "x.toml").write_text(f"roots = [{{path = '{uri}'}}]\n", "utf-8")
    for made in (configured(config="x.toml"), configured(roots=(uri,))):
        assert [root.path for root in made.settings.roots] == [str(work / "My Work")]


def test_data_lies_in_the_user_directory_by_default(configured: Load) -> None:
    assert configured().data_dir == os.path.join(local_host().user_data_directory(), "hearth")


def user_data() -> str:
    return os.path.join(local_host().user_data_directory(), "hearth")


def test_data_lies_beside_a_project_file(configured: Load, work: Path) -> None:
    (work / "hearth.toml").write_bytes(b"")
    assert configured().data_dir == str(work / ".hearth")


def test_a_data_directory_that_came_with_a_project_is_used_once_that_is_trusted(configured: Load, work: Path) -> None:
    file = work / "hearth.toml"
    file.write_bytes(b"")
    (work / ".hearth").mkdir()
    made = configured()
    assert (made.data_dir, made.ignored) == (user_data(), ((str(file), ".hearth"),))
    trust.trust(local_host(), str(file), b"")
    assert configured().data_dir == str(work / ".hearth")


def test_a_data_directory_that_hearth_made_goes_on_being_used(hearth: Callable[..., Done], work: Path) -> None:
    (work / "hearth.toml").write_bytes(b"")
    for text in ("one", "two"):
        assert hearth("fs", "write", "a.txt", "--data", text).err == ""
    assert (work / ".hearth" / "hearth.sqlite3").exists()
    assert len(hearth("fs", "history", "--json").json["receipts"]) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="the emulated Windows has no symbolic links")
def test_an_untrusted_project_cannot_lead_the_data_elsewhere(configured: Load, work: Path, home: Path) -> None:
    (work / "hearth.toml").write_bytes(b"")
    (work / ".hearth").symlink_to(home)
    assert configured().data_dir == user_data()


HEAVY = ("tomllib", "json", "tomlkit", "hashlib", "pydantic", "difflib", "hearth.fields")


def test_reading_no_settings_imports_nothing_heavy(work: Path) -> None:
    code = (
        "import sys; from hearth.configuration.load import *; from hearth.platforms.local import local_host\n"
        f"load(local_host(), {{}}, {str(work)!r}, Flags(data_dir='x', roots=('y',)))\n"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(hearth.__file__).parents[1],
        capture_output=True,
        check=True,
        stdin=subprocess.DEVNULL,
    )
    assert done.stdout.strip() == b"[]"
