"""The ways to search a tree: by names, by a walk, by what ripgrep proposes."""

from __future__ import annotations

import os
from collections import Counter
from typing import TYPE_CHECKING, Any

from hearth.content.matching import Query
from hearth.errors import HearthError
from hearth.platforms.base import Directory, Kind
from hearth.services.fs.handles import Handles
from hearth.services.fs.treewalk import Tree

if TYPE_CHECKING:
    from hearth.services.fs.search import Call


def names(tree: Tree, call: Call) -> None:
    for found in tree.walk.run(tree.start):
        if not call.selects(found.path) or call.matcher.in_line(os.fsencode(found.name)) is None:
            continue
        if not call.add_name(tree.show(found.parts)):
            return


def walked(tree: Tree, call: Call) -> str:
    for found in tree.walk.run(tree.start):
        if found.kind is not Kind.FILE:
            if found.kind is not Kind.DIRECTORY:
                call.skipped["link" if found.kind is Kind.LINK else "special"] += 1
            continue
        if not call.selects(found.path):
            continue
        descriptor = _open(found.directory, found.name, call.skipped)
        if descriptor is not None:
            call.look_into(descriptor, tree.show(found.parts), max_count=call.given.max_count)
        if not call.budget.allows():
            break
    return "walk"


def _open(directory: Directory, name: str, skipped: Counter[str]) -> int | None:
    try:
        return directory.open_file(name)
    except PermissionError:
        skipped["permission"] += 1
    except (OSError, HearthError):
        skipped["changed"] += 1
    return None


def proposed(tree: Tree, call: Call, query: Query) -> bool:
    """Search what ripgrep proposes; False when it cannot be had, so that a walk must do."""
    from hearth.platforms.programs import find_program
    from hearth.services.fs import ripgrep

    program = find_program("rg")
    if program is None or "\n" in query.text:
        return False
    command = ripgrep.arguments(program, query, _scope(tree, call))
    try:
        with ripgrep.Search(command, tree.place.path, call.budget) as running, Handles(tree) as handles:
            for proposal in running.proposals():
                if not _confirm(tree, call, handles, proposal):
                    break
            complete = call.budget.stopped is None
    except (ripgrep.Failed, OSError):
        call.start_again()
        return False
    call.skipped += running.skipped
    if complete:
        call.budget.allows()  # ripgrep may have been ended by the clock
    return True


def _scope(tree: Tree, call: Call) -> Any:
    from hearth.services.fs.ripgrep import Scope

    given = call.given
    wanted = tuple(glob for glob in given.globs if not glob.startswith("!"))
    # ripgrep's --glob would bring back ignored files, so names go in as a file type; only plain names can.
    plain = all("/" not in glob for glob in wanted) and call.runtime.host.case_sensitive
    names = call.type_globs or (wanted if plain else ())
    return Scope(
        hidden=given.hidden,
        ignored=given.ignored,
        binary=given.binary,
        max_file_bytes=given.max_file_bytes,
        parents=tree.walk.ignore is not None,
        names=names if call.runtime.host.case_sensitive else (),
        excluded=tuple(glob[1:] for glob in given.globs if glob.startswith("!")),
    )


def _confirm(tree: Tree, call: Call, handles: Handles, proposal: Any) -> bool:
    """Look for oneself into a file that was proposed; whether to go on."""
    if not call.selects("/".join(proposal.parts)) or not call.budget.spend():
        return call.budget.allows()
    directory = handles.directory(proposal.parts[:-1])
    descriptor = None if directory is None else _open(directory, proposal.parts[-1], call.skipped)
    if directory is None:
        call.skipped["changed"] += 1
    if descriptor is not None:
        path = tree.show(proposal.parts)
        found = call.look_into(
            descriptor, path, max_count=call.given.max_count, line=proposal.line, offset=proposal.offset
        )
        # A literal word is proposed by another rule for what a letter is.
        if found == 0 and call.budget.stopped is None and not call.given.word:
            call.skipped["changed"] += 1
    return call.budget.allows()
