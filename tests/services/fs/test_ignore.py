from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from hearth.runtime import Runtime
from hearth.services.fs.find import FindNames, find

FILES = [
    *("a.o", "keep.o", "b.txt", "logs/x.log", "logs/deep/y.log", "x/logs/z", "build/out", "src/build/out"),
    *("src/a.o", "src/keep.o", "src/only/a", "docs/a.md", "docs/deep/b.md", "docs/deep/c.md", "sp ace ", "#hash"),
    *("!bang", "foo/bar/baz", "x/foo/bar/baz", "one/two/three", "one/x/three", "one/three", "c[1].txt", "d1.txt"),
    *("nested/a.tmp", "nested/keep.tmp", "nested/sub/a.tmp", "back\\slash", "private/a/b", "private/ok"),
]
RULES = {
    ".gitignore": "\n".join(
        [
            *("*.o", "!keep.o", "logs/", "/build", "docs/**/b.md", "# a comment", "\\#hash", "\\!bang", "foo/bar"),
            *("one/**/three", "c\\[1\\].txt", "d[0-9].txt", "sp ace\\ ", "private/*", "!private/ok", "[z-a]", ""),
        ]
    ),
    "src/.gitignore": "only/\r\n*.py\r\n",
    "nested/.gitignore": "*.tmp\n!keep.tmp\n",
    ".git/info/exclude": "b.txt\n",
}


@pytest.fixture
def tree(work: Path) -> Path:
    if shutil.which("git"):
        subprocess.run(["git", "init", "-q", "."], check=True)
    for name in FILES:
        path = work / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")
    for name, text in RULES.items():
        (work / name).parent.mkdir(parents=True, exist_ok=True)
        (work / name).write_bytes(text.encode())
    return work


@pytest.mark.skipif(not shutil.which("git"), reason="git says what is right here")
@pytest.mark.skipif("os.sep != '/'", reason="some of these names cannot be made on Windows")
def test_a_walk_leaves_out_what_git_ignores(tree: Path, runtime: Runtime) -> None:
    asked = "\0".join(FILES).encode()
    said = subprocess.run(["git", "check-ignore", "-z", "--stdin"], input=asked, capture_output=True, check=True)
    ignored = set(said.stdout.decode().split("\0"))
    found = {each.path for each in find(runtime, FindNames(hidden=False)).found if each.kind == "file"}
    assert found == set(FILES) - ignored
    assert tree.is_dir()


def test_rules_of_directories_above_the_start_count(work: Path, runtime: Runtime) -> None:
    (work / "pkg" / "src").mkdir(parents=True)
    (work / ".gitignore").write_text("*.o\npkg/src/gen*\n", encoding="utf-8")
    for name in ("a.o", "gen.c", "main.c"):
        (work / "pkg" / "src" / name).write_bytes(b"")
    found = find(runtime, FindNames(path="pkg/src"))
    assert [Path(each.path).name for each in found.found] == ["main.c"]
    assert found.skipped == {"ignored": 2}


def test_a_dot_ignore_file_goes_before_gitignore(work: Path, runtime: Runtime) -> None:
    (work / ".gitignore").write_text("*.gen\n", encoding="utf-8")
    (work / ".ignore").write_text("!a.gen\nb\n", encoding="utf-8")
    for name in ("a.gen", "b.gen", "b"):
        (work / name).write_bytes(b"")
    assert [each.path for each in find(runtime, FindNames()).found] == ["a.gen"]
