from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import pytest

from hearth.runtime import Runtime
from tests.conftest import Done

Run = Callable[..., Done]


def test_a_file_is_kept_under_its_name(work: Path, hearth: Run) -> None:
    (work / "page.html").write_bytes(b"<p>hello</p>")
    told = hearth("artifact", "put", "page.html", "--json").json["artifact"]
    assert (told["label"], told["media_type"], told["operation"]) == ("page.html", "text/html", "artifact.put")
    (work / "page.html").unlink()
    assert hearth("artifact", "read", told["id"]).out == "<p>hello</p>"


@pytest.mark.parametrize(
    ("content", "media_type"),
    [(b"plain words\n", "text/plain"), (bytes(range(256)), "application/octet-stream"), (b"", "text/plain")],
)
def test_standard_input_is_kept_and_its_type_found_out(hearth: Run, content: bytes, media_type: str) -> None:
    told = hearth("artifact", "put", "--json", stdin=content).json["artifact"]
    assert (told["size"], told["media_type"], told["label"]) == (len(content), media_type, None)
    assert told["sha256"] == hashlib.sha256(content).hexdigest()
    assert hearth("artifact", "read", told["id"]).out_bytes == content


def test_a_file_outside_the_roots_is_refused(tmp_path: Path, hearth: Run) -> None:
    (tmp_path / "secret").write_bytes(b"x")
    done = hearth("artifact", "put", "../secret", "--json")
    assert done.json["error"]["code"] == "outside_root"
    assert hearth("artifact", "list", "--json").json["artifacts"] == []


def test_equal_contents_share_a_body_until_the_last_is_deleted(runtime: Runtime, hearth: Run) -> None:
    one, two = (hearth("artifact", "put", "--json", stdin=b"same").json["artifact"] for _ in range(2))
    body = Path(runtime.data_dir, "blobs", one["sha256"][:2], one["sha256"][2:])
    first = hearth("artifact", "delete", one["id"], "--json").json
    assert (first["deleted"][0]["body_removed"], body.exists()) == (False, True)
    assert hearth("artifact", "read", two["id"]).out == "same"
    second = hearth("artifact", "delete", two["id"], "--json").json
    assert (second["deleted"][0]["body_removed"], body.exists()) == (True, False)


def test_what_is_wanted_for_undo_outlives_its_artifact(work: Path, runtime: Runtime, hearth: Run) -> None:
    content = b"x" * 100_000  # larger than what a receipt holds itself
    (work / "a").write_bytes(content)
    kept = hearth("artifact", "put", "a", "--json").json["artifact"]
    hearth("fs", "write", "a", "--data", "new")
    assert hearth("artifact", "delete", kept["id"], "--json").json["deleted"][0]["body_removed"] is False
    assert hearth("fs", "undo", "--last").status == 0
    assert (work / "a").read_bytes() == content
    del runtime


def test_what_is_pinned_is_not_deleted_unless_meant(hearth: Run) -> None:
    kept = hearth("artifact", "put", "--pinned", "--json", stdin=b"x").json["artifact"]
    done = hearth("artifact", "delete", kept["id"], "--json")
    assert (done.status, done.json["error"]["code"]) == (1, "artifact_pinned")
    assert hearth("artifact", "unpin", kept["id"], "--json").json["artifacts"][0]["pinned"] is False
    assert hearth("artifact", "pin", kept["id"], "--json").json["artifacts"][0]["pinned"] is True
    assert hearth("artifact", "delete", kept["id"], "--pinned").status == 0


def test_of_several_those_that_fail_are_told(hearth: Run) -> None:
    kept = hearth("artifact", "put", "--json", stdin=b"x").json["artifact"]["id"]
    for operation, done in (("unpin", "artifacts"), ("delete", "deleted")):
        told = hearth(
            "artifact", operation, "art_none", kept, "--pinned" if operation == "delete" else "--json", "--json"
        )
        assert (told.status, told.json["state"], len(told.json[done])) == (1, "partial", 1)
        assert told.json["errors"][0]["code"] == "not_found"


def test_gc_tells_and_does(hearth: Run, runtime: Runtime) -> None:
    kept = hearth("artifact", "put", "--json", stdin=b"x").json["artifact"]["id"]
    with runtime.store.write() as tx:
        tx.execute("UPDATE artifacts SET at = '2020-01-01T00:00:00.000Z'")
    for words in (("--dry-run",), ()):
        told = hearth("artifact", "gc", "--days", "30", "--json", *words).json
        assert told["removed"][0] == {"kind": "artifacts", "count": 1, "bytes": 1}
    assert hearth("artifact", "metadata", kept).status == 4


def test_gc_keeps_to_a_quota(hearth: Run, runtime: Runtime) -> None:
    names = [hearth("artifact", "put", "--json", stdin=b"x" * 10).json["artifact"]["id"] for _ in range(3)]
    with runtime.store.write() as tx:
        tx.execute("UPDATE artifacts SET at = strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-1 hour', (seq || ' seconds'))")
    told = hearth("artifact", "gc", "--most-bytes", "20", "--json").json
    assert told["removed"][1] == {"kind": "artifacts above quota", "count": 1, "bytes": 10}
    assert [each["id"] for each in hearth("artifact", "list", "--json").json["artifacts"]] == names[:0:-1]
