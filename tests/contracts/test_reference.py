"""The README's reference says what the tables say."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from hearth.cli import reference
from hearth.configuration import keys

README = Path(__file__).parents[2] / "README.md"


def test_the_readme_holds_the_reference_of_today(generated: Callable[[str, str], None]) -> None:
    generated("README.md", reference.spliced(README.read_text("utf-8")))


def test_every_setting_and_its_bounds_are_in_the_reference() -> None:
    made = reference.reference()
    missing = [key for key, field in keys.fields().items() if f"| `{key}` |" not in made or field.help not in made]
    assert missing == []


def test_every_variable_that_hearth_reads_is_in_the_reference() -> None:
    made = reference.reference()
    named = {keys.variable(key) for key in keys.fields()} | {"HEARTH_CONFIG"}
    package = Path(reference.__file__).parents[1]
    text = "".join(path.read_text("utf-8") for path in package.rglob("*.py"))
    read = {word for word in named if f'"{word}"' in text}
    assert all(word in made for word in read)
