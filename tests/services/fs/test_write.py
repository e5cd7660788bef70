from __future__ import annotations

import base64
import hashlib
import os
import stat
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from hearth import dispatch
from hearth.answers import Answer
from hearth.clock import Clock
from hearth.containment import Root
from hearth.errors import Conflict
from hearth.platforms.base import Directory
from hearth.runtime import Runtime
from hearth.services.fs import locks, mutation
from hearth.services.fs.content import Write
from hearth.settings import FsSettings, HardLinks, Settings

Hearth = Callable[..., Any]
posix_only = pytest.mark.skipif(sys.platform == "win32", reason="modes and links of POSIX")
root_only = pytest.mark.skipif(
    sys.platform == "win32" or os.geteuid() != 0, reason="only the administrator may give files away"
)


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def write(runtime: Runtime, **given: Any) -> Answer:
    return dispatch.call_json(runtime, "fs.write", given)


def leftovers(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*.hearth-tmp")]


def test_write_makes_a_file_and_its_directories(work: Path, hearth: Hearth) -> None:
    done = hearth("fs", "write", "a/b/c.txt", "--data", "hello", "--json")
    assert (done.status, done.json["created"], done.json["size"]) == (0, True, 5)
    assert (work / "a" / "b" / "c.txt").read_bytes() == b"hello"
    assert done.json["sha256"] == sha(b"hello")


def test_write_replaces_a_file_and_leaves_nothing_beside_it(work: Path, hearth: Hearth) -> None:
    (work / "a.txt").write_bytes(b"old")
    assert hearth("fs", "write", "a.txt", stdin=b"new").status == 0
    assert {path.name: path.read_bytes() for path in work.iterdir()} == {"a.txt": b"new"}


def test_the_same_content_is_no_change(work: Path, hearth: Hearth) -> None:
    (work / "a.txt").write_bytes(b"same")
    before = (work / "a.txt").stat().st_mtime_ns
    done = hearth("fs", "write", "a.txt", "--data", "same", "--json").json
    assert (done["changed"], done["receipt"]) == (False, None)
    assert (work / "a.txt").stat().st_mtime_ns == before


@pytest.mark.parametrize("spell", [str.lower, str.upper])
def test_a_right_hash_of_any_case_is_accepted(work: Path, hearth: Hearth, spell: Callable[[str], str]) -> None:
    (work / "a.txt").write_bytes(b"old")
    assert hearth("fs", "write", "a.txt", "--data", "x", "--expected-sha256", spell(sha(b"old"))).status == 0


def test_a_wrong_hash_is_a_conflict_that_tells_both(work: Path, hearth: Hearth) -> None:
    (work / "a.txt").write_bytes(b"old")
    done = hearth("fs", "write", "a.txt", "--data", "x", "--expected-sha256", sha(b"other"), "--json")
    details = done.json["error"]["details"]
    assert (done.status, done.json["state"]) == (3, "conflict")
    assert (details["expected_sha256"], details["actual_sha256"]) == (sha(b"other"), sha(b"old"))
    assert (work / "a.txt").read_bytes() == b"old"


def test_absent_refuses_a_file_that_exists_and_allows_a_new_one(work: Path, hearth: Hearth) -> None:
    assert hearth("fs", "write", "a.txt", "--data", "x", "--expected-sha256", "absent").status == 0
    assert hearth("fs", "write", "a.txt", "--data", "y", "--expected-sha256", "absent").status == 3
    assert hearth("fs", "write", "a.txt", "--data", "y", "--create-only").status == 3
    assert (work / "a.txt").read_bytes() == b"x"


def test_an_expected_file_that_is_gone_is_a_conflict(hearth: Hearth) -> None:
    done = hearth("fs", "write", "a.txt", "--data", "x", "--expected-sha256", sha(b"old"), "--json")
    assert (done.status, done.json["error"]["details"]["actual_sha256"]) == (3, None)


def test_write_from_a_file_keeps_every_byte(work: Path, hearth: Hearth) -> None:
    data = bytes(range(256)) * 1000
    (work / "from.bin").write_bytes(data)
    assert hearth("fs", "write", "to.bin", "--from", "from.bin").status == 0
    assert (work / "to.bin").read_bytes() == data


def test_write_from_outside_the_roots_is_refused(work: Path, tmp_path: Path, hearth: Hearth) -> None:
    (tmp_path / "secret").write_bytes(b"x")
    assert hearth("fs", "write", "to", "--from", tmp_path / "secret", "--json").json["error"]["code"] == "outside_root"
    assert list(work.iterdir()) == []


def test_without_data_and_standard_input_json_is_refused(runtime: Runtime) -> None:
    answer = write(runtime, path="a.txt")
    assert answer.error is not None and answer.error.code == "invalid_input"


@pytest.mark.parametrize(
    ("given", "want"),
    [
        ({"data": "é\n", "encoding": "utf-16-le", "bom": True}, "\ufeffé\n".encode("utf-16-le")),
        ({"data": "é\n", "encoding": "utf-8-sig"}, b"\xef\xbb\xbf\xc3\xa9\n"),
        ({"data": "é", "encoding": "cp1252"}, b"\xe9"),
        ({"data": "a\nb\r\nc", "line_ends": "crlf"}, b"a\r\nb\r\nc"),
        ({"data": "a\r\nb\rc", "line_ends": "lf"}, b"a\nb\nc"),
        ({"data": "a\r\nb"}, b"a\r\nb"),
        ({"data": base64.b64encode(b"\0\xff").decode(), "encoding": "base64"}, b"\0\xff"),
    ],
)
def test_text_is_stored_as_asked(work: Path, runtime: Runtime, given: dict[str, Any], want: bytes) -> None:
    assert write(runtime, path="a", **given).error is None
    assert (work / "a").read_bytes() == want


def test_a_character_that_does_not_fit_changes_nothing(work: Path, runtime: Runtime) -> None:
    (work / "a").write_bytes(b"old")
    answer = write(runtime, path="a", data="\u20ac", encoding="latin-1")
    assert answer.error is not None and answer.error.code == "wrong_encoding"
    assert (work / "a").read_bytes() == b"old" and leftovers(work) == []


@pytest.mark.parametrize("name", ["nul", "aux.txt", "com1", "LPT9.log", "con ", "a/NUL.json", "PRN/x"])
def test_reserved_names_are_made_nowhere(work: Path, hearth: Hearth, name: str) -> None:
    assert hearth("fs", "write", name, "--data", "x", "--json").json["error"]["code"] == "reserved_name"
    assert list(work.iterdir()) == []


def test_a_read_only_root_is_not_written(work: Path, runtime: Runtime) -> None:
    runtime = runtime.for_call(roots=(Root(str(work), read_only=True),))
    answer = write(runtime, path="a.txt", data="x")
    assert answer.error is not None and answer.error.code == "read_only_root"
    assert list(work.iterdir()) == []


@posix_only
def test_the_execute_bit_stays(work: Path, hearth: Hearth) -> None:
    (work / "s.sh").write_bytes(b"#!/bin/sh\n")
    (work / "s.sh").chmod(0o755)
    hearth("fs", "write", "s.sh", "--data", "#!/bin/sh\nexit 1\n")
    assert stat.S_IMODE((work / "s.sh").stat().st_mode) == 0o755


@posix_only
def test_a_new_file_takes_the_umask(work: Path, hearth: Hearth) -> None:
    old = os.umask(0o027)
    try:
        hearth("fs", "write", "new", "--data", "x")
    finally:
        os.umask(old)
    assert stat.S_IMODE((work / "new").stat().st_mode) == 0o640


@root_only
def test_owner_and_attributes_stay(work: Path, hearth: Hearth) -> None:
    path = work / "a"
    path.write_bytes(b"old")
    os.chown(path, 12345, 54321)
    try:
        os.setxattr(path, "user.note", b"kept")
    except OSError:
        pytest.skip("this file system has no extended attributes")
    hearth("fs", "write", "a", "--data", "new")
    found = path.stat()
    assert (found.st_uid, found.st_gid, os.getxattr(path, "user.note")) == (12345, 54321, b"kept")


@posix_only
def test_a_link_at_the_end_stays_and_its_target_is_written(work: Path, hearth: Hearth) -> None:
    (work / "real").write_bytes(b"old")
    (work / "link").symlink_to("real")
    hearth("fs", "write", "link", "--data", "new")
    assert (work / "link").is_symlink() and (work / "real").read_bytes() == b"new"


@posix_only
def test_a_link_out_of_the_root_is_not_written_through(work: Path, tmp_path: Path, hearth: Hearth) -> None:
    (tmp_path / "outside").mkdir()
    (work / "link").symlink_to(tmp_path / "outside")
    assert hearth("fs", "write", "link/x", "--data", "new", "--json").json["error"]["code"] == "outside_root"
    assert list((tmp_path / "outside").iterdir()) == []


def test_other_names_of_a_replaced_file_are_reported(work: Path, hearth: Hearth) -> None:
    (work / "a").write_bytes(b"old")
    os.link(work / "a", work / "b")
    done = hearth("fs", "write", "a", "--data", "new", "--json").json
    assert "2 names" in done["warnings"][0]
    assert ((work / "a").read_bytes(), (work / "b").read_bytes()) == (b"new", b"old")


def test_hard_links_stay_when_written_in_place(work: Path, runtime: Runtime) -> None:
    runtime = runtime.for_call(settings=Settings(fs=FsSettings(hard_links=HardLinks.IN_PLACE)))
    (work / "a").write_bytes(b"a longer old text")
    os.link(work / "a", work / "b")
    assert write(runtime, path="a", data="new").error is None
    assert (work / "b").read_bytes() == b"new" and leftovers(work) == []


def test_append_adds_in_place(work: Path, hearth: Hearth) -> None:
    (work / "log").write_bytes(b"one\n")
    os.link(work / "log", work / "other")
    done = hearth("fs", "write", "log", "--append", stdin=b"two\n").status
    assert (done, (work / "other").read_bytes()) == (0, b"one\ntwo\n")


@pytest.mark.parametrize("stands", [True, False], ids=["made meanwhile", "removed meanwhile"])
def test_append_looks_anew_for_a_file_that_comes_or_goes(
    work: Path, hearth: Hearth, monkeypatch: pytest.MonkeyPatch, stands: bool
) -> None:
    from hearth.services.fs import write

    if stands:
        (work / "log").write_bytes(b"one\n")
    looks = [not stands]
    real = write._exists
    monkeypatch.setattr(write, "_exists", lambda *given: looks.pop() if looks else real(*given))
    assert hearth("fs", "write", "log", "--append", "--data", "two\n").status == 0
    assert (work / "log").read_bytes() == (b"one\n" if stands else b"") + b"two\n"


def test_append_makes_a_file_that_is_missing(work: Path, hearth: Hearth) -> None:
    assert hearth("fs", "write", "new/log", "--append", "--data", "one").status == 0
    assert (work / "new" / "log").read_bytes() == b"one"


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-8"])
def test_appended_text_follows_the_mark_of_the_file(work: Path, runtime: Runtime, encoding: str) -> None:
    write(runtime, path="a", data="één\n", encoding=encoding, bom=True)
    assert write(runtime, path="a", data="zwei\n", append=True, line_ends="crlf").error is None
    assert write(runtime, path="a", data="drei\n", append=True, encoding=encoding, bom=True).error is None
    assert (work / "a").read_bytes() == "\ufefféén\nzwei\r\ndrei\n".encode(encoding)
    assert dispatch.call_json(runtime, "fs.undo", {"last": True}).error is None
    assert (work / "a").read_bytes() == "\ufefféén\nzwei\r\n".encode(encoding)


def test_a_mark_is_written_only_where_a_file_begins(work: Path, runtime: Runtime, hearth: Hearth) -> None:
    (work / "empty").write_bytes(b"")
    for path in ("empty", "new"):
        for _ in range(2):
            assert write(runtime, path=path, data="x", append=True, encoding="utf-16").error is None
        assert (work / path).read_bytes() == "\ufeffxx".encode("utf-16-le")
    (work / "bytes").write_bytes(b"\xff\xfex\0")
    assert hearth("fs", "write", "bytes", "--append", stdin=b"as they come").status == 0
    assert write(runtime, path="bytes", data="AA==", append=True, encoding="base64").error is None
    assert (work / "bytes").read_bytes() == b"\xff\xfex\0as they come\0"


def test_a_dry_run_changes_nothing(work: Path, hearth: Hearth) -> None:
    (work / "a").write_bytes(b"old")
    done = hearth("fs", "write", "a", "--data", "new", "--dry-run", "--json").json
    assert (done["changed"], done["sha256"], done["receipt"]) == (True, sha(b"new"), None)
    assert hearth("fs", "write", "x/y/z", "--data", "new", "--dry-run", "--json").json["created"] is True
    assert {path.name: path.read_bytes() for path in work.iterdir()} == {"a": b"old"}


def test_content_above_the_backup_bound_needs_permanent(work: Path, runtime: Runtime) -> None:
    runtime = runtime.for_call(settings=Settings(fs=FsSettings(backup_max_bytes=10)))
    (work / "a").write_bytes(b"more than ten bytes")
    answer = write(runtime, path="a", data="new")
    assert answer.error is not None and answer.error.code == "backup_too_large"
    assert "--permanent" in (answer.error.hint or "")
    assert write(runtime, path="a", data="new", permanent=True).error is None
    assert (work / "a").read_bytes() == b"new"


def test_a_directory_is_not_written(work: Path, hearth: Hearth) -> None:
    (work / "d").mkdir()
    assert hearth("fs", "write", "d", "--data", "x", "--json").json["error"]["code"] == "is_a_directory"
    assert hearth("fs", "write", ".", "--data", "x", "--json").json["error"]["code"] == "is_a_directory"


@posix_only
def test_a_fifo_is_refused_without_waiting(work: Path, hearth: Hearth) -> None:
    os.mkfifo(work / "pipe")
    assert hearth("fs", "write", "pipe", "--data", "x", "--json").json["error"]["code"] == "not_regular"


class StillClock(Clock):
    def __init__(self) -> None:
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


@pytest.fixture
def refusals(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], StillClock]]:
    """The first N renames are refused, as when an editor or a scanner has the file open."""
    clock = StillClock()
    monkeypatch.setattr(runtime, "clock", clock)
    kind = type(runtime.host.open_root(str(runtime.base)))
    real = kind.rename
    left = [0]

    def rename(self: Directory, name: str, to: Directory, new_name: str, *, replace: bool) -> None:
        if left[0] > 0:
            left[0] -= 1
            raise PermissionError(13, "Permission denied")
        real(self, name, to, new_name, replace=replace)

    def refuse(count: int) -> StillClock:
        left[0] = count
        return clock

    monkeypatch.setattr(kind, "rename", rename)
    yield refuse


