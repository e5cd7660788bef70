from collections.abc import Callable
from pathlib import Path
from typing import Any


def test_stat_tells_size_and_kind(work: Path, hearth: Callable[..., Any]) -> None:
    (work / "a.txt").write_bytes(b"hello")
    done = hearth("fs", "stat", "a.txt", "--json")
    assert (done.status, done.json["state"], done.json["size"], done.json["kind"]) == (0, "completed", 5, "file")


def test_stat_of_a_near_miss_names_the_real_file(work: Path, hearth: Callable[..., Any]) -> None:
    (work / "Shot 9.41\u202fPM.png").write_bytes(b"")
    done = hearth("fs", "stat", "Shot 9.41 PM.png", "--json")
    assert done.status == 4
    assert done.json["error"]["details"]["nearest"] == "Shot 9.41\u202fPM.png"
