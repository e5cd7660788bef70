from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given as drawn
from hypothesis import strategies as st

from hearth import dispatch
from hearth.answers import Answer
from hearth.containment import Root
from hearth.runtime import Runtime
from hearth.services.fs.exact_text import exact_text
from hearth.services.fs.replacement import Wanted, edits_of
from hearth.services.fs.rewrite import edited
from hearth.settings import Settings

Hearth = Callable[..., Any]


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def patch(runtime: Runtime, **given: Any) -> Answer:
    return dispatch.call_json(runtime, "fs.patch", given)


def patched(runtime: Runtime, data: bytes, **given: Any) -> bytes:
    """What a patch makes of a file that holds `data`; the patch must succeed."""
    file = Path(runtime.base) / "f"
    file.write_bytes(data)
    answer = patch(runtime, path="f", **given)
    assert answer.error is None, answer.error
    assert answer.result.sha256 == sha(file.read_bytes())
    return file.read_bytes()


def refused(answer: Answer, code: str) -> dict[str, Any]:
    assert answer.error is not None
    assert answer.error.code == code, answer.error
    return answer.error.document()


def test_patch_tells_what_it_did(work: Path, hearth: Hearth) -> None:
    (work / "a.txt").write_bytes(b"one\ntwo\nthree\n")
    done = hearth("fs", "patch", "a.txt", "--old", "two", "--new", "2", "--json")
    assert done.status == 0
    told = done.json
    assert told["path"] == str(work / "a.txt")
    assert told["receipt"].startswith("rec_")
    assert told["diff"] == "--- a/a.txt\n+++ b/a.txt\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
    facts = ("changed", "replacements", "encoding", "bom", "line_ends", "sha256", "diff_truncated")
    assert tuple(told[name] for name in facts) == (True, 1, "utf-8", False, "lf", sha(b"one\n2\nthree\n"), False)


def test_the_shell_prints_the_diff(work: Path, hearth: Hearth) -> None:
    (work / "a.txt").write_bytes(b"a\r\n")
    assert hearth("fs", "patch", "a.txt", "--old", "a", "--new", "b").out_bytes.endswith(b"\n-a\r\n+b\r\n")


def test_no_change_is_completed_without_a_receipt(work: Path, hearth: Hearth) -> None:
    (work / "a.txt").write_bytes(b"same")
    told = hearth("fs", "patch", "a.txt", "--old", "same", "--new", "same", "--json").json
    assert (told["state"], told["changed"], told["receipt"], told["diff"]) == ("completed", False, None, None)


def test_a_dry_run_changes_nothing_and_gives_the_diff(work: Path, hearth: Hearth) -> None:
    (work / "a.txt").write_bytes(b"old\n")
    done = hearth("fs", "patch", "a.txt", "--old", "old", "--new", "new", "--dry-run", "--json")
    assert (done.json["changed"], done.json["receipt"]) == (True, None)
    assert "-old\n+new\n" in done.json["diff"]
    assert (work / "a.txt").read_bytes() == b"old\n"


# What a patch must keep.


def test_a_crlf_file_stays_one(runtime: Runtime) -> None:
    assert patched(runtime, b"a\r\nb\r\n", old="b", new="b\nc") == b"a\r\nb\r\nc\r\n"
    assert patched(runtime, b"a\r\nb\r\n", old="a\nb\n", new="x\ny\n") == b"x\r\ny\r\n"


def test_blank_lines_of_new_text_keep_their_cr(runtime: Runtime) -> None:
    assert patched(runtime, b"a\r\n", old="a", new="x\r\n\r\n\r\ny") == b"x\r\n\r\n\r\ny\r\n"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_stays(runtime: Runtime, encoding: str) -> None:
    data = "Füße\r\nzwei\r\n".encode(encoding)
    assert patched(runtime, data, old="zwei", new="drei ß") == "Füße\r\ndrei ß\r\n".encode(encoding)