@pytest.mark.parametrize("refused", [1, 3])
def test_a_refused_rename_is_tried_again(
    work: Path, runtime: Runtime, refusals: Callable[[int], StillClock], refused: int
) -> None:
    (work / "a").write_bytes(b"old")
    clock = refusals(refused)
    answer = write(runtime, path="a", data="new")
    assert answer.result.replace_attempts == refused + 1
    assert clock.slept == [0.01, 0.02, 0.04][:refused]
    assert (work / "a").read_bytes() == b"new"


def test_a_rename_that_stays_refused_leaves_the_original(
    work: Path, runtime: Runtime, refusals: Callable[[int], StillClock]
) -> None:
    (work / "a").write_bytes(b"old")
    clock = refusals(1_000)
    answer = write(runtime, path="a", data="new")
    assert answer.error is not None and answer.error.code == "permission_denied"
    assert clock.slept == [0.01, 0.02, 0.04, 0.08, 0.16]
    assert (work / "a").read_bytes() == b"old" and leftovers(work) == []
    with runtime.store.read() as tx:
        assert tx.execute("SELECT count(*) FROM receipts").fetchone()[0] == 0


def test_a_refused_rename_of_an_undo_is_tried_again(
    work: Path, runtime: Runtime, refusals: Callable[[int], StillClock]
) -> None:
    (work / "a").write_bytes(b"old")
    write(runtime, path="a", data="new")
    refusals(1)
    answer = dispatch.call_json(runtime, "fs.undo", {"last": True})
    assert answer.result.replace_attempts == 2
    assert (work / "a").read_bytes() == b"old"


