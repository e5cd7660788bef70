"""Change parts of a text file, and nothing else of it."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated

from hearth.content.text import LineEnds
from hearth.errors import InvalidInput, Problem, invalid
from hearth.model import Cli, Content, Ge, Help, Le, Len, PathName, Pattern, Raw, State, model
from hearth.runtime import Runtime
from hearth.services.fs.exact_text import ExactText
from hearth.services.fs.rewrite import Change, Changed, Rewrite, edited

MAX_PATH = 32_767
MAX_WORDS = 1 << 20
MAX_TEXT = 16 << 20
MAX_EDITS = 128


class KeptLineEnds(StrEnum):
    """Which line ends the words have once they are in the file."""

    FILE = "file"
    GIVEN = "given"


@model
class Replacement:
    """One replacement of words."""

    old: Annotated[str, Len(1, MAX_WORDS), Content(), Help("The words to replace, or with regex an RE2 pattern.")]
    new: Annotated[str, Len(0, MAX_TEXT), Content(), Help(r"What comes instead; with regex, \1 is a group.")]
    count: Annotated[int | None, Ge(0), Le(1_000_000), Help("How often old must match; 0: at least once.")] = None
    regex: Annotated[bool | None, Help("Whether old is a pattern.")] = None


@model
class InsertLines:
    """Lines to add behind one that stands."""

    after: Annotated[int, Ge(0), Le(10**12), Help("The line to add behind; 0: before the first.")]
    text: Annotated[str, Len(0, MAX_TEXT), Content(), Help("The lines.")]

    @classmethod
    def from_word(cls, word: str) -> InsertLines:
        """`10:text`."""
        number, colon, text = word.partition(":")
        if not colon or not number.isdecimal() or not number.isascii() or len(number) > 12:
            raise invalid("", "wrong_form", "must be LINE:TEXT, such as 10:hello")
        return cls(after=int(number), text=text)


@model
class ReplaceLines:
    """Lines to put in the place of others."""

    lines: Annotated[str, Len(1, 30), Help("The lines to replace, such as 10:12 or 10.")]
    text: Annotated[str, Len(0, MAX_TEXT), Content(), Help("The new lines.")]

    @classmethod
    def from_word(cls, word: str) -> ReplaceLines:
        """`10:12:text` or `10:text`."""
        import re

        found = re.fullmatch(r"([0-9]{1,12}(?::[0-9]{1,12})?):(.*)", word, re.ASCII | re.DOTALL)
        if not found:
            raise invalid("", "wrong_form", "must be LINES:TEXT, such as 10:12:hello")
        return cls(lines=found[1], text=found[2])


@model
class PatchFile:
    path: Annotated[
        str | None,
        Len(1, MAX_PATH),
        PathName(),
        Cli(argument=True, completes="path"),
        Help("The file to change; a diff may name its files itself."),
    ] = None
    old: Annotated[
        str | None,
        Len(1, MAX_WORDS),
        Content(),
        Cli(pairs="replacements"),
        Help("The words to replace; several --old and --new go in pairs."),
    ] = None
    new: Annotated[
        str | None,
        Len(0, MAX_TEXT),
        Content(),
        Cli(pairs="replacements"),
        Help(r"What comes instead of old; with --regex, \1 is a group."),
    ] = None
    count: Annotated[
        int, Ge(0), Le(1_000_000), Help("How often each old must match; 0: at least once, and all are replaced.")
    ] = 1
    regex: Annotated[bool, Help("Take old as an RE2 pattern; ^ and $ match at lines.")] = False
    ignore_whitespace: Annotated[bool, Help("Let any run of blanks match any other.")] = False
    line_ends: Annotated[
        KeptLineEnds,
        Help("By file, new lines end as the file's do and old matches any; by given, all is taken exactly."),
    ] = KeptLineEnds.FILE
    replacements: Annotated[
        tuple[Replacement, ...], Len(0, MAX_EDITS), Help("Replacements in order, each in what the ones before left.")
    ] = ()
    insert: Annotated[
        tuple[InsertLines, ...],
        Len(0, MAX_EDITS),
        Cli(metavar="LINE:TEXT"),
        Help("Add lines behind a line (0: at the start); numbers are those of the file before any change."),
    ] = ()
    replace: Annotated[
        tuple[ReplaceLines, ...], Len(0, MAX_EDITS), Cli(metavar="LINES:TEXT"), Help("Replace lines, such as 3:5:text.")
    ] = ()
    delete: Annotated[
        tuple[Annotated[str, Len(1, 30)], ...],
        Len(0, MAX_EDITS),
        Cli(metavar="LINES"),
        Help("Delete lines, such as 3:5."),
    ] = ()
    diff: Annotated[
        str | None,
        Len(1, MAX_TEXT),
        Content(),
        Cli(metavar="DIFF|@FILE|-", reads_file=True),
        Help("A unified diff, which may make, change, rename and remove several files."),
    ] = None
    fuzz: Annotated[int, Ge(0), Le(3), Help("Lines of context at each end of a hunk that may differ.")] = 0
    encoding: Annotated[str | None, Len(1, 40), Help("What the file is stored as; by default its bytes tell.")] = None
    expected_sha256: Annotated[
        str | None,
        Pattern("^([0-9a-fA-F]{64}|absent)$", 'must be 64 hex digits, or "absent"'),
        Help("Refuse a file with another content than this."),
    ] = None
    permanent: Annotated[bool, Help("Change even a file that is too large to be kept for undo.")] = False
    group: Annotated[str | None, Len(1, 200), Help("The change set that this belongs to, for undo.")] = None
    dry_run: Annotated[bool, Help("Change nothing; the diff tells what would happen.")] = False


@model
class MovedHunk:
    """A hunk of a diff that did not go where the diff said."""

    line: Annotated[int, Help("Its first line in the file as it was.")]
    offset: Annotated[int, Help("How many lines from where the diff said.")]
    fuzz: Annotated[int, Help("Lines of context at each end that were ignored.")]


@model
class PatchedFile:
    """What became of one file of a diff."""

    path: Annotated[str, PathName(), Help("The file, links resolved.")]
    change: Annotated[str, Help("What was done: changed, made, removed, renamed, or same.")]
    sha256: Annotated[str | None, Help("The hash of the new content; null where the file is gone.")]
    renamed_from: Annotated[str | None, PathName(), Help("Where it was before.")] = None
    replacements: Annotated[int, Help("How many hunks were applied.")] = 0
    moved_hunks: Annotated[tuple[MovedHunk, ...], Help("Hunks that went elsewhere than the diff said.")] = ()
    encoding: Annotated[str | None, Help("What the file is stored as.")] = None


@model
class FilePatched:
    """What a patch came to. For a diff of several files `files` tells each, and the facts of one file are null."""

    state: Annotated[State, Help("What the call came to.")] = State.COMPLETED
    path: Annotated[str | None, PathName(), Help("The file, links resolved.")] = None
    changed: Annotated[bool, Help("False: everything was so already, and nothing was done.")]
    replacements: Annotated[int, Help("How many replacements, line edits or hunks were made.")]
    sha256: Annotated[str | None, Help("The hash of the new content.")] = None
    encoding: Annotated[str | None, Help("What the file is stored as.")] = None
    bom: Annotated[bool | None, Help("Whether it begins with a byte order mark.")] = None
    line_ends: Annotated[LineEnds | None, Help("How its lines end now.")] = None
    receipt: Annotated[str | None, Help("What `hearth fs undo` takes; null when nothing was done.")] = None
    diff: Annotated[str | None, Raw(), Help("What changed, secrets taken out; null when nothing did.")] = None
    diff_truncated: Annotated[bool, Help("Whether the diff was cut, at max_output_bytes.")] = False
    moved_hunks: Annotated[tuple[MovedHunk, ...], Help("Hunks that went elsewhere than the diff said.")] = ()
    files: Annotated[tuple[PatchedFile, ...], Help("The files of a diff of several.")] = ()
    replace_attempts: Annotated[int, Help("How often the rename was tried; more than 1 after refusals that passed.")]
    warnings: Annotated[tuple[str, ...], Help("What is worth knowing, such as other names of the file.")] = ()


def patch(runtime: Runtime, given: PatchFile) -> FilePatched:
    """All changes are made, or none. Raises `Conflict` when words, lines or hunks are not there as often as they
    should be (its details tell the nearest text and the characters that differ), `NotFound`, `Encoding`,
    `InvalidPattern`, `OutsideRoot`, `ReadOnlyRoot`, `TooLarge`, `BackupTooLarge`, `Locked`."""
    _refuse_mixture(given)
    if given.diff is not None:
        from hearth.services.fs import patch_files

        return patch_files.patch(runtime, given)
    if given.path is None:
        raise invalid("path", "missing", "is required")
    step = rewrite(given.path, _change(given), given)
    return one_file(runtime, given, step)


def rewrite(path: str, change: Change, given: PatchFile) -> Rewrite:
    return Rewrite(
        path,
        change,
        encoding=given.encoding,
        expected_sha256=given.expected_sha256,
        permanent=given.permanent,
    )


def one_file(runtime: Runtime, given: PatchFile, step: Rewrite) -> FilePatched:
    """Do one step, and tell what it came to."""
    from hearth.content.text import line_ends
    from hearth.services.fs import mutation

    done = mutation.apply(runtime, [step], operation="fs.patch", group=given.group, dry_run=given.dry_run)
    diff, truncated = bounded_diff(runtime, step_diff(runtime, step))
    return FilePatched(
        path=step.change.path,
        changed=step.changed,
        replacements=step.count_made,
        sha256=step.change.after_sha256,
        encoding=step.before.form.encoding,
        bom=step.before.form.bom,
        line_ends=line_ends(step.after.text),
        receipt=done.receipt.id if done.receipt else None,
        diff=diff,
        diff_truncated=truncated or (step.changed and diff is None),
        moved_hunks=moved_hunks(step),
        replace_attempts=done.replace_attempts,
        warnings=tuple(done.warnings),
    )


def moved_hunks(step: Rewrite) -> tuple[MovedHunk, ...]:
    moved = (each for each in step.placed if each.offset or each.fuzz)
    return tuple(MovedHunk(line=each.line, offset=each.offset, fuzz=each.fuzz) for each in moved)


def step_diff(runtime: Runtime, step: Rewrite) -> Iterator[str]:
    from hearth.services.fs.rewrite import diff_of

    name = shown_name(runtime, step.change.path)
    return diff_of(step.before.text, step.after.text, name, name)


def shown_name(runtime: Runtime, path: str) -> str:
    """A path as diffs name it: from where relative paths start, with slashes."""
    anchor, parts = runtime.host.parts(path)
    base_anchor, base = runtime.host.parts(runtime.base)
    if anchor == base_anchor and parts[: len(base)] == base:
        parts = parts[len(base) :]
    return "/".join(parts)


def bounded_diff(runtime: Runtime, lines: Iterator[str]) -> tuple[str | None, bool]:
    """The diff without secrets, and whether it was cut."""
    from hearth.secrets import redact
    from hearth.services.fs.line_diff import bounded

    text, truncated = bounded(lines, runtime.settings.max_output_bytes)
    return redact(text) or None, truncated


def _refuse_mixture(given: PatchFile) -> None:
    forms = {
        "replacements": bool(given.replacements) or given.old is not None or given.new is not None,
        "insert, replace, delete": bool(given.insert or given.replace or given.delete),
        "diff": given.diff is not None,
    }
    used = [name for name, is_used in forms.items() if is_used]
    if len(used) != 1:
        problem = "missing" if not used else "too_many"
        raise InvalidInput(Problem("", problem, "give one of: old and new (or replacements); line edits; a diff"))


def _change(given: PatchFile) -> Change:
    if given.insert or given.replace or given.delete:
        return _line_change(given)
    return _replacing(given)


def _replacing(given: PatchFile) -> Change:
    from hearth.services.fs.replacement import Wanted, edits_of

    several = [(f"replacements.{index}", each) for index, each in enumerate(given.replacements)]
    if given.old is not None or given.new is not None:
        several.append(("", _single(given)))
    if len(several) > MAX_EDITS:
        raise invalid("replacements", "too_long", f"must have at most {MAX_EDITS} items")

    def change(found: ExactText) -> Changed:
        made = 0
        for where, each in several:
            wanted = Wanted(
                each.old,
                each.new,
                expected=given.count if each.count is None else each.count,
                regex=given.regex if each.regex is None else each.regex,
                exact=given.line_ends is KeptLineEnds.GIVEN,
                loose=given.ignore_whitespace,
            )
            changed = edited(found, edits_of(found.text, found.form.line_ends, wanted, where))
            found = found._replace(text=changed.text)
            made += changed.count_made
        return Changed(found.text, made)

    return change


def _single(given: PatchFile) -> Replacement:
    missing = [Problem(name, "missing", "is required") for name in ("old", "new") if getattr(given, name) is None]
    if given.old is None or given.new is None:
        raise InvalidInput(*missing)
    return Replacement(old=given.old, new=given.new)


def _line_change(given: PatchFile) -> Change:
    from hearth.services.fs.line_edit import LineEdit, edits_of, parse_range

    edits: list[LineEdit] = []
    for index, insertion in enumerate(given.insert):
        edits.append(LineEdit(insertion.after + 1, insertion.after, insertion.text, f"insert.{index}"))
    for index, replaced in enumerate(given.replace):
        where = f"replace.{index}"
        edits.append(LineEdit(*parse_range(replaced.lines, f"{where}.lines"), replaced.text, where))
    for index, lines in enumerate(given.delete):
        where = f"delete.{index}"
        edits.append(LineEdit(*parse_range(lines, where), None, where))
    return lambda found: edited(found, edits_of(found.text, found.form.line_ends, edits))
