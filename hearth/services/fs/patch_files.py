"""Apply a unified diff: one file or several, all of it or nothing."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256

from hearth.containment import translated
from hearth.errors import Conflict, HearthError, TooLarge, invalid
from hearth.platforms.base import Entry
from hearth.runtime import Runtime
from hearth.services.fs import hunks, mutation
from hearth.services.fs.backup import chunks
from hearth.services.fs.content import Write
from hearth.services.fs.exact_text import MAX_BYTES, ExactText, exact_text
from hearth.services.fs.patch import (
    FilePatched,
    PatchedFile,
    PatchFile,
    bounded_diff,
    moved_hunks,
    one_file,
    rewrite,
    shown_name,
)
from hearth.services.fs.relocation import FRESH, Move
from hearth.services.fs.rewrite import Change, Changed, Rewrite, diff_of
from hearth.services.fs.steps import SetMode, Step
from hearth.services.fs.unified_diff import FileDiff, Hunk, Line, parse


def patch(runtime: Runtime, given: PatchFile) -> FilePatched:
    """Raises what `patch.patch` does, and `AlreadyExists` where a file is to be made or renamed to."""
    assert given.diff is not None
    diffs = _named(parse(given.diff), given)
    if given.expected_sha256 is not None and (len(diffs) > 1 or diffs[0].old is None):
        raise invalid("expected_sha256", "too_many", "goes with the change of one file that exists")
    only = diffs[0]
    if len(diffs) == 1 and only.old == only.new is not None and only.mode is None:
        return one_file(runtime, given, rewrite(only.name, _hunk_change(only, given), given))
    return _several(runtime, given, [_plan(runtime, diff, given) for diff in diffs])


def _named(diffs: list[FileDiff], given: PatchFile) -> list[FileDiff]:
    """The files with the names to act on: `path` names the only one."""
    if given.path is None:
        if any(not diff.name for diff in diffs):
            raise invalid("path", "missing", "is required, since the diff names no file")
        return diffs
    if len(diffs) > 1:
        raise invalid("path", "too_many", "a diff of several files names them itself")
    only = diffs[0]
    if only.old is not None and only.new is not None and only.old != only.new:
        raise invalid("path", "too_many", "a diff that renames a file names it itself")
    return [only._replace(old=_renamed(only.old, given.path), new=_renamed(only.new, given.path))]


def _renamed(name: str | None, path: str) -> str | None:
    return None if name is None else path


def _hunk_change(diff: FileDiff, given: PatchFile) -> Change:
    def change(found: ExactText) -> Changed:
        text, placed = hunks.apply(
            found.text,
            found.form.line_ends,
            _in_encoding(diff.hunks, found),
            diff.name,
            fuzz=given.fuzz,
            loose=given.ignore_whitespace,
        )
        return Changed(text, len(placed), tuple(placed))

    return change


def _in_encoding(given: list[Hunk], found: ExactText) -> list[Hunk]:
    """The hunks in the characters of the file. A diff that was read from a file may hold bytes that are not UTF-8:
    those are the file's own, whatever its encoding."""
    words = "".join(line.text for hunk in given for line in hunk.lines)
    try:
        words.encode("utf-8")
    except UnicodeEncodeError:
        form = found.form

        def own(text: str) -> str:
            return text.encode("utf-8", "surrogateescape").decode(form.encoding, "surrogateescape")

        return [hunk._replace(lines=[Line(line.tag, own(line.text)) for line in hunk.lines]) for hunk in given]
    found.refuse_guesses("".join(line.text for hunk in given for line in hunk.lines if line.tag == "+"))
    return given


@dataclass(slots=True)
class _Plan:
    """The steps for one file, and what there is to tell about them."""

    diff: FileDiff
    steps: list[Step]
    content: Write | None = None  # the step that makes the new content
    old: str | None = None
    new: str | None = None


def _plan(runtime: Runtime, diff: FileDiff, given: PatchFile) -> _Plan:
    if diff.old is None:
        return _made(diff, given)
    if diff.new is None:
        return _removed(runtime, diff, given)
    plan = _Plan(diff, [])
    if diff.old != diff.new:
        plan.steps.append(Move(diff.old, diff.new, create_parents=True))
    if diff.hunks and (diff.old == diff.new or not given.dry_run):
        plan.content = rewrite(diff.new, _hunk_change(diff, given), given)
        plan.steps.append(plan.content)
    elif diff.hunks:
        # Nothing is renamed in a dry run, so what would change is read where it stands.
        found = exact_text(_read(runtime, diff.old), given.encoding)
        plan.old, plan.new = found.text, _hunk_change(diff, given)(found).text
    if diff.mode is not None and runtime.host.name != "windows" and (diff.old == diff.new or not given.dry_run):
        plan.steps.append(_SetExecutable(diff.new, diff.mode))
    for step in plan.steps[1:]:
        step.create_parents = True  # the rename before it brings them
    return plan


