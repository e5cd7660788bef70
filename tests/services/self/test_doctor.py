from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import hearth as package
from hearth.cli.invoke import open_runtime
from hearth.cli.options import Globals
from hearth.platforms.local import local_host
from hearth.runtime import Runtime
from hearth.services.self import doctor
from hearth.services.self.checks import data, machine
from hearth.services.self.checks.machine import left_out_of
from hearth.services.self.checks.outcome import Health
from hearth.settings import Settings
from hearth.store.database import FILE_NAME, SCHEMA_VERSION
from tests.marks import posix_only

Hearth = Callable[..., Any]
posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no permission bits")


@pytest.fixture
def data_dir(home: Path) -> Path:
    """A data directory with a database in it."""
    made = home / "data"
    runtime = Runtime(host=local_host(), settings=Settings(), data_dir=str(made), roots=(), base=str(home))
    with runtime.store.read():
        pass
    runtime.close()
    return made


def found(done: Any, check: str) -> list[tuple[str, str, str | None]]:
    return [(row["state"], row["message"], row["hint"]) for row in done.json["checks"] if row["check"] == check]


def test_every_check_answers_and_a_healthy_place_completes(hearth: Hearth, data_dir: Path) -> None:
    done = hearth("doctor", "--data-dir", data_dir, "--json")
    assert (done.status, done.json["state"]) == (0, "completed")
    assert {row["check"] for row in done.json["checks"]} == {name for name, _ in doctor.CHECKS}
    assert {row["state"] for row in done.json["checks"]} <= {"ok", "warn"}
    [(state, message, _)] = found(done, "database")
    assert state == "ok" and f"whole, schema {SCHEMA_VERSION}" in message
    assert found(done, "wal") == [("ok", "works in the data directory", None)]


def test_what_is_not_made_yet_is_no_failure_and_is_not_made(hearth: Hearth, work: Path) -> None:
    done = hearth("doctor", "--data-dir", "none", "--json")
    assert done.status == 0
    assert found(done, "database") == [("ok", "not made yet", None)]
    assert not (work / "none").exists()


def test_a_broken_database_is_reported_and_fails(hearth: Hearth, data_dir: Path) -> None:
    (data_dir / FILE_NAME).write_bytes(b"this is no database" * 100)
    done = hearth("doctor", "--data-dir", data_dir, "--json")
    assert (done.status, done.json["state"]) == (1, "failed")
    [(state, message, hint)] = found(done, "database")
    assert state == "fail" and "is damaged" in message and hint is not None


def test_damaged_pages_are_found(hearth: Hearth, data_dir: Path) -> None:
    file = data_dir / FILE_NAME
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        (size,) = connection.execute("PRAGMA page_size").fetchone()
    content = bytearray(file.read_bytes())
    content[size : 3 * size] = b"\xff" * (2 * size)
    file.write_bytes(content)
    done = hearth("doctor", "--data-dir", data_dir, "--json")
    assert done.status == 1
    assert found(done, "database")[0][0] == "fail"


def test_a_foreign_database_is_named(hearth: Hearth, work: Path) -> None:
    (work / "d").mkdir(mode=0o700)
    with closing(sqlite3.connect(work / "d" / FILE_NAME)) as connection:
        connection.execute("CREATE TABLE theirs (x)")
    done = hearth("doctor", "--data-dir", "d", "--json")
    assert done.status == 1
    assert "was not made by this hearth" in found(done, "database")[0][1]


def test_a_newer_database_is_named(hearth: Hearth, data_dir: Path) -> None:
    with closing(sqlite3.connect(data_dir / FILE_NAME)) as connection:
        connection.execute("PRAGMA user_version = 99")
    done = hearth("doctor", "--data-dir", data_dir, "--json")
    assert done.status == 1
    assert "schema 99" in found(done, "database")[0][1]


def test_the_database_of_v0_is_told_about(hearth: Hearth, data_dir: Path) -> None:
    (data_dir / "hearth.db").write_bytes(b"")
    done = hearth("doctor", "--data-dir", data_dir, "--json")
    assert done.status == 0
    assert found(done, "database")[0][0] == "warn"


