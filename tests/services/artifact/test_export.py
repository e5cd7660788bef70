from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hearth.runtime import Runtime
from tests.conftest import Done

Run = Callable[..., Done]


def put(hearth: Run, content: bytes) -> dict[str, str]:
    told: dict[str, str] = hearth("artifact", "put", "--json", stdin=content).json["artifact"]
    return told


def test_an_export_has_a_receipt_and_can_be_undone(work: Path, hearth: Run) -> None:
    kept = put(hearth, b"new" * 1_000_000)
    (work / "a.txt").write_bytes(b"old")
    told = hearth("artifact", "export", kept["id"], "a.txt", "--json").json
    assert (told["sha256"], told["size"], told["created"], told["changed"]) == (kept["sha256"], 3_000_000, False, True)
    assert (work / "a.txt").read_bytes() == b"new" * 1_000_000
    assert hearth("fs", "undo", told["receipt"]).status == 0
    assert (work / "a.txt").read_bytes() == b"old"


def test_an_export_makes_what_is_missing_and_changes_nothing_twice(work: Path, hearth: Run) -> None:
    kept = put(hearth, b"hello")
    assert hearth("artifact", "export", kept["id"], "sub/a", "--json").json["created"] is True
    again = hearth("artifact", "export", kept["id"], "sub/a", "--json").json
    assert (again["changed"], again["receipt"]) == (False, None)
    assert (work / "sub" / "a").read_bytes() == b"hello"


def test_an_export_stays_inside_the_roots_and_leaves_what_exists_alone(work: Path, hearth: Run) -> None:
    kept = put(hearth, b"hello")
    (work / "a").write_bytes(b"mine")
    outside = hearth("artifact", "export", kept["id"], "../b", "--json")
    assert (outside.status, outside.json["error"]["code"]) == (1, "outside_root")
    taken = hearth("artifact", "export", kept["id"], "a", "--create-only", "--json")
    assert (taken.status, taken.json["error"]["code"]) == (3, "already_exists")
    assert (work / "a").read_bytes() == b"mine"
    assert not (work.parent / "b").exists()


def test_a_damaged_content_is_never_written(work: Path, runtime: Runtime, hearth: Run) -> None:
    kept = put(hearth, b"hello")
    Path(runtime.data_dir, "blobs", kept["sha256"][:2], kept["sha256"][2:]).write_bytes(b"hellO")
    (work / "a").write_bytes(b"mine")
    done = hearth("artifact", "export", kept["id"], "a", "--json")
    assert (done.status, done.json["error"]["code"]) == (1, "artifact_damaged")
    assert (work / "a").read_bytes() == b"mine"
    assert [path.name for path in work.iterdir()] == ["a"]


def test_a_dry_run_only_tells(work: Path, hearth: Run) -> None:
    kept = put(hearth, b"hello")
    assert hearth("artifact", "export", kept["id"], "a", "--dry-run", "--json").json["created"] is True
    assert list(work.iterdir()) == []
