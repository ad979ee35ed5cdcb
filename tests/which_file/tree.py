"""Make changes in a copy of the sources."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent.parent
MAKES: Final[Mapping[str, tuple[Sequence[str], str]]] = {
    "make env-example": (("gateway.settings.env_example",), ".env.example"),
    "make reference": (("tests.reference",), ""),
}
"""What a row may ask for after the edits: a module, and the file that its output goes to."""


@dataclass(frozen=True, slots=True)
class Edit:
    """A text to put behind another one that the file has once; without that, a new file."""

    path: str
    text: str
    after: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """One row of the table, done: its edits, and the tests of the rooms that it touches."""

    row: str
    edits: Sequence[Edit]
    rooms: Sequence[str]
    makes: Sequence[str] = ()

    def paths(self) -> list[str]:
        return sorted({edit.path for edit in self.edits})


def copy_of_sources(copy: Path) -> Path:
    """Copy what Git has of the sources, as it is in the working tree."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
    return copy


def make(change: Change, copy: Path) -> None:
    """Make a change's edits."""
    for edit in change.edits:
        path = copy / edit.path
        if not edit.after:
            assert not path.exists(), f"{edit.path} exists already"
            path.write_text(edit.text)
            continue
        before = path.read_text()
        assert before.count(edit.after) == 1, f"{edit.path} has {edit.after!r} once"
        path.write_text(before.replace(edit.after, edit.after + edit.text))


def regenerate(goal: str, copy: Path) -> None:
    """Do what a goal of the Makefile does, with this environment's Python."""
    arguments, output = MAKES[goal]
    said = run(copy, *arguments)
    if output:
        (copy / output).write_text(said)


def run(copy: Path, *arguments: str) -> str:
    """Run a Python module in the copy; what it says is the message if it fails."""
    done = subprocess.run(
        [sys.executable, "-m", *arguments], cwd=copy, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{' '.join(arguments)}\n{done.stdout}\n{done.stderr}"
    return done.stdout
