"""A process that adds lines to one file: `writer.py FOLDER NAME COUNT`, once it reads a byte from standard input."""

from __future__ import annotations

import sys
from pathlib import Path

from hearth.services.fs import mutation
from hearth.services.fs.content import Write
from tests.acceptance.dying import open_runtime


def main(folder: Path, name: str, count: int) -> None:
    runtime = open_runtime(folder)
    sys.stdin.read(1)
    for number in range(count):
        line = f"{name} {number}\n".encode()
        # Read, changed and written under one lock, as a patch is.
        step = Write("shared", edit=lambda old, line=line: old + line)  # type: ignore[misc]
        mutation.apply(runtime, [step], operation="fs.write")
    runtime.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
