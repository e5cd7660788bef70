"""ripgrep as a scout for one literal in a large open content: many times as fast as Python's own search."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Generator, Iterator
from time import monotonic
from typing import IO, TYPE_CHECKING

from hearth.cancellation import Cancellation
from hearth.content.occurrences import Step, of_bytes

if TYPE_CHECKING:
    from subprocess import Popen

WORTH_BYTES = 16 << 20  # below this, starting a program takes longer than looking
SAMPLE = 1 << 16
STRIDE = 16 << 20
END_SECONDS = 5.0
BEHIND = 64 << 20  # more than ripgrep may have read and not looked at yet


def of_bytes_quickly(
    descriptor: int, other: int, size: int, wanted: bytes, start: int, *, seconds: float, cancelled: Cancellation
) -> Generator[Step, None, None]:
    """As `occurrences.of_bytes`. `descriptor` and `other` are two opened ones of the same content, one of which is
    ripgrep's to read; it ends after `seconds`, and when the call is cancelled."""
    program = _scout(descriptor, size, wanted, start)
    least = start
    if program is not None:
        for step in _proposed(program, other, wanted, start, seconds, cancelled):
            if step is None:
                break  # it failed: go on without it
            least = step.reached
            yield step
        else:
            return
    yield from of_bytes(descriptor, wanted, least)


def _scout(descriptor: int, size: int, wanted: bytes, start: int) -> str | None:
    if size - start < WORTH_BYTES or b"\n" in wanted or b"\0" in wanted or not _is_text(wanted):
        return None
    if _may_hold_long_lines(descriptor, start, size):
        return None
    from hearth.platforms.programs import find_program

    return find_program("rg")


def _is_text(wanted: bytes) -> bool:
    try:
        wanted.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _may_hold_long_lines(descriptor: int, start: int, size: int) -> bool:
    """Whether a line may be longer than 16 MiB: ripgrep holds a whole line in memory."""
    for place in range(start, size - SAMPLE, STRIDE):
        os.lseek(descriptor, place, os.SEEK_SET)
        if b"\n" not in os.read(descriptor, SAMPLE):
            return True
    return False


def _proposed(
    program: str, content: int, wanted: bytes, start: int, seconds: float, cancelled: Cancellation
) -> Generator[Step | None, None, None]:
    """What ripgrep finds; at last None when it did not do its work."""
    from hearth.platforms import programs

    os.lseek(content, start, os.SEEK_SET)
    try:
        process = programs.start_reader(_arguments(program, wanted.decode("utf-8")), os.getcwd(), stdin=content)
    except OSError:
        yield None
        return
    guard = threading.Timer(seconds, process.kill)
    guard.daemon = True
    guard.start()
    deadline, kill, least = monotonic() + seconds, process.kill, start
    try:
        with cancelled.calls(kill):
            for offset in _offsets(process.stdout, start):
                least = offset + len(wanted)
                yield Step(least, offset, len(wanted))
        if _ended_well(process):
            return
        # The two share the position in the file, so it tells how far the program has come.
        yield Step(max(least, os.lseek(content, 0, os.SEEK_CUR) - BEHIND))
        if monotonic() < deadline and not cancelled.is_set():
            yield None
    finally:
        guard.cancel()
        programs.end(process)


def _ended_well(process: Popen[bytes]) -> bool:
    from subprocess import TimeoutExpired

    with contextlib.suppress(TimeoutExpired):
        return process.wait(END_SECONDS) in (0, 1)
    process.kill()  # it goes on although it said what it never says
    return False


def _offsets(pipe: IO[bytes] | None, start: int) -> Iterator[int]:
    """The places in lines of `offset:text`, up to the first that is none."""
    assert pipe is not None
    for line in pipe:
        offset = line.partition(b":")[0]
        if not (line.endswith(b"\n") and offset.isdigit()):
            return
        yield start + int(offset)


def _arguments(program: str, wanted: str) -> list[str]:
    made = [program, "--no-config", "--no-messages", "--color=never", "--no-heading", "--no-filename"]
    made += ["--no-line-number", "--byte-offset", "--only-matching", "--text", "--encoding=none", "--no-mmap"]
    made += ["--line-buffered"]  # what it found before it is killed is there
    return [*made, "--case-sensitive", "--fixed-strings", f"--regexp={wanted}", "--", "-"]
