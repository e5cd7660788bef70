"""The wheel holds all that hearth needs, and works outside of a checkout."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.skipif(os.environ.get("WINELAB") == "1", reason="the lab has no package index to build with"),
]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("dist")
    _run(sys.executable, "-m", "build", "--wheel", "--outdir", str(out), str(ROOT))
    (made,) = out.glob("hearth-*.whl")
    return made


def test_the_wheel_holds_each_file_of_the_package_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    sources = [path for path in (ROOT / "hearth").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert names == {path.relative_to(ROOT).as_posix() for path in sources}


def test_an_installed_wheel_runs_from_an_empty_folder(wheel: Path, tmp_path: Path) -> None:
    # Dependencies come from this environment; `.ci/run` installs them into a clean one.
    target, work = tmp_path / "site", tmp_path / "work"
    work.mkdir()
    _run(sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--target", str(target), str(wheel))
    (work / "a.txt").write_bytes(b"hello")
    environment = {**os.environ, "PYTHONPATH": str(target), "PYTHONSAFEPATH": "1"}
    script = target / "bin" / ("hearth.exe" if sys.platform == "win32" else "hearth")
    done = subprocess.run(
        [script, "fs", "stat", "a.txt", "--json"], cwd=work, env=environment, stdout=subprocess.PIPE, check=True
    )
    assert json.loads(done.stdout)["size"] == 5
    where = _run(sys.executable, "-c", "import hearth; print(hearth.__file__)", cwd=work, environment=environment)
    assert Path(where.strip()).resolve().is_relative_to(target.resolve())


def _run(*words: str, cwd: Path | None = None, environment: dict[str, str] | None = None) -> str:
    done = subprocess.run(words, cwd=cwd, env=environment, capture_output=True, check=False, encoding="utf-8")
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
