from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest

from hearth.operation import Family

HALF_LOADED = """
import threading
begun, go_on = threading.Event(), threading.Event()
def run(): return helper()
begun.set()
go_on.wait(10)
def helper(): return "whole"
"""


def test_a_row_that_another_thread_is_loading_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "rows_of_a_test"
    package.mkdir()
    (package / "slow.py").write_text(HALF_LOADED, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    family = Family("slow", "Slow.", (), package="rows_of_a_test")
    said: list[str] = []
    first, second = (threading.Thread(target=lambda: said.append(family.load("slow:run")())) for _ in range(2))
    first.start()
    while not hasattr(sys.modules.get("rows_of_a_test.slow"), "begun") and first.is_alive():
        first.join(0.01)
    module = sys.modules["rows_of_a_test.slow"]
    assert module.begun.wait(10)
    second.start()
    second.join(0.2)
    assert second.is_alive()
    module.go_on.set()
    for thread in (first, second):
        thread.join(10)
    assert said == ["whole", "whole"]
