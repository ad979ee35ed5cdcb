"""`make test T=... K=...` runs what is named, in as few processes as are worth their start."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.chosen import arguments, workers

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(12):
        (tmp_path / "tests" / "room").mkdir(parents=True, exist_ok=True)
        (tmp_path / "tests" / "room" / f"test_{number}.py").touch()
    return tmp_path


@pytest.mark.parametrize("path", ["tests/room/test_1.py", "tests/room/test_1.py::test_it[a-b]"])
def test_one_file_runs_in_pytest_s_own_process(folder: Path, path: str) -> None:
    assert workers([path], 8, folder) == 0


def test_a_folder_has_no_more_workers_than_its_files_are_worth(folder: Path) -> None:
    assert workers(["tests/room"], 8, folder) == 4
    assert workers(["tests/room"], 1, folder) == 3
    assert workers([], 1, folder) == 3
    assert workers(["tests/room/test_1.py", "tests/room/test_2.py"], 8, folder) == 0


def test_paths_and_words_reach_pytest_as_they_were_meant() -> None:
    given = arguments("tests/a.py 'tests/b.py::test_c[two words]'", "not a or (b and c)", cores=2)
    assert given[2:] == ["-k", "not a or (b and c)", "tests/a.py", "tests/b.py::test_c[two words]"]


def test_folders_are_meant_where_no_path_is_named() -> None:
    assert arguments("", "word", cores=2, folders=["tests/a"])[2:] == ["-k", "word", "tests/a"]
    assert arguments("tests/b", "", cores=2, folders=["tests/a"])[2:] == ["tests/b"]


def test_make_runs_the_test_that_is_named_and_no_other() -> None:
    path = "tests/test_chosen.py::test_folders_are_meant_where_no_path_is_named"
    test = [f"T={path} 'tests/test_first_hour.py'", "K=folders or (pages and not goals)"]
    made = subprocess.run(
        ["make", "--silent", "test", *test], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert made.returncode == 0, made.stdout + made.stderr
    assert "1 passed" in made.stdout