def test_a_directory_in_the_place_of_the_database_is_named(hearth: Hearth, home: Path) -> None:
    (home / "data" / FILE_NAME).mkdir(parents=True)
    ((state, message, hint),) = found(hearth("doctor", "--data-dir", home / "data", "--json"), "database")
    assert (state, message) == ("fail", f"{home / 'data' / FILE_NAME} is a directory")
    assert hint == "move it away, or use another --data-dir"


def test_a_data_directory_that_is_a_file_fails(hearth: Hearth, work: Path) -> None:
    (work / "d").write_bytes(b"")
    done = hearth("doctor", "--data-dir", "d", "--json")
    assert done.status == 1
    assert found(done, "data_dir")[0][:2] == ("fail", f"{work / 'd'} is no directory")


@posix
def test_a_data_directory_that_others_can_enter_is_a_warning(hearth: Hearth, data_dir: Path) -> None:
    data_dir.chmod(0o755)
    done = hearth("doctor", "--data-dir", data_dir, "--json")
    assert done.status == 0
    assert found(done, "data_dir")[0] == (
        "warn", f"{data_dir} can be entered by others (mode 0755)", f"chmod 700 '{data_dir}'",
    )  # fmt: skip


def test_a_missing_root_is_reported_and_fails(hearth: Hearth, work: Path) -> None:
    (work / "hearth.toml").write_bytes(b"")
    done = hearth("doctor", "--root", "missing", "--json")
    assert (done.status, done.json["state"]) == (1, "failed")
    assert found(done, "roots")[0][0] == "fail"


@pytest.mark.skipif(sys.platform == "win32", reason="the emulated Windows has no symbolic links")
def test_a_root_is_shown_in_both_spellings(hearth: Hearth, work: Path) -> None:
    (work / "real").mkdir()
    (work / "link").symlink_to(work / "real")
    message = found(hearth("doctor", "--root", "link", "--json"), "roots")[0][1]
    assert message == f"{work / 'link'} (really {local_host().real_path(str(work / 'real'))})"


def test_a_root_that_holds_nearly_everything_is_a_warning(hearth: Hearth, home: Path) -> None:
    assert found(hearth("doctor", "--root", home, "--json"), "roots")[0][0] == "warn"


