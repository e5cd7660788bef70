from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from hearth import dispatch
from hearth.containment import Root
from hearth.errors import Cancelled, InvalidInput, InvalidPattern
from hearth.runtime import Runtime
from hearth.services.fs.find import FindNames, NamesFound, find
from hearth.services.fs.search import SearchFiles, search
from tests.privilege import bound_by_modes


def paths(found: NamesFound) -> list[str]:
    return [each.path.replace(os.sep, "/") for each in found.found]


@pytest.fixture
def tree(work: Path) -> Path:
    for number, name in enumerate(("src/a.py", "src/deep/b.py", "src/c.md", "top.py", ".hidden/d.py")):
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_bytes(b"x" * number * 100)
        os.utime(work / name, (0, 1_700_000_000 + number * 86_400))
    return work


def test_a_star_stays_in_one_level(tree: Path, hearth: Callable[..., Any]) -> None:
    assert [each["path"] for each in hearth("fs", "find", "src/*.py", "--json").json["found"]] == [
        str(Path("src/a.py"))
    ]
    assert hearth("fs", "find", "*.py").out.split() == [
        str(Path(each)) for each in ("src/a.py", "src/deep/b.py", "top.py")
    ]
    assert tree.is_dir()


def test_an_open_brace_is_an_error_at_once(tree: Path, hearth: Callable[..., Any]) -> None:
    done = hearth("fs", "find", "{a,b", "--json")
    assert (done.status, done.json["error"]["code"]) == (2, "invalid_pattern")
    assert tree.is_dir()


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (FindNames(name_regex=r"^[ab]\.py$"), ["src/a.py", "src/deep/b.py"]),
        (FindNames(kinds=("directory",)), ["src", "src/deep"]),  # type: ignore[arg-type]
        (FindNames(min_bytes=100, max_bytes=200), ["src/c.md", "src/deep/b.py"]),
        (FindNames(globs=("*.py",), hidden=True, depth=2), [".hidden/d.py", "src/a.py", "top.py"]),
        (FindNames(modified_after="2023-11-16T00:00:00Z", kinds=("file",)), ["src/c.md", "top.py"]),  # type: ignore[arg-type]
        (FindNames(modified_before="2023-11-16T00:00:00+01:00"), ["src/a.py", "src/deep/b.py"]),
        (FindNames(globs=("!src/deep", "*.py")), ["src/a.py", "top.py"]),
    ],
)
def test_filters_choose_names(tree: Path, runtime: Runtime, given: FindNames, expected: list[str]) -> None:
    for name in ("src", "src/deep"):
        os.utime(tree / name, (0, 1_800_000_000) if given.modified_before else (0, 0))
    assert paths(find(runtime, given)) == expected


@pytest.mark.parametrize("text", ["2023-11-16", "2023-11-16T00:00:00", "yesterday"])
def test_a_time_without_a_zone_is_refused(runtime: Runtime, text: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        find(runtime, FindNames(modified_after=text))
    assert refused.value.problems[0].field == "modified_after"


def test_a_wrong_expression_is_refused_with_its_place(runtime: Runtime) -> None:
    with pytest.raises(InvalidPattern) as refused:
        find(runtime, FindNames(name_regex="x(a"))
    assert refused.value.details["reason"] == "missing )"


@pytest.mark.parametrize(("given", "stopped"), [(FindNames(limit=2), "limit"), (FindNames(max_entries=3), "entries")])
def test_a_bound_gives_what_was_found_so_far(tree: Path, runtime: Runtime, given: FindNames, stopped: str) -> None:
    found = find(runtime, given)
    assert (found.state, found.stopped, len(found.found)) == (
        "partial",
        stopped,
        given.limit if stopped == "limit" else 3,
    )
    assert tree.is_dir()


def test_a_cancelled_find_ends(tree: Path, runtime: Runtime) -> None:
    runtime.cancelled.set()
    with pytest.raises(Cancelled):
        find(runtime, FindNames())
    assert tree.is_dir()


@pytest.fixture
def as_nobody() -> Iterator[Path]:
    """A folder for an ordinary user, who this process is meanwhile: modes mean nothing to root."""
    import shutil
    import tempfile

    made = Path(tempfile.mkdtemp())
    made.chmod(0o755)
    yield made
    os.seteuid(os.getuid())
    shutil.rmtree(made)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such modes")
def test_an_unreadable_directory_is_skipped_and_counted(as_nobody: Path, runtime: Runtime) -> None:
    for name in ("a", "closed", "z"):
        (as_nobody / name).mkdir()
        (as_nobody / name / "needle.txt").write_text("needle", encoding="utf-8")
        (as_nobody / name).chmod(0o755)
    (as_nobody / "closed").chmod(0)
    if os.getuid() == 0:
        os.seteuid(65_534)
    here = runtime.for_call(roots=(Root(str(as_nobody)),), base=str(as_nobody))
    names = find(here, FindNames(globs=("*.txt",)))
    assert (paths(names), names.skipped, names.state) == (
        ["a/needle.txt", "z/needle.txt"],
        {"permission": 1},
        "completed",
    )
    lines = search(here, SearchFiles(query="needle"))
    assert [each.path for each in lines.matches] == ["a/needle.txt", "z/needle.txt"]
    assert (lines.skipped, lines.state) == ({"permission": 1}, "completed")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows makes no path of that length by name")
def test_a_very_deep_tree_is_walked_to_a_bound(work: Path, runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(300):
        os.mkdir("d")
        monkeypatch.chdir("d")
    monkeypatch.chdir(work)
    names = find(runtime, FindNames())
    assert (len(names.found), names.skipped, names.state) == (256, {"too_deep": 1}, "completed")
    lines = search(runtime, SearchFiles(query="x", ignored=True))
    assert lines.state == "completed"


def test_an_unreadable_directory_that_was_asked_for_is_a_failure(work: Path, runtime: Runtime) -> None:
    (work / "closed").mkdir()
    (work / "closed").chmod(0)
    with bound_by_modes():
        for operation, given in (
            ("list", {"path": "closed"}),
            ("find", {"path": "closed"}),
            ("search", {"path": "closed", "query": "x"}),
            ("watch", {"path": "closed", "timeout_ms": 1}),
        ):
            answer = dispatch.call_json(runtime, f"fs.{operation}", given)
            assert answer.error is not None and answer.error.code == "permission_denied", operation
            assert "closed" in answer.error.message
        hashed = dispatch.call_json(runtime, "fs.hash", {"paths": ["closed"], "recursive": True}).result
        assert [each.code for each in hashed.errors] == ["permission_denied"]
    (work / "closed").chmod(0o700)