@pytest.mark.parametrize(
    "data", [b"\xef\xbb\xbfa\xc3\xa9\r\nb\n", "\ufeffé\r\n".encode("utf-16-le"), "é\n".encode("utf-16-be"), b"plain\n"]
)
def test_what_was_read_is_written_back_byte_for_byte(work: Path, runtime: Runtime, data: bytes) -> None:
    (work / "a").write_bytes(data)
    told = dispatch.call_json(runtime, "fs.read", {"path": "a"}).result
    given = {"path": "b", "data": told.data, "encoding": told.encoding, "bom": told.bom}
    assert write(runtime, **given).error is None
    assert (work / "b").read_bytes() == data
    assert write(runtime, **{**given, "path": "a"}).result.changed is False


def test_an_undo_and_a_write_with_the_old_hash_give_one_change_and_one_conflict(work: Path, runtime: Runtime) -> None:
    (work / "a").write_bytes(b"old")
    write(runtime, path="a", data="new")
    assert dispatch.call_json(runtime, "fs.undo", {"last": True}).error is None
    answer = write(runtime, path="a", data="later", expected_sha256=sha(b"new"))
    assert answer.error is not None and answer.error.code == "conflict"
    assert (work / "a").read_bytes() == b"old"


def test_a_lock_that_is_held_too_long_is_named_and_other_files_go_on(work: Path, runtime: Runtime) -> None:
    runtime = runtime.for_call(settings=Settings(fs=FsSettings(lock_timeout_ms=0)))
    assert write(runtime, path="A", data="x").error is None
    with runtime.containment.locate("A", write=True) as place:
        held = locks.stripe(place.directory.identity, "a")  # another spelling takes the same lock
        free = next(name for name in map(str, range(300)) if locks.stripe(place.directory.identity, name) != held)
    with locks.hold(runtime, [held]):
        answer = write(runtime, path="A", data="y")
        assert answer.error is not None and (answer.error.code, answer.error.exit_status) == ("locked", 1)
        assert write(runtime, path=free, data="y").error is None
    assert (work / "A").read_bytes() == b"x"


