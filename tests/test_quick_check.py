"""`make quick` runs what is near a change first, and names what it has no time for."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.quick_check.changes import changed_files
from tests.quick_check.jobs import run
from tests.quick_check.selection import (
    GUARDS,
    HOUSE,
    ROOMS,
    as_few_paths,
    by_distance,
    module_of,
    nearest_first,
    room_of,
)
from tests.quick_check.stopwatch import NOTES, UNTIL

ROOT = Path(__file__).resolve().parent.parent
TESTS = (
    "tests/agent/test_loop.py",
    "tests/channels/slack/test_inbound.py",
    "tests/channels/slack/test_walk.py",
    "tests/channels/telegram/test_inbound.py",
    "tests/doctor/test_checks.py",
    "tests/gateway/storage/test_holding.py",
    "tests/gateway/test_app.py",
    "tests/scenarios/test_day.py",
    "tests/tape/test_context.py",
    "tests/tape/test_entry.py",
    "tests/test_docs.py",
    *HOUSE[:2],
)
IMPORTERS = {
    "tape.entry": {"tape.context", "tests.tape.test_entry"},
    "tape.context": {"agent.loop", "tests.kit.gateways"},
    "agent.loop": {"tests.agent.test_loop"},
    "tests.kit.gateways": {"tests.scenarios.test_day"},
}


def test_the_room_comes_first_then_the_house_then_importers_by_their_distance() -> None:
    assert nearest_first(["tape/entry.py"], IMPORTERS, TESTS) == [
        "tests/tape/test_entry.py",
        "tests/tape/test_context.py",
        *HOUSE[:2],
        "tests/agent/test_loop.py",
        "tests/scenarios/test_day.py",
    ]


def test_a_test_that_changed_comes_before_the_rooms() -> None:
    found = nearest_first(["agent/loop.py", "tests/scenarios/test_day.py"], {}, TESTS)
    assert found == ["tests/scenarios/test_day.py", "tests/agent/test_loop.py", *HOUSE[:2]]


def test_two_rooms_take_turns() -> None:
    found = nearest_first(["channels/slack/walk.py", "channels/telegram/api.py"], {}, TESTS)
    assert found[:3] == [
        "tests/channels/slack/test_walk.py",
        "tests/channels/telegram/test_inbound.py",
        "tests/channels/slack/test_inbound.py",
    ]


@pytest.mark.parametrize(
    ("path", "room"),
    [
        ("gateway/doctor/checks/model.py", "tests/doctor/test_checks.py"),
        (
            "gateway/storage/ledger/sql/sqlite/statements.sql",
            "tests/gateway/storage/test_holding.py",
        ),
        ("gateway/nowhere/else.py", "tests/gateway/test_app.py"),
        ("docs/how-to/page.md", "tests/test_docs.py"),
    ],
)
def test_what_has_no_folder_of_tests_has_that_of_the_folder_above(path: str, room: str) -> None:
    assert room_of(path, TESTS) == [room]


def test_what_no_test_mirrors_has_no_room() -> None:
    assert room_of("tests/kit/gateways.py", TESTS) == []
    assert room_of("LICENSE", TESTS) == []


def test_a_circle_of_imports_ends() -> None:
    assert by_distance(["a"], {"a": {"b"}, "b": {"a", "c"}}) == ["a", "b", "c"]


def test_a_package_is_the_module_of_its_init() -> None:
    assert module_of("agent/tools/__init__.py") == "agent.tools"
    assert module_of("tape/entry.py") == "tape.entry"


def test_whole_folders_stand_for_their_files() -> None:
    left = [path for path in TESTS if path.startswith("tests/channels")]
    assert as_few_paths(left, TESTS) == ["tests/channels"]
    assert as_few_paths(left[1:], TESTS) == [left[1], "tests/channels/telegram"]


def test_the_tables_name_what_exists() -> None:
    named = [
        *ROOMS,
        *ROOMS.values(),
        *GUARDS,
        *(test for tests in GUARDS.values() for test in tests),
    ]
    assert [path for path in named if not (ROOT / path).exists()] == []


@pytest.fixture
def git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    for name in [name for name in os.environ if name.startswith("GIT_")]:
        monkeypatch.delenv(name)
    author = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]

    def call(*arguments: str) -> None:
        command = ["git", *author, *arguments]
        subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)

    call("init", "--initial-branch=main")
    for name in ("first", "second"):
        (tmp_path / name).write_text(name)
        call("add", ".")
        call("commit", "-m", name)
    return call


def test_on_main_the_last_commit_counts_unless_something_is_not_committed(
    tmp_path: Path, git: Callable[..., None]
) -> None:
    assert changed_files(tmp_path) == ["second"]
    (tmp_path / "third").touch()
    assert changed_files(tmp_path) == ["third"]
    assert changed_files(tmp_path, "HEAD~1") == ["second", "third"]


def test_on_a_branch_everything_since_main_counts(tmp_path: Path, git: Callable[..., None]) -> None:
    git("switch", "-c", "branch")
    (tmp_path / "third").touch()
    git("add", ".")
    git("commit", "-m", "third")
    (tmp_path / "first").unlink()
    (tmp_path / "fourth").touch()
    assert changed_files(tmp_path) == ["first", "fourth", "third"]


def test_an_unknown_revision_is_named(tmp_path: Path, git: Callable[..., None]) -> None:
    with pytest.raises(SystemExit, match="nowhere"):
        changed_files(tmp_path, "nowhere")


def test_a_command_ends_when_its_time_is_up() -> None:
    ended = run([sys.executable, "-c", "input(print('begun', flush=True)) or 1"], None)
    assert ended.code not in (0, None)
    waits = "import threading; threading.Event().wait()"
    assert run([sys.executable, "-c", waits], time.monotonic() + 0.1).code is None
    assert run(["nothing-of-this-name"], time.monotonic()).code is None


@pytest.mark.parametrize("late", [True, False])
def test_no_test_begins_after_the_time_and_files_that_are_done_are_noted(
    tmp_path: Path, late: bool
) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -p no:cacheprovider\n")
    (tmp_path / "test_one.py").write_text("def test_a(): assert False\n")
    (tmp_path / "test_two.py").write_text("def test_b(): pass\n")
    notes, files = tmp_path / "notes", ("test_one.py", "test_two.py")
    until = time.time() + (-1 if late else 600)
    subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "tests.quick_check.stopwatch", *files],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT), UNTIL: str(until), NOTES: str(notes)},
        capture_output=True,
        check=False,
    )
    said = [line for line in notes.read_text().splitlines() if not line.startswith("begun ")]
    assert said[:2] == ["failed test_one.py::test_a", "done test_one.py"]
    assert said[2:] == ([] if late else ["done test_two.py"])
