from __future__ import annotations

from dataclasses import replace

import pytest

from hearth.paging import NEWEST
from hearth.store import artifacts
from hearth.store.artifacts import Artifact
from hearth.store.database import Store
from hearth.store.ids import starting_with


def artifact(name: str, **changed: str) -> Artifact:
    fields = {"at": "2026-01-01T00:00:00.000Z", "media_type": "text/plain", "operation": "machine.exec", **changed}
    return Artifact(id=f"art_{name}", body="b" * 64, size=5, caller="shell", **fields)  # type: ignore[arg-type]


@pytest.fixture
def some(store: Store) -> Store:
    with store.write() as tx:
        artifacts.insert(tx, artifact("a1", label="stdout", run="nightly"))
        artifacts.insert(tx, artifact("a2", label="stderr", run="nightly", at="2026-02-01T00:00:00.000Z"))
        artifacts.insert(tx, artifact("b3", media_type="application/json", operation="task.result"))
        artifacts.insert(tx, artifact("b4", media_type="text/plain-old", label="stdout"))
    return store


def test_what_was_stored_is_found_as_it_was(some: Store) -> None:
    with some.read() as view:
        found = artifacts.find(view, "art_a1")
        assert artifacts.find(view, "art_a") is None
    assert found == replace(artifact("a1", label="stdout", run="nightly"), seq=1)


@pytest.mark.parametrize(
    ("wanted", "names"),
    [
        ({}, "b4 b3 a2 a1"),
        ({"media_type": "text/plain"}, "a2 a1"),
        ({"media_type": "text/"}, "b4 a2 a1"),
        ({"run": "nightly"}, "a2 a1"),
        ({"run": "nightly", "label": "stdout"}, "a1"),
        ({"label": "stdout"}, "b4 a1"),
        ({"operation": "task.result"}, "b3"),
        ({"operation": "machine.exec", "run": "nightly", "media_type": "application/"}, ""),
        ({"since": "2026-01-15"}, "a2"),
        ({"until": "2026-01-15"}, "b4 b3 a1"),
        ({"limit": 2}, "b4 b3"),
        ({"before": 3}, "a2 a1"),
        ({"pinned": True}, "b3"),
    ],
    ids=str,
)
def test_a_page_holds_what_was_asked_for_newest_first(some: Store, wanted: dict[str, str], names: str) -> None:
    with some.write() as tx:
        artifacts.pin(tx, "art_b3", pinned=True)
    with some.read() as view:
        found = artifacts.page(view, **{"before": NEWEST, "limit": 10, **wanted})  # type: ignore[arg-type]
    assert " ".join(each.id.removeprefix("art_") for each in found) == names


def test_two_that_start_alike_are_told_apart(some: Store) -> None:
    with some.read() as view:
        assert [each.id for each in artifacts.starting_with(view, "art_a")] == ["art_a1", "art_a2"]
        assert [each.id for each in artifacts.starting_with(view, "art_b3")] == ["art_b3"]


def test_a_shell_is_told_the_newest_ids(some: Store) -> None:
    folder = some.path.rpartition("hearth.sqlite3")[0]
    assert starting_with(folder, "artifact", "art_", 3) == ["art_b4", "art_b3", "art_a2"]


def test_an_artifact_can_be_forgotten_once(some: Store) -> None:
    with some.write() as tx:
        assert artifacts.delete(tx, "art_a1")
        assert not artifacts.delete(tx, "art_a1")
        assert artifacts.names_body(tx, "b" * 64)
