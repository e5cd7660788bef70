from __future__ import annotations

import sys
from pathlib import Path

import pytest

from hearth.configuration import trust
from hearth.platforms.local import local_host
from hearth.settings import OnPersist, Settings
from tests.configuration.conftest import Load

WIDER = """\
data_dir = "d"
roots = ["/"]
log = "debug"
max_output_bytes = 100000
command_timeout_ms = 100000
[fs]
sync = false
hard_links = "in_place"
lock_timeout_ms = 20000
backup_max_bytes = 100000000
[secrets]
on_persist = "redact"
[retention]
events_days = 1
events_max = 1000
receipts_days = 1
backups_max_bytes = 0
[worker]
idle_exit_s = 100
"""


def test_an_untrusted_file_changes_nothing_to_the_wider(configured: Load, work: Path) -> None:
    (work / "hearth.toml").write_text(WIDER, "utf-8")
    made = configured()
    assert (made.settings, made.problems) == (Settings(), ())
    assert len(made.ignored) == 15


def test_an_untrusted_file_may_narrow(configured: Load, work: Path) -> None:
    (work / "src").mkdir()
    (work / "hearth.toml").write_text(
        "roots = [{path = 'src', read_only = true}]\nmax_output_bytes = 2000\ncommand_timeout_ms = 10\n"
        "[fs]\nsync = true\nlock_timeout_ms = 0\nbackup_max_bytes = 5\n",
        "utf-8",
    )
    made = configured()
    assert made.ignored == ()
    assert (made.settings.max_output_bytes, made.settings.fs.backup_max_bytes) == (2000, 5)
    real = local_host().real_path(str(work / "src"))
    assert [(root.path, root.read_only) for root in made.settings.roots] == [(real, True)]


def test_narrower_is_measured_by_the_users_own_settings(configured: Load, work: Path, user_file: Path) -> None:
    user_file.write_text("max_output_bytes = 3000\n", "utf-8")
    (work / "hearth.toml").write_text("max_output_bytes = 4000\n", "utf-8")
    assert configured().settings.max_output_bytes == 3000


def test_an_untrusted_file_cannot_make_a_read_only_root_writable(configured: Load, work: Path, user_file: Path) -> None:
    user_file.write_text(f"roots = [{{path = '{work.as_posix()}', read_only = true}}]\n", "utf-8")
    (work / "hearth.toml").write_text("roots = ['.']\n", "utf-8")
    made = configured()
    assert [root.read_only for root in made.settings.roots] == [True]
    assert made.ignored == ((str(work / "hearth.toml"), "roots"),)


def test_an_untrusted_file_above_the_current_directory_cannot_widen_it(configured: Load, work: Path) -> None:
    (work / "sub").mkdir()
    (work / "hearth.toml").write_text("roots = ['.']\n", "utf-8")
    assert configured(here=work / "sub").settings.roots == ()


@pytest.mark.skipif(sys.platform == "win32", reason="the emulated Windows has no symbolic links")
def test_an_untrusted_file_cannot_lead_out_by_a_link(configured: Load, work: Path, home: Path) -> None:
    (work / "out").symlink_to(home)
    (work / "hearth.toml").write_text("roots = ['out']\n", "utf-8")
    assert configured().settings.roots == ()


def test_an_empty_list_of_roots_is_no_narrowing(configured: Load, work: Path) -> None:
    (work / "hearth.toml").write_text("roots = []\n", "utf-8")
    assert configured().ignored == ((str(work / "hearth.toml"), "roots"),)


def test_a_trusted_file_may_say_anything(configured: Load, work: Path) -> None:
    file = work / "hearth.toml"
    file.write_text(WIDER, "utf-8")
    trust.trust(local_host(), str(file), file.read_bytes())
    made = configured()
    assert made.ignored == ()
    assert (made.settings.secrets.on_persist, made.data_dir) == (OnPersist.REDACT, str(work / "d"))


def test_a_changed_file_is_no_longer_trusted(configured: Load, work: Path) -> None:
    file = work / "hearth.toml"
    trust.trust(local_host(), str(file), b"")
    file.write_text(WIDER, "utf-8")
    assert configured().settings == Settings()


def test_a_copy_of_a_trusted_file_is_not_trusted(configured: Load, work: Path) -> None:
    (work / "sub").mkdir()
    trust.trust(local_host(), str(work / "hearth.toml"), WIDER.encode())
    (work / "sub" / "hearth.toml").write_text(WIDER, "utf-8")
    assert configured(here=work / "sub").settings == Settings()


def test_trust_can_be_taken_back(configured: Load, work: Path) -> None:
    file = work / "hearth.toml"
    file.write_text(WIDER, "utf-8")
    trust.trust(local_host(), str(file), file.read_bytes())
    assert trust.revoke(local_host(), str(file))
    assert not trust.revoke(local_host(), str(file))
    assert configured().settings == Settings()


def test_a_damaged_record_trusts_nothing(configured: Load, work: Path, user_file: Path) -> None:
    file = work / "hearth.toml"
    file.write_text(WIDER, "utf-8")
    for damaged in ("{", "[]", '{"files": 3}', f'{{"files": {{"{file.as_posix()}": 3}}}}'):
        (user_file.parent / "trusted.json").write_text(damaged, "utf-8")
        assert configured().settings == Settings()


def test_files_named_by_the_user_need_no_trust(configured: Load, work: Path) -> None:
    (work / "x.toml").write_text(WIDER, "utf-8")
    assert configured({"HEARTH_CONFIG": "x.toml"}).ignored == ()