def test_other_bytes_of_a_latin_1_file_stay(runtime: Runtime) -> None:
    data = "Café\nplain\n".encode("latin-1") + bytes(range(0xA0, 0x100)) + b"\n"
    assert patched(runtime, data, old="plain", new="other") == data.replace(b"plain", b"other")


def test_an_encoding_can_be_given(runtime: Runtime) -> None:
    data = "Café\n".encode("latin-1")
    assert patched(runtime, data, old="é", new="ß", encoding="Latin1") == "Cafß\n".encode("latin-1")
    (Path(runtime.base) / "f").write_bytes(data)
    error = refused(patch(runtime, path="f", old="é", new="€", encoding="latin-1"), "wrong_encoding")
    assert error["details"]["code_point"] == "U+20AC"
    assert "certain" in refused(patch(runtime, path="f", old="é", new="ß"), "wrong_encoding")["message"]
    assert (Path(runtime.base) / "f").read_bytes() == data


def test_mixed_line_ends_and_an_open_last_line_stay(runtime: Runtime) -> None:
    assert patched(runtime, b"a\r\nb\nc\r\nd", old="b", new="b\nx") == b"a\r\nb\nx\nc\r\nd"
    assert patched(runtime, b"a\r\nb\nc", old="c", new="C") == b"a\r\nb\nC"


def test_a_binary_file_is_refused(runtime: Runtime) -> None:
    (Path(runtime.base) / "f").write_bytes(b"\x89PNG\0\0abc")
    refused(patch(runtime, path="f", old="abc", new="x"), "wrong_encoding")


@pytest.mark.skipif(sys.platform == "win32", reason="modes of POSIX")
def test_the_mode_stays(runtime: Runtime) -> None:
    file = Path(runtime.base) / "f"
    file.write_bytes(b"a")
    file.chmod(0o750)
    assert patch(runtime, path="f", old="a", new="b").error is None
    assert file.stat().st_mode & 0o777 == 0o750


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege on Windows")
def test_a_link_s_target_is_patched_and_the_link_stays(runtime: Runtime) -> None:
    base = Path(runtime.base)
    (base / "target").write_bytes(b"a\n")
    (base / "link").symlink_to("target")
    assert patch(runtime, path="link", old="a", new="b").result.path == str(base / "target")
    assert (base / "link").is_symlink()
    assert (base / "target").read_bytes() == b"b\n"


@pytest.mark.parametrize(
    "given", [{"old": "b", "new": "B"}, {"insert": [{"after": 0, "text": "x"}]}, {"delete": ["1:2"]}]
)
def test_a_patch_can_be_undone_and_done_again(runtime: Runtime, given: dict[str, Any]) -> None:
    data = "a\r\nb\nü".encode("utf-8-sig")
    after = patched(runtime, data, **given)
    for operation, content in (("fs.undo", data), ("fs.redo", after), ("fs.undo", data)):
        answer = dispatch.call_json(runtime, operation, {"last": True})
        assert answer.error is None, answer.error
        assert (Path(runtime.base) / "f").read_bytes() == content


@drawn(
    st.lists(st.tuples(st.text("aé€ ", max_size=5), st.sampled_from(["\n", "\r\n"])), max_size=8),
    st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32", "cp1252"]),
    st.integers(0, 8),
    st.text("bß\n", max_size=6),
)
def test_all_bytes_but_those_of_the_words_stay(lines: list[tuple[str, str]], encoding: str, at: int, new: str) -> None:
    before, behind = ("".join(map("".join, part)) for part in (lines[:at], lines[at:]))
    file = exact_text(f"{before}@@{behind}".encode(encoding), encoding)
    made = edited(file, edits_of(file.text, file.form.line_ends, Wanted("@@", new), ""))
    data, mark = file.bytes_of(made.text), file.form.mark
    plain = encoding.replace("-sig", "") if encoding != "utf-16" else "utf-16-le"
    plain = "utf-32-le" if plain == "utf-32" else plain
    head, tail = mark + before.encode(plain), behind.encode(plain)
    assert data.startswith(head)
    assert data.endswith(tail)
    assert data[len(head) : len(data) - len(tail)].decode(plain).replace("\r\n", "\n") == new


