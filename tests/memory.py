"""How much memory a program held at most.

A program's own peak begins at the size of whoever started it, since Linux keeps the peak of the image before exec. A
test's process may be large, so a small one in between starts the program and tells.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

_SMALL = """
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:])
sys.stderr.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(done.returncode)
"""


def run(words: Sequence[str], *, folder: Path, timeout: float) -> tuple[bytes, int]:
    """What a program of hearth prints, and its peak in bytes. Raises `CalledProcessError` and `TimeoutExpired`."""
    done = subprocess.run(
        [sys.executable, "-S", "-c", _SMALL, *words], cwd=folder, capture_output=True, timeout=timeout, check=True
    )
    # getrusage(2) counts kibibytes on Linux, bytes on macOS.
    return done.stdout, int(done.stderr.split()[-1]) * (1 if sys.platform == "darwin" else 1024)