def test_wrong_settings_are_reported_rather_than_fatal(
    hearth: Hearth, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (work / "hearth.toml").write_text("max_output_bytes = 3\nlog = 'debug'\n", "utf-8")
    monkeypatch.setenv("HEARTH_TYPO", "1")
    done = hearth("doctor", "--json")
    assert done.status == 1
    assert [state for state, _, _ in found(done, "settings")] == ["fail", "warn", "warn"]
    assert found(done, "settings")[0][2] == "correct it, or take it out with `hearth config unset max_output_bytes`"


def test_a_wrong_variable_is_not_looked_for_in_a_file(hearth: Hearth, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEARTH_FS_SYNC", "maybe")
    ((state, _, hint),) = found(hearth("doctor", "--json"), "settings")
    assert (state, hint) == ("fail", "correct or unset the variable HEARTH_FS_SYNC")


def test_settings_that_are_no_toml_are_reported(hearth: Hearth, user_file: Path) -> None:
    user_file.write_bytes(b"x = [\n")
    done = hearth("doctor", "--json")
    assert done.status == 1
    assert found(done, "settings")[0][1].startswith(f"{user_file}: is not TOML")


def test_a_check_that_breaks_hides_no_other(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: Runtime) -> Any:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(doctor, "CHECKS", (("broken", broken), ("sqlite", data.sqlite)))
    checks = doctor.diagnose(runtime, doctor.Diagnose()).checks
    assert [(check.check, check.state) for check in checks] == [("broken", Health.FAIL), ("sqlite", Health.OK)]


@posix_only("the folders are those of POSIX")
@pytest.mark.parametrize("short", ["/usr/sbin", "/nowhere", "/sbin:/usr/sbin"])
def test_a_path_as_desktops_give_it_is_a_warning(hearth: Hearth, monkeypatch: pytest.MonkeyPatch, short: str) -> None:
    monkeypatch.setenv("PATH", short)
    ((state, message, hint),) = found(hearth("doctor", "--json"), "path")
    assert (state, bool(hint)) == ("warn", True)
    assert "/usr/bin" in message


def test_an_empty_path_is_a_warning(hearth: Hearth, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert found(hearth("doctor", "--json"), "path")[0][:2] == ("warn", "PATH is empty")


@posix_only("the folders are those of POSIX")
def test_a_user_folder_counts_once_it_holds_a_program(
    hearth: Hearth, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/local/bin:/usr/bin:/bin")
    folder = home / ".local" / "bin"
    folder.mkdir(parents=True)
    assert found(hearth("doctor", "--json"), "path")[0][0] == "ok"
    (folder / "tool").touch()
    assert str(folder) in found(hearth("doctor", "--json"), "path")[0][1]


def test_a_folder_that_has_two_names_is_in_the_path_by_either(tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "tool").touch()
    spelled = os.path.join(tmp_path, "other", "..", "bin")
    assert left_out_of([spelled, ""], [str(tmp_path / "bin")]) == []
    assert left_out_of([str(tmp_path)], [str(tmp_path / "bin"), str(tmp_path / "none")]) == [str(tmp_path / "bin")]


def test_a_path_with_the_current_directory_is_a_warning(hearth: Hearth, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.pathsep.join([os.environ.get("PATH", ""), "."]))
    assert found(hearth("doctor", "--json"), "path")[0][0] == "warn"


@pytest.mark.skipif(sys.platform != "linux", reason="DISPLAY and WAYLAND_DISPLAY belong to Linux")
@pytest.mark.parametrize(("name", "shown"), [("DISPLAY", "X11 at :7"), ("WAYLAND_DISPLAY", "Wayland at :7")])
def test_a_desktop_session_is_named(hearth: Hearth, monkeypatch: pytest.MonkeyPatch, name: str, shown: str) -> None:
    for variable in ("DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(variable, raising=False)
    assert found(hearth("doctor", "--json"), "desktop")[0][1] == "no desktop session here"
    monkeypatch.setenv(name, ":7")
    assert found(hearth("doctor", "--json"), "desktop")[0][1] == shown


@pytest.mark.parametrize(
    ("words", "is_one"),
    [
        (["/usr/bin/python3", "-m", "hearth", "serve"], True),
        (["C:\\x\\Scripts\\hearth.exe", "serve"], True),
        (["/usr/bin/python3", "/home/me/.local/bin/hearth", "serve"], True),
        (["python3", "-X", "dev", "-m", "hearth"], True),
        (["vim", "hearth.toml"], False),
        (["ls", "-m", "x", "hearth"], False),
        ([], False),
    ],
)
def test_processes_of_hearth_are_known_by_their_words(words: list[str], is_one: bool) -> None:
    assert machine.is_hearth(words) is is_one


@pytest.mark.skipif("WINELAB" in os.environ, reason="the emulator lacks PssCaptureSnapshot, which psutil calls")
def test_another_hearth_is_listed_without_its_secrets(runtime: Runtime) -> None:
    secret = "hunter2"
    # `call -` waits for its input, so the process stands still until it is closed.
    words = [sys.executable, "-m", "hearth", "call", "fs.stat", "-", "--conversation", f"https://me:{secret}@host"]
    with subprocess.Popen(
        words,
        cwd=Path(package.__file__).parents[1],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as other:
        try:
            messages = _messages_until(runtime, str(other.pid))
        finally:
            other.kill()
    assert f"{other.pid} (" in messages
    assert secret not in messages


def _messages_until(runtime: Runtime, text: str) -> str:
    deadline = time.monotonic() + 4
    while True:
        messages = " ".join(found.message for found in machine.processes(runtime))
        if text in messages or time.monotonic() > deadline:
            return messages


def test_doctor_leaves_nothing_of_its_own_behind(hearth: Hearth, data_dir: Path) -> None:
    before = {path.name for path in data_dir.iterdir()}
    hearth("doctor", "--data-dir", data_dir)
    # SQLite's own two files may stay: a reader that cannot write leaves them to the next writer.
    kept = {path.name for path in data_dir.iterdir()} - {f"{FILE_NAME}-wal", f"{FILE_NAME}-shm"}
    assert kept == before


def test_the_runtime_of_a_lenient_command_keeps_what_is_right(work: Path) -> None:
    (work / "hearth.toml").write_text("max_output_bytes = 3\ncommand_timeout_ms = 7\n", "utf-8")
    settings = open_runtime(Globals(), lenient=True).settings
    assert (settings.max_output_bytes, settings.command_timeout_ms) == (65_536, 7)