# What does not match.


@pytest.mark.timeout(20)
def test_a_miss_shows_the_exact_characters_quickly(runtime: Runtime) -> None:
    row = "| Alpha\xa0one | 12 |  \n"
    file = Path(runtime.base) / "table.md"
    file.write_text("".join(f"| Cell {n} | {n % 9} |\n" for n in range(60_000))[:1_000_000] + "\n" + row, "utf-8")
    seconds: list[float] = []
    while len(seconds) < 3 and min(seconds, default=1) >= 0.4:
        started = time.process_time()
        answer = patch(runtime, path="table.md", old="| Alpha one | 12 |\n", new="x")
        seconds.append(time.process_time() - started)
    details = refused(answer, "conflict")["details"]
    assert answer.state == "conflict"
    told = [(each["found"], each["wanted"]) for each in details["nearest"]["differences"]]
    assert told == [("U+00A0 NO-BREAK SPACE", "U+0020 SPACE"), ("2 times U+0020 SPACE", "nothing")]
    assert details["nearest"]["text"] == row
    assert min(seconds) < 0.4  # 0.1 on an idle machine; the first try loads modules
    assert patch(runtime, path="table.md", old="| Alpha one | 12 |", new="x", ignore_whitespace=True).error is None


def test_a_usual_mistake_in_old_is_the_hint(work: Path, hearth: Hearth) -> None:
    (work / "f").write_bytes(b"one\r\ntwo\r\n")
    done = hearth("fs", "patch", "f", "--old", "one\\ntwo", "--new", "x")
    assert done.status == 3
    assert "backslash" in done.err
    assert "made before" in hearth("fs", "patch", "f", "--old", "1\n2", "--new", "one\ntwo").err


def test_too_many_matches_are_a_conflict_that_names_lines(runtime: Runtime) -> None:
    (Path(runtime.base) / "f").write_bytes(b"x\ny\nx\n")
    details = refused(patch(runtime, path="f", old="x", new="z"), "conflict")["details"]
    assert (details["found"], details["expected"], details["lines"]) == (2, 1, [1, 3])
    assert details["path"].endswith("f")


def test_replacements_are_made_in_order_and_all_or_none(runtime: Runtime) -> None:
    several = [{"old": "a", "new": "b"}, {"old": "b", "new": "c", "count": 2}]
    assert patched(runtime, b"a b\n", replacements=several) == b"c c\n"
    several.append({"old": "missing", "new": ""})
    (Path(runtime.base) / "f").write_bytes(b"a b\n")
    details = refused(patch(runtime, path="f", replacements=several), "conflict")["details"]
    assert details["field"] == "replacements.2.old"
    assert (Path(runtime.base) / "f").read_bytes() == b"a b\n"


def test_another_content_than_expected_is_a_conflict(runtime: Runtime) -> None:
    data = b"a\n"
    assert patched(runtime, data, old="a", new="b", expected_sha256=sha(data).upper()) == b"b\n"
    details = refused(patch(runtime, path="f", old="b", new="c", expected_sha256=sha(data)), "conflict")["details"]
    assert (details["expected_sha256"], details["actual_sha256"]) == (sha(data), sha(b"b\n"))


def test_a_missing_file_is_not_made(runtime: Runtime) -> None:
    (Path(runtime.base) / "file.txt").write_bytes(b"")
    error = refused(patch(runtime, path="file.txd", old="a", new="b"), "not_found")
    assert error["details"]["nearest"] == "file.txt"
    assert not (Path(runtime.base) / "file.txd").exists()


