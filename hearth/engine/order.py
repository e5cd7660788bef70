"""In which order both outputs of a run grew, as far as its worker saw it.

A file of lines `<bytes of stdout> <bytes of stderr>`: what there was each time before another output grew than before.
"""

from __future__ import annotations

import contextlib
import os

Sizes = tuple[int, int]
MOST = 256  # of more every second one goes, which makes the picture coarser and never wrong


class Order:
    """The notes of one run. Nothing is noted of a run that uses one output only."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._noted: list[Sizes] | None = None
        self._last: Sizes = (0, 0)
        self._grew: tuple[bool, bool] = (False, False)

    def saw(self, now: Sizes) -> None:
        """Take note of how much there is. A note that cannot be written is left out."""
        last = self._last
        if now == last:
            return
        if self._noted is None:  # an earlier worker may have begun
            self._noted = list(self.read())
            last = self._noted[-1] if self._noted else last
        grew = now[0] > last[0], now[1] > last[1]
        if any(last) and (all(grew) or grew != self._grew) and last not in self._noted[-1:]:
            with contextlib.suppress(OSError):
                self._note(last, self._noted)
        self._last, self._grew = now, grew

    def _note(self, sizes: Sizes, noted: list[Sizes]) -> None:
        noted.append(sizes)
        if len(noted) <= MOST:
            with open(self._path, "a", encoding="ascii", newline="\n") as file:
                file.write(_line(sizes))
            return
        noted[:] = noted[1::2]
        with open(self._path + ".new", "w", encoding="ascii", newline="\n") as file:
            file.writelines(map(_line, noted))
        os.replace(self._path + ".new", self._path)

    @property
    def text(self) -> str | None:
        """All notes, for `order_of`; None where there are none."""
        try:
            with open(self._path, encoding="ascii", errors="replace", newline="\n") as file:
                return file.read()
        except OSError:
            return None

    def read(self) -> tuple[Sizes, ...]:
        return order_of(self.text)


def _line(sizes: Sizes) -> str:
    return f"{sizes[0]} {sizes[1]}\n"


def order_of(text: str | None) -> tuple[Sizes, ...]:
    """What the notes tell; a line that is not whole tells nothing."""
    lines = (text or "").split("\n")[:-1]
    pairs = (line.split(" ") for line in lines)
    return tuple((int(one), int(other)) for one, other in pairs)