class _SetExecutable(SetMode):
    """Git knows one permission, whether a file can be run."""

    def new_mode(self, entry: Entry) -> int:
        if not self.mode & 0o111:
            return entry.mode & ~0o111
        return entry.mode | (entry.mode & 0o444) >> 2  # for everyone who may read it


def _made(diff: FileDiff, given: PatchFile) -> _Plan:
    assert diff.new is not None
    text = "".join(line.text for hunk in diff.hunks for line in hunk.lines)
    mode = 0o755 if diff.mode is not None and diff.mode & 0o111 else None
    step = Write(diff.new, _encoded(text, given), create_only=True, create_parents=True, mode=mode)
    return _Plan(diff, [step], content=step, new=text)


def _encoded(text: str, given: PatchFile) -> bytes:
    from hearth.content import text as texts

    if given.encoding is None:
        return text.encode("utf-8", "surrogateescape")
    name, bom = texts.named(given.encoding)
    return texts.encode(text, name, bom=bool(bom))


def _removed(runtime: Runtime, diff: FileDiff, given: PatchFile) -> _Plan:
    """The file must hold what the diff takes away, now and when it is removed."""
    assert diff.old is not None
    data = _read(runtime, diff.old)
    found = exact_text(data, given.encoding)
    left = _hunk_change(diff, given)(found).text if diff.hunks else found.text
    if left:
        raise Conflict(f"{diff.old}: the diff removes the file, but not all that it holds", path=diff.old)
    expected = given.expected_sha256 or sha256(data).hexdigest()
    return _Plan(diff, [Move(diff.old, FRESH, expected=expected)], old=found.text)


def _read(runtime: Runtime, path: str) -> bytes:
    with runtime.containment.locate(path, follow=False) as place:
        size = place.found.size
        if size > MAX_BYTES:
            raise TooLarge(f"{place.path} has {size:,} bytes; the text of {MAX_BYTES:,} can be changed", size=size)
        descriptor = place.open_file()
        try:
            with translated(place.path):
                return b"".join(chunks(descriptor, MAX_BYTES))
        finally:
            os.close(descriptor)


def _several(runtime: Runtime, given: PatchFile, plans: list[_Plan]) -> FilePatched:
    steps = [step for plan in plans for step in plan.steps]
    try:
        done = mutation.apply(runtime, steps, operation="fs.patch", group=given.group, dry_run=given.dry_run)
    except HearthError as error:
        error.details.setdefault("files", [plan.diff.name for plan in plans])
        raise
    diff, truncated = bounded_diff(runtime, (line for plan in plans for line in _diff(runtime, plan)))
    files = tuple(_told(plan) for plan in plans)
    return FilePatched(
        changed=any(step.changed for step in steps),
        replacements=sum(file.replacements for file in files),
        path=files[0].path if len(files) == 1 else None,
        sha256=files[0].sha256 if len(files) == 1 else None,
        receipt=done.receipt.id if done.receipt else None,
        diff=diff,
        diff_truncated=truncated,
        files=files,
        replace_attempts=done.replace_attempts,
        warnings=tuple(done.warnings),
    )


def _diff(runtime: Runtime, plan: _Plan) -> Iterator[str]:
    old, new = plan.old, plan.new
    if isinstance(plan.content, Rewrite):
        old, new = plan.content.before.text, plan.content.after.text
    base = runtime.containment.absolute
    old_name, new_name = (shown_name(runtime, base(name)) if name else "" for name in (plan.diff.old, plan.diff.new))
    if old_name and new_name and old_name != new_name:
        yield f"diff --git a/{old_name} b/{new_name}\nrename from {old_name}\nrename to {new_name}\n"
    yield from diff_of(old, new, old_name, new_name)


def _told(plan: _Plan) -> PatchedFile:
    first, last, content = plan.steps[0].change, plan.steps[-1].change, plan.content
    is_renamed = isinstance(plan.steps[0], Move) and plan.diff.new is not None
    return PatchedFile(
        path=first.other if is_renamed and first.other else last.path,
        change=_change_word(plan),
        sha256=content.change.after_sha256 if content is not None else None,
        renamed_from=first.path if is_renamed else None,
        replacements=len(plan.diff.hunks),
        moved_hunks=moved_hunks(content) if isinstance(content, Rewrite) else (),
        encoding=content.before.form.encoding if isinstance(content, Rewrite) else None,
    )


def _change_word(plan: _Plan) -> str:
    if not any(step.changed for step in plan.steps):
        return "same"
    if plan.diff.old is None:
        return "made"
    if plan.diff.new is None:
        return "removed"
    return "changed" if plan.diff.old == plan.diff.new else "renamed"
