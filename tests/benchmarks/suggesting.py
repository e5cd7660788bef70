"""Finding what was done again and again in the newest 100,000 of a million events."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from itertools import islice, repeat
from typing import Any

from hearth.clock import timestamp
from hearth.store import events
from tests.benchmarks.measure import Row, interleaved, limit
from tests.benchmarks.session import Session, session
from tests.benchmarks.setting import Setting

EVENTS = 1_000_000
AT_ONCE = 50_000
CONVERSATIONS = 40
WORDS = ("parse", "lexer", "table", "index", "cursor", "window", "socket", "buffer", "signal", "journal")


def suggesting(setting: Setting) -> list[Row]:
    with session(setting.folder, sync=False) as opened:
        insert_calls(opened, EVENTS)
    data = ("--data-dir", str(setting.folder / "data"))
    suggest = setting.hearth("recipe", "suggest", "--json", *data)
    found = json.loads(suggest.output())
    assert found["events"] == 100_000, found["events"]
    assert found["suggestions"], "such calls have patterns"
    series = interleaved({"suggest": suggest}, setting.rounds)["suggest"]
    what = f"`recipe suggest` over the newest 100,000 of {EVENTS:,} events"
    return [
        limit(what, series, of="wall_ms", most=1_000, to_reach="1 s"),
        limit(what, series, of="cpu_ms", most=1_000, to_reach="1 s"),
        limit(what, series, of="rss_bytes", most=100, to_reach="100 MiB"),
    ]


def insert_calls(opened: Session, count: int) -> None:
    """Events of several conversations at once, of which each has its habits and does other things in between."""
    chance = random.Random(11)
    conversations = [_calls(random.Random(number)) for number in range(CONVERSATIONS)]
    calls = (
        (f"local:{number:064x}", next(conversations[number]))
        for number in (chance.randrange(CONVERSATIONS) for _ in repeat(None))
    )
    for start in range(0, count, AT_ONCE):
        rows = [
            {
                "at": timestamp(1_700_000_000_000 + 1_000 * (start + place)),
                "operation": operation,
                "entity": None,
                "caller": "mcp",
                "run": None,
                "conversation": conversation,
                "state": "completed" if chance.random() > 0.02 else "failed",
                "error": None,
                "duration_ms": 3,
                "data": json.dumps(given, separators=(",", ":")),
            }
            for place, (conversation, (operation, given)) in enumerate(islice(calls, AT_ONCE))
        ]
        with opened.runtime.store.write() as tx:
            events.insert(tx, rows)


def _calls(chance: random.Random) -> Iterator[tuple[str, dict[str, Any]]]:
    while True:
        name = f"src/{chance.choice(WORDS)}_{chance.choice(WORDS)}.py"
        kind = chance.random()
        if kind < 0.3:
            yield "fs.read", {"path": name}
            yield "fs.write", {"path": name, "data": _digest(chance)}
            yield "machine.exec", {"command": "pytest", "args": ["-q", name, "--timeout", str(chance.randrange(60))]}
        elif kind < 0.4:
            yield "machine.exec", {"command": "git", "args": ["add", name]}
            yield "machine.exec", {"command": "git", "args": ["commit", "-m", f"Change the {chance.choice(WORDS)}"]}
            yield "machine.exec", {"command": "git", "args": ["push", "origin", chance.choice(WORDS)]}
        elif kind < 0.6:
            yield "fs.list", {"path": "src", "depth": chance.randrange(4), "all": chance.random() < 0.5}
        elif kind < 0.8:
            yield "fs.search", {"pattern": chance.choice(WORDS), "path": "src", "limit": chance.randrange(1_000)}
        else:
            word = "x".join(chance.choices(WORDS, k=chance.randrange(1, 4)))
            yield "machine.exec", {"command": word, "args": [word] * chance.randrange(4)}


def _digest(chance: random.Random) -> dict[str, Any]:
    return {"length": chance.randrange(9_000), "sha256": f"{chance.getrandbits(256):064x}"}
