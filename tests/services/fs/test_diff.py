from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from hearth.containment import Root
from hearth.runtime import Runtime
from tests.services.fs.test_undo import call, refused

Hearth = Callable[..., Any]


def test_diff_shows_the_changed_lines_also_after_later_changes(work: Path, hearth: Hearth) -> None:
    (work / "a").write_bytes(b"one\ntwo\nthree\n")
    first = hearth("fs", "write", "a", "--data", "one\n2\nthree\n", "--json").json["receipt"]
    shown = hearth("fs", "diff").out
    assert "-two\n+2\n" in shown and f"--- {work / 'a'}\n" in shown
    hearth("fs", "write", "a", "--data", "all new\n")
    assert hearth("fs", "diff", first).out == shown


def test_diff_of_new_and_deleted_files(hearth: Hearth) -> None:
    hearth("fs", "write", "a", "--data", "line\n")
    assert "--- /dev/null\n" in hearth("fs", "diff").out
    hearth("fs", "delete", "a")
    shown = hearth("fs", "diff").out
    assert "+++ /dev/null\n" in shown and "-line\n" in shown


def test_diff_says_what_it_cannot_show(work: Path, hearth: Hearth) -> None:
    (work / "a").write_bytes(b"\0\1\2binary")
    hearth("fs", "write", "a", "--data", "text")
    assert "binary" in hearth("fs", "diff").out
    receipt = hearth("fs", "write", "a", "--data", "text 2", "--json").json["receipt"]
    (work / "a").write_bytes(b"by hand")
    assert hearth("fs", "diff", receipt, "--json").json["files"][0]["note"] is not None


def test_diff_masks_secrets_and_backups_do_not(work: Path, hearth: Hearth) -> None:
    token = "ghp_" + "aB3dE5gH7jK9mN1pQ3rS5tU7vW9xY1zA2bC4"
    (work / ".env").write_text(f"TOKEN={token}\n", encoding="ascii")
    hearth("fs", "write", ".env", "--data", "TOKEN=other\n")
    assert token not in hearth("fs", "diff").out
    hearth("fs", "undo", "--last")
    assert token in (work / ".env").read_text(encoding="ascii")


def test_a_long_diff_is_cut_at_a_line(hearth: Hearth) -> None:
    hearth("fs", "write", "a", "--data", "line\n" * 1000)
    done = hearth("fs", "diff", "--max-bytes", "200", "--json")
    assert (done.status, done.json["state"]) == (0, "partial")
    assert len(done.json["diff"]) <= 200 and done.json["diff"].endswith("\n")


def test_diff_outside_the_roots_of_this_call_is_refused(work: Path, runtime: Runtime) -> None:
    (work / "inner").mkdir()
    receipt = call(runtime, "write", path="a", data="x").receipt
    narrowed = runtime.for_call(roots=(Root(str(work / "inner")),))
    assert refused(narrowed, "diff", receipt=receipt).code == "outside_root"
