from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import hearth as package
from hearth import logs
from hearth.logs import Log
from hearth.platforms.local import local_host

SECRET = "gh" + "p_" + "a1B2" * 9


def text_of(data_dir: Path) -> str:
    return (data_dir / "logs" / "hearth.log").read_text("utf-8")


def test_without_a_level_only_warnings_go_to_the_file(tmp_path: Path) -> None:
    shown: list[str] = []
    log = Log(local_host(), str(tmp_path), show=shown.append)
    log.debug("a")
    log.info("b")
    log.warning("c")
    assert shown == []
    assert text_of(tmp_path).endswith(" warning c\n")
    assert text_of(tmp_path).count("\n") == 1


def test_from_its_level_on_lines_are_shown_and_filed(tmp_path: Path) -> None:
    shown: list[str] = []
    log = Log(local_host(), str(tmp_path), level="info", show=shown.append)
    log.debug("a")
    log.info("b")
    log.warning("c")
    assert shown == ["hearth: info: b", "hearth: warning: c"]
    assert [line.split(" ", 2)[2] for line in text_of(tmp_path).splitlines()] == ["info b", "warning c"]


def test_a_line_is_one_line_without_secrets(tmp_path: Path) -> None:
    shown: list[str] = []
    Log(local_host(), str(tmp_path), level="debug", show=shown.append).info(f"x\n\x1b[31m {SECRET}")
    assert shown == ["hearth: info: x\\n\\x1b[31m ghp_[redacted]"]
    assert SECRET not in text_of(tmp_path)


def test_the_file_is_rotated_and_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "MAX_BYTES", 1_000)
    log = Log(local_host(), str(tmp_path))
    for number in range(200):
        log.warning(f"line {number} {'.' * 40}")
    files = sorted(path.name for path in (tmp_path / "logs").iterdir() if path.suffix != ".lock")
    assert files == ["hearth.log", "hearth.log.1", "hearth.log.2"]
    assert all((tmp_path / "logs" / name).stat().st_size < 1_200 for name in files)
    assert "line 199 " in text_of(tmp_path) + (tmp_path / "logs" / "hearth.log.1").read_text("utf-8")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no permission bits; its directory is private by ACL")
def test_the_log_is_private(tmp_path: Path) -> None:
    Log(local_host(), str(tmp_path)).warning("x")
    assert (tmp_path / "logs" / "hearth.log").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "logs").stat().st_mode & 0o777 == 0o700


def test_a_log_that_cannot_be_written_fails_nothing(tmp_path: Path) -> None:
    (tmp_path / "logs").write_bytes(b"")
    Log(local_host(), str(tmp_path)).warning("x")
    Log(local_host(), str(tmp_path / "none")).warning("x")
    assert not (tmp_path / "none").exists()


def test_verbose_tells_what_was_called(hearth: Callable[..., Any], work: Path) -> None:
    (work / "a").write_bytes(b"")
    done = hearth("fs", "stat", "a", "--verbose", "--json")
    assert done.json["state"] == "completed"
    assert "hearth: debug: fs.stat: completed in " in done.err


def test_the_environment_sets_the_level(hearth: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEARTH_LOG", "info")
    done = hearth("fs", "stat", "missing", "--json")
    assert "hearth: info: fs.stat: not_found in " in done.err


def test_logging_is_not_imported(work: Path) -> None:
    code = (
        "import sys; from hearth.logs import Log; from hearth.platforms.local import local_host\n"
        f"Log(local_host(), {str(work)!r}, level='debug').info('x')\n"
        "print('logging' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(package.__file__).parents[1],
        capture_output=True,
        check=True,
        stdin=subprocess.DEVNULL,
    )
    assert done.stdout.strip() == b"False"
    assert text_of(work).endswith("info x\n")
