from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Hearth = Callable[..., Any]


def write(work: Path, **settings: Any) -> Path:
    (work / "v0").mkdir()
    path = work / "v0" / "config.json"
    path.write_text(json.dumps(settings), "utf-8")
    return path


def test_known_keys_are_taken_over_and_the_rest_listed(hearth: Hearth, work: Path, user_file: Path) -> None:
    path = write(work, port=3000, max_output_bytes=70_000, roots=["..", "x"], data_dir=".hearth", wake={"armed": False})
    done = hearth("config", "import", path, "--json")
    assert (done.status, done.json["state"], done.json["path"]) == (0, "partial", str(user_file))
    rows = {row["key"]: (row["imported"], row["reason"]) for row in done.json["settings"]}
    assert rows == {
        "max_output_bytes": (True, None),
        "roots": (True, None),
        "data_dir": (True, None),
        "port": (False, "has no counterpart"),
        "wake.armed": (False, "has no counterpart"),
    }
    roots = json.loads(hearth("config", "get", "roots").out)
    assert [root["path"] for root in roots] == [str(work), str(work / "v0" / "x")]
    assert hearth("config", "get", "data_dir").out == f"{work / 'v0' / '.hearth'}\n"


def test_a_value_out_of_bounds_is_left_with_the_reason(hearth: Hearth, work: Path) -> None:
    done = hearth("config", "import", write(work, max_output_bytes=5), "--json").json
    assert [(row["imported"], row["reason"]) for row in done["settings"]] == [(False, "must be 1024 or more")]
    assert hearth("config", "check").status == 0


def test_a_file_that_is_no_json_is_refused(hearth: Hearth, work: Path) -> None:
    (work / "config.json").write_text("max_output_bytes = 5", "utf-8")
    done = hearth("config", "import", "config.json", "--json")
    assert (done.status, done.json["error"]["code"]) == (2, "invalid_setting")