@pytest.mark.parametrize(
    "given",
    [
        {"old": "", "new": "x"},
        {"old": "a"},
        {"new": "a"},
        {},
        {"old": "a", "new": "b", "diff": "x"},
        {"old": "a", "new": "b", "delete": ["1"]},
        {"replacements": [{"old": "a", "new": "b"}] * 129},
        {"replacements": [{"old": "a", "new": "b", "colour": 1}]},
        {"delete": ["2:1"]},
        {"delete": ["1", "1"]},
        {"replace": [{"lines": "x", "text": ""}]},
        {"old": "a", "new": "b", "count": -1},
        {"old": "a", "new": r"\1", "regex": True},
        {"old": "a", "new": "b", "encoding": "base64"},
        {"diff": "no diff"},
        {"old": "a", "new": "b", "expected_sha256": "12"},
    ],
)
def test_wrong_input_is_refused_and_nothing_is_changed(runtime: Runtime, given: dict[str, Any]) -> None:
    (Path(runtime.base) / "f").write_bytes(b"a\n")
    refused(patch(runtime, path="f", **given), "invalid_input")
    assert (Path(runtime.base) / "f").read_bytes() == b"a\n"


def test_a_pattern_that_is_not_re2_s_is_refused(runtime: Runtime) -> None:
    (Path(runtime.base) / "f").write_bytes(b"a\n")
    refused(patch(runtime, path="f", old="(?=a)", new="", regex=True), "invalid_pattern")


# Several at once.


def test_parallel_patches_lose_nothing(runtime: Runtime) -> None:
    file = Path(runtime.base) / "f"
    file.write_bytes(b"".join(b"line %d.\n" % n for n in range(20)))
    with ThreadPoolExecutor(20) as pool:
        answers = list(pool.map(lambda n: patch(runtime, path="f", old=f"line {n}.", new=f"LINE {n}."), range(20)))
    assert [answer.error for answer in answers] == [None] * 20
    assert file.read_bytes() == b"".join(b"LINE %d.\n" % n for n in range(20))


