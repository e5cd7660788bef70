"""Where a benchmark runs: a folder of its own on a real disk, and hearth as its console script."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks.measure import Command

# What pip writes as the console script, so that the measured start is the one that users have.
SCRIPT = "import sys\nfrom hearth.__main__ import main\nif __name__ == '__main__':\n    sys.exit(main())\n"


@dataclass(frozen=True, slots=True)
class Setting:
    """The folder to work in, and how many rounds to run."""

    folder: Path
    rounds: int

    @property
    def _home(self) -> dict[str, str]:
        """A user's home in the folder, so that no setting or database of the real one is met."""
        names = ("HOME", "USERPROFILE", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "LOCALAPPDATA", "APPDATA")
        return dict.fromkeys(names, str(self.folder / "home"))

    def hearth(
        self, *words: str, stdin: bytes = b"", folder: Path | None = None, statuses: tuple[int, ...] = (0,)
    ) -> Command:
        """The command `hearth WORDS`."""
        script = self.folder / "hearth-script.py"
        if not script.exists():
            script.write_text(SCRIPT, encoding="utf-8")
        return Command(
            (sys.executable, str(script), *words),
            stdin=stdin,
            folder=folder or self.folder,
            statuses=frozenset(statuses),
            environment=self._home,
        )

    def python(self, code: str, *words: str, folder: Path | None = None) -> Command:
        """The command `python -c CODE WORDS`."""
        return Command((sys.executable, "-c", code, *words), folder=folder or self.folder)
