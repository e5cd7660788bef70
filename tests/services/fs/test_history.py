from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hearth import dispatch
from hearth.runtime import Runtime, StoreOpener

Hearth = Callable[..., Any]


def test_history_lists_changes_newest_first_by_path_group_and_caller(work: Path, hearth: Hearth) -> None:
    for path, group in (("a", "one"), ("b/c", "two"), ("a", "two")):
        hearth("fs", "write", path, "--data", group, "--group", group)
    listed = hearth("fs", "history", "--json").json
    assert [Path(each["path"]).name for each in listed["receipts"]] == ["a", "c", "a"]
    assert [each["group"] for each in hearth("fs", "history", "a", "--json").json["receipts"]] == ["two", "one"]
    assert len(hearth("fs", "history", "--group", "two", "--json").json["receipts"]) == 2
    assert len(hearth("fs", "history", "--caller", "shell", "--json").json["receipts"]) == 3
    assert hearth("fs", "history", "--caller", "mcp", "--json").json["receipts"] == []
    assert hearth("fs", "history", "b/c", "--json").json["receipts"][0]["changes"][-1]["after_size"] == 3
    assert str(work) in listed["receipts"][0]["path"]


def test_a_path_is_one_filter_among_others(hearth: Hearth) -> None:
    def shown(*words: str) -> list[str]:
        return [each["group"] for each in hearth("fs", "history", *words, "--json").json["receipts"]]

    for group in ("one", "two", "three", "two"):
        hearth("fs", "write", "a", "--data", f"{group}{shown('a')}", "--group", group)
    hearth("fs", "move", "a", "b", "--group", "two")
    assert shown("a", "--group", "two") == ["two", "two", "two"] and shown("b", "--group", "two") == ["two"]
    assert shown("b", "--group", "one") == [] and shown("a", "--caller", "mcp") == []
    assert (
        shown("a", "--until", "2001-01-01T00:00:00Z") == [] and len(shown("a", "--since", "2001-01-01T00:00:00Z")) == 5
    )
    page = hearth("fs", "history", "a", "--group", "two", "-n", "2", "--json").json
    assert shown("a", "--group", "two", "-n", "2", "--cursor", page["next_cursor"]) == ["two"]


def test_history_pages_by_cursor(hearth: Hearth) -> None:
    for number in range(5):
        hearth("fs", "write", "a", "--data", str(number))
    seen: list[str] = []
    words: list[str] = []
    for _ in range(3):
        page = hearth("fs", "history", "-n", "2", *words, "--json").json
        seen += [each["id"] for each in page["receipts"]]
        words = ["--cursor", page["next_cursor"] or ""]
    assert page["next_cursor"] is None
    assert len(seen) == len(set(seen)) == 5 and seen == sorted(seen, reverse=True)


def test_history_shows_what_is_undone_and_of_deleted_paths(hearth: Hearth) -> None:
    hearth("fs", "write", "d/a", "--data", "x")
    hearth("fs", "undo", "--last")
    states = [(each["operation"], each["state"]) for each in hearth("fs", "history", "d/a", "--json").json["receipts"]]
    assert states == [("fs.undo", "applied"), ("fs.write", "undone")]


def test_history_by_time(hearth: Hearth) -> None:
    hearth("fs", "write", "a", "--data", "x")
    at = hearth("fs", "history", "--json").json["receipts"][0]["at"]
    assert len(hearth("fs", "history", "--since", at, "--json").json["receipts"]) == 1
    assert hearth("fs", "history", "--until", "2001-01-01T00:00:00Z", "--json").json["receipts"] == []


@pytest.mark.parametrize("words", [["--since", "yesterday"], ["--since", "2026-01-01T00:00:00"], ["--cursor", "x"]])
def test_times_and_cursors_that_are_none_are_refused(hearth: Hearth, words: list[str]) -> None:
    assert hearth("fs", "history", *words).status == 2


SECRET = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"


def test_a_group_that_is_a_secret_is_refused_before_anything_changes(work: Path, hearth: Hearth) -> None:
    for words in (("--group", SECRET), ("--run", SECRET)):
        done = hearth("fs", "write", "a", "--data", "x", *words, "--json")
        assert (done.status, done.json["error"]["code"]) == (1, "secret_refused")
        assert SECRET not in done.out
    assert list(work.iterdir()) == []
    assert hearth("fs", "history", "--json").json["receipts"] == []


def test_a_secret_in_a_group_or_a_conversation_is_taken_out_where_the_setting_says_so(
    hearth: Hearth, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEARTH_SECRETS_ON_PERSIST", "redact")
    assert hearth("fs", "write", "a", "--data", "x", "--run", SECRET, "--conversation", SECRET).status == 0
    assert hearth("fs", "stat", "a", "--run", SECRET, "--conversation", SECRET).status == 0
    for table, columns in (("receipts", "group_name, conversation"), ("events", "run, conversation")):
        stored = hearth("db", "query", f"SELECT {columns} FROM {table}", "--json").out
        assert "[redacted]" in stored
        assert SECRET not in stored


def test_history_says_what_became_of_a_change_whose_process_is_gone(work: Path, runtime: Runtime) -> None:
    for name in ("done", "not begun"):
        assert dispatch.call_json(runtime, "fs.write", {"path": name, "data": "x"}).error is None
    (work / "not begun").unlink()
    with runtime.store.write() as tx:
        tx.execute("UPDATE receipts SET state = 'intended', owner_pid = 4194303, owner_start = '1'")
    as_another_process = runtime.for_call(opener=StoreOpener())
    told = dispatch.call_json(as_another_process, "fs.history", {}).result
    as_another_process.close()
    assert [(Path(each.path).name, each.state) for each in told.receipts] == [
        ("not begun", "void"),
        ("done", "applied"),
    ]
