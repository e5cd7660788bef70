"""Real processes for tests to look at and to end."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import psutil

Start = Callable[..., "subprocess.Popen[bytes]"]

SLEEPER = "print('up', flush=True); import time; time.sleep(300)"
DEAF = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {SLEEPER}"
PARENT = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {SLEEPER!r}]); import time; time.sleep(300)"
DEAF_PARENT = (
    "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); import subprocess, sys; "
    f"subprocess.Popen([sys.executable, '-c', {SLEEPER!r}]); import time; time.sleep(300)"
)


@contextmanager
def starting() -> Iterator[Start]:
    """`start(code, *words)` starts Python and returns once it has printed a line; nothing outlives the test."""
    with ExitStack() as stack:

        def start(code: str = SLEEPER, *words: str, **options: Any) -> subprocess.Popen[bytes]:
            process = subprocess.Popen([sys.executable, "-c", code, *words], stdout=subprocess.PIPE, **options)
            stack.callback(_end, process)
            assert process.stdout is not None
            assert process.stdout.readline().strip() == b"up"
            for child in psutil.Process(process.pid).children(recursive=True):
                stack.callback(_kill, child)
            return process

        yield start


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    assert process.stdout is not None
    process.stdout.close()  # not read to its end, which a grandchild may hold


def _kill(process: psutil.Process) -> None:
    with suppress(psutil.NoSuchProcess):
        process.kill()
