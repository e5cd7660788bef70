from __future__ import annotations

from collections.abc import Callable

from hearth import artifacts
from hearth.runtime import Runtime
from tests.conftest import Done

Run = Callable[..., Done]


def keep(runtime: Runtime, label: str, media_type: str = "text/plain") -> str:
    return artifacts.keep(runtime, [label.encode()], media_type=media_type, operation="machine.exec", label=label).id


def test_pages_join_without_gap_or_repeat(runtime: Runtime, hearth: Run) -> None:
    made = [keep(runtime, f"n{number}") for number in range(7)]
    seen: list[str] = []
    cursor: tuple[str, ...] = ()
    while True:
        page = hearth("artifact", "list", "--json", "-n", "3", *cursor).json
        seen += [each["id"] for each in page["artifacts"]]
        if page["next_cursor"] is None:
            break
        assert page["state"] == "partial"
        cursor = ("--cursor", page["next_cursor"])
    assert seen == made[::-1]


def test_what_is_listed_can_be_chosen(runtime: Runtime, hearth: Run) -> None:
    keep(runtime, "report", "text/html")
    keep(runtime.for_call(group="nightly"), "stdout")
    keep(runtime, "result", "application/json")

    def labels(*words: str) -> list[str]:
        return [each["label"] for each in hearth("artifact", "list", "--json", *words).json["artifacts"]]

    assert labels("--media-type", "text/") == ["stdout", "report"]
    assert labels("--media-type", "application/json") == ["result"]
    assert labels("--of-run", "nightly") == ["stdout"]
    assert labels("--label", "report") == ["report"]
    assert labels("--operation", "artifact.put") == []
    assert labels("--since", "2999-01-01T00:00:00Z") == []


def test_a_cursor_or_time_that_is_none_is_refused(hearth: Run) -> None:
    for words, field in ((("--cursor", "x"), "cursor"), (("--since", "2026-01-01"), "since")):
        done = hearth("artifact", "list", *words, "--json")
        assert (done.status, done.json["error"]["details"]["problems"][0]["field"]) == (2, field)


def test_an_empty_data_directory_lists_nothing(hearth: Run) -> None:
    assert hearth("artifact", "list", "--json").json["artifacts"] == []
