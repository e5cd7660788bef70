from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hearth import artifacts
from hearth.clock import Clock
from hearth.errors import ArtifactDamaged, ArtifactMissing, InvalidInput, NoSpace, NotFound
from hearth.paging import NEWEST
from hearth.runtime import Caller, Runtime
from hearth.settings import RetentionSettings, Settings
from hearth.store.artifacts import Artifact, Old, page
from hearth.store.retention import Forgotten, Retention

MIB = 1 << 20


def keep(runtime: Runtime, content: bytes = b"hello", **named: str) -> Artifact:
    return artifacts.keep(runtime, [content], **{"media_type": "text/plain", "operation": "machine.exec", **named})


def body_of(runtime: Runtime, artifact: Artifact) -> Path:
    return Path(runtime.data_dir, "blobs", artifact.body[:2], artifact.body[2:])


def test_what_is_kept_can_be_read_again(runtime: Runtime) -> None:
    made = keep(runtime.for_call(group="nightly"), label="stdout")
    found = artifacts.get(runtime, made.id)
    assert (found.size, found.body) == (5, hashlib.sha256(b"hello").hexdigest())
    assert (found.label, found.run, found.caller) == ("stdout", "nightly", "shell")
    assert b"".join(artifacts.verified(runtime, found)) == b"hello"
    with artifacts.opened(runtime, found) as descriptor:
        assert os.read(descriptor, 10) == b"hello"


def test_a_body_is_told_with_its_ends_while_it_streams(runtime: Runtime) -> None:
    with runtime.blobs.writer(sync=False, keep_bytes=3) as writer:
        for piece in (b"ab", b"cd", b"ef"):
            writer.write(piece)
    assert writer.body is not None
    made = artifacts.record(runtime, writer.body, media_type="text/plain", operation="machine.exec")
    assert (writer.body.head, writer.body.tail, made.size) == (b"abc", b"def", 6)


def test_a_prefix_is_enough_at_the_shell_only(runtime: Runtime) -> None:
    made = keep(runtime)
    assert artifacts.get(runtime, made.id[:12]) == artifacts.get(runtime, made.id)
    with pytest.raises(NotFound, match="there is no artifact"):
        artifacts.get(runtime.for_call(caller=Caller.MCP), made.id[:12])
    keep(runtime, b"other")
    with pytest.raises(InvalidInput, match="begins several ids"):
        artifacts.get(runtime, "art_")


def test_a_body_that_is_gone_is_a_clear_error(runtime: Runtime) -> None:
    made = keep(runtime)
    body_of(runtime, made).unlink()
    with pytest.raises(ArtifactMissing, match=made.id), artifacts.opened(runtime, made):
        pytest.fail("it was opened")
    with pytest.raises(ArtifactMissing):
        list(artifacts.verified(runtime, made))


@pytest.mark.parametrize("content", [b"hell", b"hello!", b""])
def test_a_body_of_another_size_is_not_opened(runtime: Runtime, content: bytes) -> None:
    made = keep(runtime)
    body_of(runtime, made).write_bytes(content)
    with pytest.raises(ArtifactDamaged, match="instead of 5"), artifacts.opened(runtime, made):
        pytest.fail("it was opened")


def test_a_changed_byte_is_found_by_the_checksum(runtime: Runtime) -> None:
    made = keep(runtime)
    body_of(runtime, made).write_bytes(b"hellO")
    with pytest.raises(ArtifactDamaged, match="checksum"):
        list(artifacts.verified(runtime, made))


class Later(Clock):
    """A clock that can be put forward."""

    ahead_ms = 0

    def now_ms(self) -> int:
        return super().now_ms() + self.ahead_ms


@pytest.fixture
def bounded(runtime: Runtime) -> Callable[[int], Runtime]:
    """A runtime that keeps so many bytes of artifacts."""

    def make(most: int) -> Runtime:
        settings = Settings(retention=RetentionSettings(artifacts_max_bytes=most))
        return runtime.for_call(settings=settings, clock=Later())

    return make


def test_artifacts_above_the_quota_go_as_new_ones_come(bounded: Callable[[int], Runtime]) -> None:
    runtime = bounded(3 * MIB)
    clock = runtime.clock
    assert isinstance(clock, Later)
    made = []
    for number in range(5):
        made.append(keep(runtime, bytes([number]) * MIB))
        clock.ahead_ms += 120_000
    with runtime.store.read() as view:
        left = [each.id for each in page(view, before=NEWEST, limit=10)]
    assert left == [made[number].id for number in (4, 3, 2)]
    assert [body_of(runtime, each).exists() for each in made] == [False, False, True, True, True]


def test_what_was_just_made_stays_although_it_is_above_the_quota(bounded: Callable[[int], Runtime]) -> None:
    runtime = bounded(0)
    made = keep(runtime, b"x" * MIB)
    assert b"".join(artifacts.verified(runtime, artifacts.get(runtime, made.id))) == b"x" * MIB


def test_an_artifact_whose_body_is_gone_can_be_forgotten(runtime: Runtime) -> None:
    made = keep(runtime)
    body_of(runtime, made).unlink()
    rules = Retention(runtime.host, runtime.store, runtime.data_dir, runtime.settings.retention, runtime.clock.now_ms())
    assert rules.forget_artifacts([Old(made.id, made.at, made.body, made.size)]) == Forgotten(rows=1, bodies=0)
    with pytest.raises(NotFound):
        artifacts.get(runtime, made.id)


def test_keeping_and_forgetting_equal_contents_at_once_loses_none(runtime: Runtime) -> None:
    """Whatever is listed can be read, however often its body was removed for another one."""
    rules = Retention(runtime.host, runtime.store, runtime.data_dir, runtime.settings.retention, runtime.clock.now_ms())

    def work(number: int) -> list[Artifact]:
        left = []
        for turn in range(15):
            made = keep(runtime, b"the same")
            if (turn + number) % 3:
                rules.forget_artifacts([Old(made.id, made.at, made.body, made.size)])
            else:
                left.append(made)
        return left

    with ThreadPoolExecutor(4) as pool:
        left = [each for made in pool.map(work, range(4)) for each in made]
    assert len(left) == 20
    for each in left:
        assert b"".join(artifacts.verified(runtime, artifacts.get(runtime, each.id))) == b"the same"


def test_a_full_disk_is_told_and_nothing_stays(runtime: Runtime, small_disk: Path) -> None:
    full = runtime.for_call(data_dir=str(small_disk))
    with pytest.raises(NoSpace):
        keep(full, b"x" * (3 * MIB))
    assert [path for path in small_disk.rglob("*") if path.is_file()] == []
