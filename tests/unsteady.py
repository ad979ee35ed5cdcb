"""The list of unsteady tests: `python -m tests.unsteady` prints what is new in `tests/UNSTEADY.md`.

`tests/second_look.py` appends to it. The commit that mends the cause deletes the line. A line of
more than seven days fails the gate, counted to the date of the commit that is checked out: a
checkout that was good does not go bad by lying there.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
LIST: Final = "tests/UNSTEADY.md"
LONGEST: Final = timedelta(days=7)
_ENTRY: Final = re.compile(r"- (\d{4}-\d{2}-\d{2}), (\S+), `(.+?)`: (.+)")


@dataclass(frozen=True, slots=True)
class Entry:
    """A test that failed in a run, and passed five times when it was looked at again."""

    found: date
    commit: str
    test: str
    said: str
    """The first line of its failure."""

    def __str__(self) -> str:
        return f"- {self.found}, {self.commit}, `{self.test}`: {self.said}"

    @classmethod
    def parse(cls, line: str) -> Entry:
        """Read a line of the list; raises ValueError."""
        found = _ENTRY.fullmatch(line)
        if found is None:
            raise ValueError(f"{LIST} has a line that is no entry: {line}")
        day, commit, test, said = found.groups()
        return cls(date.fromisoformat(day), commit, test, said)


@dataclass(frozen=True, slots=True)
class Head:
    """The commit that is checked out."""

    commit: str
    made: date


def head(root: Path = ROOT) -> Head | None:
    """Return the commit that is checked out; None in a folder that is no checkout."""
    if _git(root, "rev-parse", "--show-prefix") != "":  # also inside somebody else's checkout
        return None
    said = _git(root, "log", "-1", "--format=%h %ct")
    if not said:
        return None
    commit, _, seconds = said.partition(" ")
    return Head(commit, datetime.fromtimestamp(int(seconds), UTC).date())


def entries(text: str) -> list[Entry]:
    """Read a list; raises ValueError for an item that is no entry."""
    return [Entry.parse(line) for line in text.splitlines() if line.startswith("- ")]


def overdue(listed: list[Entry], on: date) -> list[Entry]:
    """Return what has stood in the list for too long on a day."""
    return [entry for entry in listed if on - entry.found > LONGEST]


def note(test: str, said: str, root: Path = ROOT) -> Entry:
    """Append an entry to the list in the working tree."""
    known = head(root)
    commit = known.commit if known else "unknown"
    entry = Entry(datetime.now(UTC).date(), commit, test, said)
    with (root / LIST).open("a", encoding="utf-8") as file:
        file.write(f"{entry}\n")
    return entry


def new(root: Path = ROOT) -> list[Entry]:
    """Return the entries of the working tree that the commit lacks."""
    committed = _git(root, "show", f"HEAD:./{LIST}") or ""
    known = committed.splitlines()
    return [entry for entry in entries((root / LIST).read_text("utf-8")) if str(entry) not in known]


def _git(root: Path, *arguments: str) -> str | None:
    """Return what git prints; None if there is no git, or if it refuses."""
    try:
        ran = subprocess.run(
            ["git", *arguments], cwd=root, capture_output=True, text=True, check=False
        )
    except OSError:
        return None
    return ran.stdout.strip() if ran.returncode == 0 else None


if __name__ == "__main__":
    for entry in new():
        print(entry)
