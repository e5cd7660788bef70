"""What a command may import: the modules that cost milliseconds, by command."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.marks import WINDOWS

pytestmark = pytest.mark.timeout(30)  # each starts programs, which takes a busy machine seconds

# Each costs from 2 ms (hashlib) to 200 ms (mcp).
HEAVY = {
    "anyio", "asyncio", "charset_normalizer", "concurrent.futures", "cronsim", "ctypes", "difflib", "email",
    "hashlib", "http", "importlib.metadata", "json", "logging", "mcp", "multiprocessing", "pathspec",
    "platformdirs", "psutil", "pydantic", "re2", "rich", "socket", "sqlite3", "sqlite_utils", "ssl", "subprocess",
    "tempfile", "tomlkit", "tomllib", "unicodedata", "uvicorn", "uvloop", "watchfiles",
}  # fmt: skip
STORE = {"sqlite3", "json"}
PSUTIL = {"psutil", "socket", "subprocess"}  # it brings the others
PYDANTIC = {"pydantic", "email", "hashlib", "importlib.metadata", "socket", "tempfile"}  # it brings the others
CLICK = {"ctypes"} if WINDOWS else set()  # for the console's wide characters

ALLOWED: dict[tuple[str, ...], set[str]] = {
    ("--version",): set(),
    ("--help",): set(),
    ("fs", "--help"): set(),
    ("fs", "stat", "--help"): set(),
    ("fs", "stat", ".", "--json"): STORE,
    ("fs", "stat", "."): STORE,
    ("fs", "find", "*.py"): STORE,
    ("fs", "search", "hello"): STORE | {"subprocess"},
    ("fs", "list"): STORE,
    ("fs", "find", "*.txt"): STORE,
    ("fs", "read", "a.txt"): STORE,
    ("fs", "history"): STORE,
    ("fs", "patch", "a.txt", "--old", "hello", "--new", "bye"): STORE | {"hashlib", "ctypes", "difflib"},
    ("fs", "write", "b.txt", "--data", "x"): STORE | {"hashlib", "ctypes"},
    ("machine", "exec", sys.executable, "-c", ""): STORE | {"subprocess"},
    ("machine", "which", sys.executable): STORE,
    ("machine", "env"): STORE,
    ("machine", "host-info"): STORE | PSUTIL,
    ("machine", "process-list"): STORE | PSUTIL,
    ("__complete", "receipt", "rec_"): STORE,
    ("artifact", "list"): STORE,
    ("task", "list"): STORE,
    ("task", "cancel", "--group", "none"): STORE,
    ("task", "wait", "--group", "none", "--timeout", "1s"): STORE,
    ("task", "retry", "--all-failed", "--no-start"): STORE,
    ("task", "submit", "--no-start", "--", "true"): STORE | {"hashlib"},
    ("artifact", "--help"): set(),
    ("artifact", "put", "a.txt"): STORE | {"hashlib"},
    ("task", "schedules"): STORE,
    ("task", "next", "--every", "1h"): STORE,
    ("task", "next", "--cron", "@daily", "--zone", "UTC"): STORE | {"cronsim"},
    ("serve", "--help"): {"json"},
    ("operations",): {"json"},
    ("config", "show"): {"json"},
    ("config", "get", "fs.sync"): {"json"},
    ("config", "roots"): {"json"},
    ("call", "fs.stat", '{"path": "."}'): STORE | PYDANTIC,
}

PROGRAM = """
import sys
from hearth.__main__ import main
sys.argv[0] = "hearth"
try:
    main()
finally:
    sys.stderr.write("\\n" + "\\n".join(sys.modules))
"""


@pytest.mark.parametrize("words", ALLOWED, ids=" ".join)
def test_a_command_imports_only_the_heavy_modules_that_it_may(words: tuple[str, ...], work: Path) -> None:
    root = str(Path(__file__).parents[2])
    (work / "a.txt").write_bytes(b"hello")
    done = subprocess.run(
        [sys.executable, "-S", "-c", PROGRAM, *words],
        cwd=work,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([root, *sys.path])},
        capture_output=True,
        timeout=20,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode("utf-8", "replace")[-2000:]
    loaded = set(done.stderr.decode("utf-8", "replace").split()) & HEAVY
    assert loaded <= ALLOWED[words] | CLICK
