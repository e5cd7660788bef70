"""Whatever was done, undoing all of it gives the tree that was there first, and redoing it the last one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hearth import dispatch
from hearth.containment import Root
from hearth.platforms.local import local_host
from hearth.runtime import Runtime
from hearth.settings import FsSettings, Settings
from tests.services.fs.test_undo import tree_of

NAMES = st.sampled_from(["a", "b", "d", "d/a", "d/e", "d/e/a", "f/g/h"])
DATA = st.sampled_from(["", "one", "two\n", "x" * 70_000])

CALLS = st.one_of(
    st.tuples(st.just("write"), st.fixed_dictionaries({"path": NAMES, "data": DATA})),
    st.tuples(st.just("write"), st.fixed_dictionaries({"path": NAMES, "data": DATA, "append": st.just(True)})),
    st.tuples(st.just("mkdir"), st.fixed_dictionaries({"path": NAMES, "parents": st.booleans()})),
    st.tuples(
        st.just("move"),
        st.fixed_dictionaries({"path": NAMES, "to": NAMES, "overwrite": st.booleans(), "parents": st.booleans()}),
    ),
    st.tuples(
        st.just("copy"),
        st.fixed_dictionaries(
            {
                "path": NAMES,
                "to": NAMES,
                "overwrite": st.booleans(),
                "recursive": st.booleans(),
                "parents": st.booleans(),
            }
        ),
    ),
    st.tuples(st.just("delete"), st.fixed_dictionaries({"path": NAMES, "recursive": st.booleans()})),
    st.tuples(
        st.just("chmod"),
        st.fixed_dictionaries({"path": NAMES, "mode": st.sampled_from(["600", "755", "u+x", "go-rwx"])}),
    ),
)


class Playground:
    """One data directory for all examples, since making a database is slow; each has a tree and a name of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.count = 0
        self.runtime = Runtime(
            host=local_host(),
            settings=Settings(fs=FsSettings(sync=False)),
            data_dir=str(folder / "data"),
            roots=(Root(str(folder)),),
            base=str(folder),
        )

    def fresh(self) -> tuple[Runtime, Path, str]:
        self.count += 1
        name = f"example-{self.count}"
        work = self.folder / name
        (work / "d" / "e").mkdir(parents=True)
        (work / "a").write_bytes(b"first")
        (work / "d" / "e" / "a").write_bytes(b"deep")
        return self.runtime.for_call(roots=(Root(str(work)),), base=str(work), conversation=name), work, name


def run(runtime: Runtime, operation: str, given: dict[str, Any]) -> Any:
    answer = dispatch.call_json(runtime, f"fs.{operation}", given)
    assert answer.error is None or answer.error.code != "internal_error", answer.error
    return answer


def check(playground: Playground, calls: list[tuple[str, dict[str, Any]]], *, one_by_one: bool) -> None:
    runtime, work, group = playground.fresh()
    first = tree_of(work)
    for operation, given_ in calls:
        before = tree_of(work)
        answer = run(runtime, operation, {**given_, "group": group})
        if answer.error is not None:
            assert tree_of(work) == before, (operation, given_, answer.error)
    last = tree_of(work)
    chosen = {"last": True} if one_by_one else {"group": group}
    repeat(runtime, "undo", chosen)
    assert tree_of(work) == first
    repeat(runtime, "redo", chosen)
    assert tree_of(work) == last


def repeat(runtime: Runtime, operation: str, chosen: dict[str, Any]) -> None:
    for _ in range(20):
        answer = run(runtime, operation, chosen)
        if answer.error is not None:
            assert answer.error.code == "not_found", answer.error
            return
    raise AssertionError(f"there is always more to {operation}")


def examples(count: int, folder: Path) -> None:
    playground = Playground(folder)
    quick = settings(max_examples=count, deadline=None, suppress_health_check=list(HealthCheck), database=None)

    @quick
    @given(calls=st.lists(CALLS, max_size=8), one_by_one=st.booleans())
    def hold(calls: list[tuple[str, dict[str, Any]]], one_by_one: bool) -> None:
        check(playground, calls, one_by_one=one_by_one)

    try:
        hold()
    finally:
        playground.runtime.close()


def test_undoing_everything_gives_the_first_tree_and_redoing_it_the_last(tmp_path: Path) -> None:
    examples(15, tmp_path)


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_undoing_everything_gives_the_first_tree_for_many_sequences(tmp_path: Path) -> None:
    examples(500, tmp_path)