def test_a_file_that_somebody_else_changes_during_the_call_is_a_conflict(work: Path, runtime: Runtime) -> None:
    (work / "a").write_bytes(b"old")

    def edit(old: bytes) -> bytes:
        (work / "a").write_bytes(b"an editor without our locks")
        return old + b" edited"

    with pytest.raises(Conflict):
        mutation.apply(runtime, [Write("a", edit=edit)], operation="fs.write")
    assert (work / "a").read_bytes() == b"an editor without our locks" and leftovers(work) == []


def test_a_file_that_somebody_else_makes_during_the_call_is_not_overwritten(work: Path, runtime: Runtime) -> None:
    def edit(old: bytes) -> bytes:
        (work / "a").write_bytes(b"quicker")
        return old + b"slower"

    with pytest.raises(Conflict):
        mutation.apply(runtime, [Write("a", edit=edit)], operation="fs.write")
    assert (work / "a").read_bytes() == b"quicker" and leftovers(work) == []


def at_once(runtime: Runtime, given: Iterable[dict[str, Any]]) -> list[Answer]:
    """The answers to writes that begin at the same moment."""
    writes = list(given)
    ready = threading.Barrier(len(writes))

    def one(fields: dict[str, Any]) -> Answer:
        ready.wait(10)
        return write(runtime.for_call(), **fields)

    with ThreadPoolExecutor(len(writes)) as pool:
        return list(pool.map(one, writes))


