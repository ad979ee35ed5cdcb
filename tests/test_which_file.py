"""The table "Which file to open" is true: four of its rows, followed literally, are enough."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.which_file.changes import CHANGES
from tests.which_file.tree import MAKES, ROOT, Change, copy_of_sources, make, regenerate, run

PAGE = (ROOT / "docs" / "explanation" / "architecture.md").read_text()
ROWS = dict(re.findall(r"^\| (.+?) \| (.+) \|$", PAGE, re.MULTILINE))


def named(change: Change) -> set[str]:
    """Return what stands as code in a change's row."""
    return set(re.findall(r"`([^`]+)`", ROWS[change.row]))


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.row)
def test_a_row_names_each_file_that_its_change_touches(change: Change) -> None:
    files = named(change)
    folders = tuple(name for name in files if name.endswith("/"))
    touched = {path for path in change.paths() if not path.startswith(folders)}
    assert touched - files == set()
    assert set(change.makes) == files & MAKES.keys()


@pytest.mark.timeout(900)  # mypy begins without its cache, and perhaps beside other work
def test_four_rows_that_are_followed_literally_pass_lint_types_and_their_rooms(
    tmp_path: Path,
) -> None:
    copy = copy_of_sources(tmp_path / "copy")
    for change in CHANGES:
        make(change, copy)
    for goal in MAKES:
        regenerate(goal, copy)
    paths = {path for change in CHANGES for path in change.paths()}
    touched = sorted(path for path in paths if path.endswith(".py"))
    run(copy, "ruff", "format", "--check", *touched)
    run(copy, "ruff", "check", *touched)
    run(copy, "mypy", f"--cache-dir={tmp_path / 'types'}", *touched)
    rooms = [room for change in CHANGES for room in change.rooms]
    rooms += ["tests/test_reference.py", "tests/test_house.py::test_files_are_short"]
    run(copy, "pytest", "--numprocesses=0", "-m", "not postgresql", *rooms)