def test_of_two_patches_with_one_hash_one_wins(runtime: Runtime) -> None:
    file = Path(runtime.base) / "f"
    file.write_bytes(b"a b\n")
    given = [{"old": "a", "new": "A"}, {"old": "b", "new": "B"}]
    with ThreadPoolExecutor(2) as pool:
        answers = list(pool.map(lambda each: patch(runtime, path="f", expected_sha256=sha(b"a b\n"), **each), given))
    assert sorted(answer.state for answer in answers) == ["completed", "conflict"]


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_two_processes_that_patch_one_file_lose_nothing(work: Path, home: Path) -> None:
    import subprocess

    (work / "f").write_bytes(b"".join(b"line %d.\n" % n for n in range(100)))
    runs = []
    for rest in range(2):
        lines = [
            json.dumps({"id": n, "operation": "fs.patch", "input": {"path": "f", "old": f"line {n}.", "new": f"{n}!"}})
            for n in range(rest, 100, 2)
        ]
        words = [sys.executable, "-m", "hearth", "--data-dir", str(home / "d"), "call", "--batch"]
        environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])}
        run = subprocess.Popen(
            words, cwd=work, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        assert run.stdin is not None
        run.stdin.write("\n".join(lines).encode())
        run.stdin.close()
        runs.append(run)
    for run in runs:
        assert run.stdout is not None
        assert run.stderr is not None
        with run.stdout, run.stderr:
            answers = [json.loads(line) for line in run.stdout.read().splitlines()]
        assert run.wait(60) == 0
        assert all(answer["result"]["state"] == "completed" for answer in answers)
    assert (work / "f").read_bytes() == b"".join(b"%d!\n" % n for n in range(100))


# Forms at the shell.


def test_pairs_of_options_are_several_replacements(work: Path, hearth: Hearth) -> None:
    (work / "f").write_bytes(b"a b\n")
    assert hearth("fs", "patch", "f", "--old", "a", "--new", "1", "--old", "b", "--new", "2").status == 0
    assert (work / "f").read_bytes() == b"1 2\n"
    done = hearth("fs", "patch", "f", "--old", "1", "--old", "2", "--new", "x", "--json")
    assert (done.status, done.json["error"]["details"]["problems"][0]["field"]) == (2, "replacements")
    done = hearth("fs", "patch", "f", "--old", "1", "--old", "", "--new", "x", "--new", "y", "--json")
    assert done.json["error"]["details"]["problems"][0]["field"] == "replacements.1.old"


def test_lines_are_edited_by_short_words_or_json(work: Path, hearth: Hearth) -> None:
    (work / "f").write_bytes(b"1\n2\n3\n4\n")
    words = ("--insert", "0:top", "--replace", "2:3:two: and\nthree", "--insert", '{"after": 4, "text": "end"}')
    assert hearth("fs", "patch", "f", *words, "--delete", "4").status == 0
    assert (work / "f").read_bytes() == b"top\n1\ntwo: and\nthree\nend\n"
    for word in ("x", "x:y", ":y"):
        done = hearth("fs", "patch", "f", "--insert", word, "--json")
        assert (done.status, done.json["error"]["details"]["problems"][0]["field"]) == (2, "insert.0")
        assert hearth("fs", "patch", "f", "--replace", word).status == 2
    done = hearth("fs", "patch", "f", "--delete", "9", "--json")
    assert (done.status, done.json["error"]["details"]["lines"]) == (3, 5)


def test_a_regular_expression_changes_each_line(work: Path, hearth: Hearth) -> None:
    (work / "f").write_bytes("a = 1\r\nü = 2\r\n".encode())
    words = ("--old", r"^(\S+) = (\d)$", "--new", r"\2: \1", "--regex", "--count", "0")
    assert hearth("fs", "patch", "f", *words).status == 0
    assert (work / "f").read_bytes() == "1: a\r\n2: ü\r\n".encode()


def test_replacements_come_from_json_in_a_file(work: Path, hearth: Hearth) -> None:
    (work / "f").write_bytes(b"a\n")
    (work / "r.json").write_bytes(b'\xef\xbb\xbf{"old": "a", "new": "b"}')
    assert hearth("fs", "patch", "f", "--replacements", "@r.json").status == 0
    assert (work / "f").read_bytes() == b"b\n"


# Bounds and secrets.


def test_a_diff_is_cut_at_the_output_bound(work: Path, home: Path) -> None:
    from hearth.platforms.local import local_host

    runtime = Runtime(
        host=local_host(),
        settings=Settings(max_output_bytes=1024),
        data_dir=str(home / "d"),
        roots=(Root(str(work)),),
        base=str(work),
    )
    try:
        (work / "f").write_bytes(b"line\n" * 1000)
        result = patch(runtime, path="f", old="line", new="LINE", count=0).result
    finally:
        runtime.close()
    assert result.diff_truncated
    assert len(result.diff) <= 1024
    assert result.replacements == 1000


def test_secrets_are_changed_but_not_shown(runtime: Runtime) -> None:
    token = "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
    file = Path(runtime.base) / ".env"
    file.write_text(f"TOKEN={token}\nPORT=1\n", "utf-8")
    answer = patch(runtime, path=".env", old="PORT=1", new="PORT=2")
    assert token not in answer.result.diff
    assert file.read_text("utf-8") == f"TOKEN={token}\nPORT=2\n"
    error = refused(patch(runtime, path=".env", old=f"TOKEN={token}\nPORT= 2", new=""), "conflict")
    assert token not in json.dumps(error)


def test_a_file_above_the_bound_is_refused(runtime: Runtime) -> None:
    with (Path(runtime.base) / "f").open("wb") as file:
        file.truncate(65 * 1024 * 1024)
    refused(patch(runtime, path="f", old="a", new="b", permanent=True), "too_large")
