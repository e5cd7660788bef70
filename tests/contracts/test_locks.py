"""The lock files hold what `pyproject.toml` asks for."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
LINE = re.compile(r"^([a-z0-9-]+)==([^ ;\\]+)", re.MULTILINE)


def locked(name: str) -> dict[str, str]:
    return dict(LINE.findall((ROOT / ".ci" / name).read_text(encoding="utf-8")))


def declared(*, extra: str | None = None) -> list[Requirement]:
    with open(ROOT / "pyproject.toml", "rb") as file:
        project = tomllib.load(file)["project"]
    lines = project["dependencies"] if extra is None else project["optional-dependencies"][extra]
    return [Requirement(line) for line in lines]


@pytest.mark.parametrize(
    ("lock", "wanted"),
    [
        ("requirements.txt", declared()),
        ("requirements-dev.txt", declared() + declared(extra="dev")),
    ],
    ids=["run time", "development"],
)
def test_a_lock_file_satisfies_what_is_declared(lock: str, wanted: list[Requirement]) -> None:
    versions = locked(lock)
    for requirement in wanted:
        version = versions.get(canonicalize_name(requirement.name))
        assert version is not None, f"{requirement.name} is missing: run .ci/lock"
        assert requirement.specifier.contains(version), f"{requirement} does not allow {version}: run .ci/lock"


def test_the_lock_files_agree() -> None:
    run_time, development = locked("requirements.txt"), locked("requirements-dev.txt")
    assert run_time.items() <= development.items()
