"""A step that makes a file's new text from the old one, under the lock."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from hearth.content.text import LineEnds, TextForm
from hearth.errors import HearthError, TooLarge
from hearth.services.fs.content import Write
from hearth.services.fs.exact_text import MAX_BYTES, ExactText, exact_text
from hearth.services.fs.folded import Edit, apply

if TYPE_CHECKING:
    from hearth.services.fs.hunks import Placed
    from hearth.services.fs.mutation import Mutation

NOWHERE = "/dev/null"
MAX_DIFFED = 16 * 1024 * 1024  # characters of one text that a diff is made of


class Changed(NamedTuple):
    """A changed text: how many changes were made, and where hunks of a diff went."""

    text: str
    count_made: int
    placed: tuple[Placed, ...] = ()


Change = Callable[[ExactText], Changed]


def edited(found: ExactText, edits: list[Edit]) -> Changed:
    """The text after edits. Raises `Encoding` where a guess would decide about new characters."""
    found.refuse_guesses("".join(edit.new for edit in edits))
    return Changed(apply(found.text, edits), len(edits))


class Rewrite(Write):
    """Change the text of a file that exists. Raises `NotFound`, `TooLarge`, `Encoding` and what `change` raises."""

    def __init__(
        self,
        path: str,
        change: Change,
        *,
        encoding: str | None = None,
        expected_sha256: str | None = None,
        permanent: bool = False,
    ) -> None:
        super().__init__(path, edit=self._edited, expected_sha256=expected_sha256, permanent=permanent)
        self._change_text = change
        self._encoding = encoding
        self.before = self.after = ExactText("", TextForm("utf-8", False, LineEnds.NONE))
        self.count_made = 0
        self.placed: tuple[Placed, ...] = ()

    def prepare(self, mutation: Mutation) -> bool:
        size = self.at.found.size
        if size > MAX_BYTES:
            raise TooLarge(f"{self.at.path} has {size:,} bytes; the text of {MAX_BYTES:,} can be changed", size=size)
        try:
            return super().prepare(mutation)
        except HearthError as error:
            error.details.setdefault("path", self.at.path)
            raise

    def _edited(self, data: bytes) -> bytes:
        self.before = exact_text(data, self._encoding)
        made = self._change_text(self.before)
        self.count_made, self.placed = made.count_made, made.placed
        self.after = self.before._replace(text=made.text)
        return self.before.bytes_of(made.text)


def diff_of(old: str | None, new: str | None, old_name: str, new_name: str) -> Iterator[str]:
    """The lines of the diff of two texts; None where there is no file."""
    from hearth.services.fs.line_diff import unified_diff

    if max(len(old or ""), len(new or "")) <= MAX_DIFFED:
        yield from unified_diff(
            old or "",
            new or "",
            old_name=NOWHERE if old is None else f"a/{old_name}",
            new_name=NOWHERE if new is None else f"b/{new_name}",
        )
