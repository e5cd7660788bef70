from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hearth.cli import text
from hearth.cli.options import Output

Hearth = Callable[..., Any]


@pytest.mark.parametrize(
    ("count", "shown"),
    [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (1536, "1.5 KiB"),
        (1024**2 - 1, "1.0 MiB"),
        (5 * 1024**3, "5.0 GiB"),
        (2**70, "1024.0 EiB"),
    ],
)
def test_sizes_are_given_in_units_of_1024(count: int, shown: str) -> None:
    assert text.size(count) == shown


@pytest.mark.parametrize(
    ("milliseconds", "shown"),
    [
        (0, "0 ms"),
        (999, "999 ms"),
        (1_500, "1.5 s"),
        (65_000, "1 m 05 s"),
        (3_600_000, "1 h 00 m"),
        (90_000_000, "25 h 00 m"),
    ],
)
def test_durations_are_given_as_people_say_them(milliseconds: int, shown: str) -> None:
    assert text.duration(milliseconds) == shown


def test_a_pipe_gets_rows_of_exact_values_separated_by_tabs(work: Path, hearth: Hearth) -> None:
    (work / "a.txt").write_bytes(b"x" * 2048)
    assert "\t2048\t" in hearth("fs", "list").out


def test_a_terminal_gets_a_table_with_human_values(work: Path, hearth: Hearth) -> None:
    (work / "a.txt").write_bytes(b"x" * 2048)
    done = hearth("fs", "list", "--no-color", terminal=True)
    head, row = done.out.splitlines()
    assert "size" in head
    assert "2.0 KiB" in row
    assert "\x1b" not in done.out


def test_colour_is_for_terminals_that_want_it(work: Path, hearth: Hearth, monkeypatch: pytest.MonkeyPatch) -> None:
    (work / "a.txt").write_bytes(b"")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[1m" in hearth("fs", "list", terminal=True).out
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in hearth("fs", "list", terminal=True).out


def test_json_at_a_terminal_is_indented_and_readable(work: Path, hearth: Hearth) -> None:
    (work / "caf\xe9").write_bytes(b"")
    done = hearth("fs", "stat", "caf\xe9", "--json", terminal=True)
    assert "caf\xe9" in done.out
    assert '\n  "state"' in done.out


def test_a_table_of_nothing_prints_nothing(hearth: Hearth) -> None:
    assert hearth("fs", "list").out == ""


def test_control_characters_of_names_reach_no_terminal(work: Path, hearth: Hearth) -> None:
    try:
        (work / "a\x1b]0;owned\x07\tb").write_bytes(b"")
    except OSError:
        pytest.skip("this file system takes no such name")
    for terminal in (True, False):
        listed = hearth("fs", "list", "--no-color", terminal=terminal).out
        assert "\\x1b]0;owned\\x07\\tb" in listed
        assert "\x1b" not in listed
    missing = hearth("fs", "stat", "c\x1b[2J", terminal=True)
    assert "\x1b" not in missing.err


def test_what_a_page_leaves_out_is_told_on_standard_error(work: Path, hearth: Hearth) -> None:
    for name in "abc":
        (work / name).write_bytes(b"")
    done = hearth("fs", "list", "--limit", "2")
    assert len(done.out.splitlines()) == 2
    assert "next_cursor" in done.err


def test_times_that_no_zone_can_hold_are_shown_as_they_are() -> None:
    assert "1-01-01" in text.cell("0001-01-01T00:00:00.000Z", "modified_at")
    assert text.cell("not a time", "seen_at") == "not a time"


def test_texts_of_a_list_can_be_told_apart() -> None:
    assert text.cell(["a", "b c"]) == "a, b c"
    assert text.cell(["sh", "-c", "f(a, b)"]) == '["sh", "-c", "f(a, b)"]'
    assert text.cell(["tool", ""]) == '["tool", ""]'
    assert text.cell([]) == ""


@pytest.mark.parametrize("width", [100, 120])
def test_a_table_keeps_its_ids_whole_before_anything_else(width: int) -> None:
    columns = ("id", "state", "title", "group", "started_at", "ran_ms", "exit_code")
    row = ["job_01m8q7ep7tmf673h7nfkrvxec6", "completed", "make all " * 9, "default", "2026-11-30 22:00:21", "3 s", "0"]
    lines = text.table(columns, [row], width=width, colored=False).splitlines()
    assert any(line.startswith(f"{row[0]}  completed  ") for line in lines)
    assert max(map(len, lines)) <= width


def test_a_narrow_table_keeps_its_times_whole_and_breaks_its_names() -> None:
    rows = [["file", "1 B", "2026-11-30 19:14:59", "q" * 50]]
    shown = text.table(("kind", "size", "modified_at", "path"), rows, width=56, colored=False)
    assert "2026-11-30 19:14:59" in shown
    assert shown.count("q") == 50
    assert max(map(len, shown.splitlines())) <= 56


def test_a_table_for_next_to_no_room_still_shows_everything() -> None:
    shown = text.table(("kind", "modified_at"), [["file", "2026-11-30 19:14:59"]], width=1, colored=False)
    assert "".join(shown.split()).endswith("2026-11-3019:14:59")


@pytest.mark.parametrize(("said", "wide"), [("0", 80), ("-3", 80), ("132", 132), ("many", 80)])
def test_a_terminal_that_does_not_say_how_wide_it_is_counts_as_80(
    monkeypatch: pytest.MonkeyPatch, said: str, wide: int
) -> None:
    monkeypatch.setenv("COLUMNS", said)
    assert Output().width == wide
