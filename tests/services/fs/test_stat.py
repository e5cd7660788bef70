from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


def test_stat_tells_size_and_kind(work: Path, hearth: Callable[..., Any]) -> None:
    (work / "a.txt").write_bytes(b"hello")
    done = hearth("fs", "stat", "a.txt", "--json")
    assert (done.status, done.json["state"], done.json["size"], done.json["kind"]) == (0, "completed", 5, "file")


def test_stat_of_a_near_miss_names_the_real_file(work: Path, hearth: Callable[..., Any]) -> None:
    (work / "Shot 9.41\u202fPM.png").write_bytes(b"")
    done = hearth("fs", "stat", "Shot 9.41 PM.png", "--json")
    assert done.status == 4
    assert done.json["error"]["details"]["nearest"] == "Shot 9.41\u202fPM.png"


def test_stat_tells_all_that_is_known(work: Path, hearth: Callable[..., Any]) -> None:
    (work / "a.md").write_bytes(b"hello")
    os.utime(work / "a.md", ns=(1_000_000_000, -1_500_000_000))
    answer = hearth("fs", "stat", "a.md", "--json").json
    assert answer["modified_at"] in ("1969-12-31T23:59:58.500Z", "1969-12-31T23:59:59.000Z")
    assert (answer["accessed_at"], answer["mime"], answer["links"]) == ("1970-01-01T00:00:01.000Z", "text/markdown", 1)
    assert (answer["root"], answer["read_only"], answer["target"]) == (str(work), False, None)
    hashed = hearth("fs", "stat", "a.md", "--sha256", "--json").json  # which may move the time of access
    assert (answer["sha256"], hashed["sha256"]) == (None, hashlib.sha256(b"hello").hexdigest())


def test_stat_of_a_directory_has_no_hash_and_no_media_type(hearth: Callable[..., Any]) -> None:
    answer = hearth("fs", "stat", ".", "--sha256", "--json").json
    assert (answer["kind"], answer["sha256"], answer["mime"]) == ("directory", None, None)


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege, and Wine has none")
def test_stat_follows_a_link_or_tells_its_target(work: Path, hearth: Callable[..., Any]) -> None:
    (work / "a").write_bytes(b"12")
    (work / "b").symlink_to("a")
    assert hearth("fs", "stat", "b", "--json").json["path"] == str(work / "a")
    answer = hearth("fs", "stat", "b", "--no-follow", "--json").json
    assert (answer["kind"], answer["target"], answer["sha256"]) == ("link", "a", None)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no FIFOs in directories")
def test_stat_and_its_hash_never_block_on_a_fifo(work: Path, hearth: Callable[..., Any]) -> None:
    os.mkfifo(work / "f")
    assert hearth("fs", "stat", "f", "--json").json["kind"] == "fifo"
    assert hearth("fs", "stat", "f", "--sha256", "--json").json["error"]["code"] == "not_regular"
    assert hearth("fs", "read", "f", "--json").json["error"]["code"] == "not_regular"


@pytest.mark.skipif(os.name != "nt", reason="attributes are Windows'")
def test_stat_tells_the_attributes_of_windows(work: Path, hearth: Callable[..., Any]) -> None:
    (work / "a").write_bytes(b"")
    os.chmod(work / "a", 0o444)
    assert "read_only" in hearth("fs", "stat", "a", "--json").json["attributes"]


def test_a_device_name_is_there_only_when_a_file_has_it(work: Path, hearth: Callable[..., Any]) -> None:
    for name in ("nul", "CON", "com1.txt"):
        assert hearth("fs", "stat", name, "--json").json["error"]["code"] == "not_found"
    assert hearth("fs", "list", "--json").json["entries"] == []
    prefix = "\\\\?\\" if sys.platform == "win32" else ""
    with open(f"{prefix}{work / 'nul'}", "wb") as file:
        file.write(b"real")
    assert [each["name"] for each in hearth("fs", "list", "--json").json["entries"]] == ["nul"]
    assert hearth("fs", "stat", "nul", "--json").json["size"] == 4
    assert hearth("fs", "read", "nul").out == "real"
