"""The README's reference, made from the tables that hearth itself reads."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hearth import catalog, errors
from hearth.cli import edge
from hearth.cli.exit_status import MEANINGS
from hearth.cli.listing import command_of
from hearth.configuration import keys
from hearth.errors import HearthError
from hearth.fields import Field
from hearth.model import Ge, Le
from hearth.operation import Family

BEGIN = "<!-- reference: made by `pytest --update`, not by hand -->"
END = "<!-- end of the reference -->"

VARIABLES = (
    ("HEARTH_CONFIG", "A settings file that is read after the user's and the project's."),
    ("NO_COLOR", "Set to anything: no colour at a terminal."),
    ("COLUMNS", "How wide help is, where the terminal does not say."),
    ("SHELL", "The shell that `hearth completion install` is for."),
    ("XDG_DATA_HOME, XDG_CONFIG_HOME, LOCALAPPDATA, APPDATA", "Where the system keeps a user's data and settings."),
)


def spliced(readme: str) -> str:
    """The README with the reference of today between its marks."""
    before, _, rest = readme.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{reference()}\n{END}{after}"


def reference() -> str:
    """Operations, exit statuses, error codes, settings and variables as Markdown."""
    sections = (
        ("Operations", _operations()),
        ("Exit statuses", _table(("status", "when"), MEANINGS)),
        ("Error codes", _table(("code", "status", "when"), _errors())),
        ("Settings", _table(("key", "type", "default", "what it does"), _settings())),
        ("Environment", _environment()),
    )
    return "\n".join(f"### {title}\n\n{body}" for title, body in sections)


def _table(head: tuple[str, ...], rows: Iterable[tuple[object, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "".join(f"| {' | '.join(_cell(value) for value in line)} |\n" for line in lines)


def _cell(value: object) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ")


def _operations() -> str:
    families = [*map(catalog.family, catalog.FAMILIES), edge.FAMILY]
    return "\n".join(
        f"{family.summary}\n\n{_table(('command', 'effect', 'what it does'), _rows(family))}"
        for family in families
        if family.operations
    )


def _rows(family: Family) -> Iterator[tuple[object, ...]]:
    for row in family.operations:
        if not row.at_shell[0].startswith("__"):
            yield f"`{command_of(family, row)}`", row.effect, row.summary


def _errors() -> Iterator[tuple[object, ...]]:
    kinds = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, HearthError)]
    for kind in sorted(kinds, key=lambda kind: kind.code):
        if kind is not HearthError:
            yield f"`{kind.code}`", kind.exit_status, " ".join((kind.__doc__ or "").split())


def _settings() -> Iterator[tuple[object, ...]]:
    for key, field in keys.fields().items():
        yield f"`{key}`", _type(field), _default(field), field.help


def _type(field: Field) -> str:
    if field.choices:
        return ", ".join(f"`{choice}`" for choice in field.choices)
    least, most = field.find(Ge), field.find(Le)
    name = {int: "whole number", bool: "true or false", str: "text"}.get(field.base, "table")
    bounds = f" {least.ge:,} to {most.le:,}" if least and most else ""
    return f"list of {name}s" if field.many else name + bounds


def _default(field: Field) -> str:
    if field.default is None or field.default == ():
        return ""
    if isinstance(field.default, bool):
        return str(field.default).lower()
    return (
        f"{field.default:,}" if isinstance(field.default, int) else str(getattr(field.default, "value", field.default))
    )


def _environment() -> str:
    first = next(key for key in keys.fields() if "." in key)
    return (
        f"Every setting has a variable: its key in capitals behind `HEARTH_`, such as `{keys.variable(first)}` for "
        f"`{first}`. Lists are separated as `PATH` is. Beside these:\n\n"
        + _table(("variable", "what it does"), VARIABLES)
    )