def test_appends_that_make_the_file_at_once_all_get_into_it(work: Path, runtime: Runtime) -> None:
    for name in ("a", "b", "new/c", "new/er/d"):
        answers = at_once(runtime, ({"path": name, "data": f"{n}\n", "append": True} for n in range(8)))
        assert [answer.error for answer in answers] == [None] * 8
        assert sorted((work / name).read_text("ascii").split()) == list("01234567")


def test_writes_that_make_the_file_at_once_leave_one_whole_and_never_meet_an_error(
    work: Path, runtime: Runtime
) -> None:
    for name in ("a", "new/b", "new/er/c", "newest/d"):
        answers = at_once(runtime, ({"path": name, "data": str(n) * 100} for n in range(8)))
        assert [answer.error for answer in answers] == [None] * 8
        assert (work / name).read_bytes() in {str(n).encode() * 100 for n in range(8)}


def test_of_writes_that_may_only_make_the_file_one_wins(work: Path, runtime: Runtime) -> None:
    for more in ({"create_only": True}, {"expected_sha256": "absent"}, {"create_only": True, "append": True}):
        answers = at_once(
            runtime, ({"path": f"{len(more)}{next(iter(more))}", "data": str(n), **more} for n in range(6))
        )
        assert all(answer.error.exit_status == 3 for answer in answers if answer.error)
        assert [answer.error for answer in answers].count(None) == 1
    assert leftovers(work) == []


def test_several_files_change_all_or_none(work: Path, runtime: Runtime) -> None:
    (work / "b").write_bytes(b"old")
    steps = [
        Write("new/a", b"1", create_parents=True),
        Write("b", b"2"),
        Write("new/c", b"3", create_parents=True, expected_sha256=sha(b"something else")),
    ]
    with pytest.raises(Conflict):
        mutation.apply(runtime, steps, operation="fs.patch")
    assert {path.name: path.read_bytes() for path in work.iterdir()} == {"b": b"old"}
    done = mutation.apply(runtime, [Write("new/a", b"1", create_parents=True), Write("b", b"2")], operation="fs.patch")
    assert done.receipt is not None and len(done.receipt.changes) == 3
    assert (work / "new" / "a").read_bytes() == b"1"
