"""The list of unsteady tests: what it says, and for how long it may say it."""

from __future__ import annotations

import subprocess
from datetime import date
from pathlib import Path

import pytest

from tests.unsteady import LIST, ROOT, Entry, Head, entries, head, new, note, overdue

TEST = "tests/contracts/test_channels_c.py::test_c5[a chat [1]-telegram]"
NO_ONE = ("-c", "user.name=No One", "-c", "user.email=no.one@example.org")


def git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", *NO_ONE, *arguments], cwd=root, check=True, capture_output=True)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / LIST).parent.mkdir()
    (tmp_path / LIST).write_text("# Unsteady tests\n\n- 2026-11-27, abc, `test_a`: Failed: a\n")
    return tmp_path


@pytest.fixture
def checkout(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GIT_COMMITTER_DATE", "2026-11-28T23:30:00-0200")
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "Begin")
    return folder


def test_no_test_is_unsteady_for_more_than_a_week() -> None:
    listed = entries((ROOT / LIST).read_text("utf-8"))
    known = head()
    if known is None:
        pytest.skip("no commit is checked out here, whose date would count")
    late = "\n".join(map(str, overdue(listed, known.made)))
    assert not late, f"mend what makes these fail now and then, and delete their lines:\n{late}"


def test_a_line_is_read_as_it_was_written() -> None:
    entry = Entry(date(2026, 11, 28), "59eb0d36", TEST, "AssertionError: assert `a` == 'b'")
    assert entries(f"# Unsteady tests\n\nSome words.\n\n{entry}\n") == [entry]


@pytest.mark.parametrize(
    "line", ["- yesterday", "- 2026-11-28 abc `test_a`", "- 2026-13-01, a, `b`: c"]
)
def test_a_line_that_is_no_entry_hides_nothing(line: str) -> None:
    with pytest.raises(ValueError, match=r"no entry|month"):
        entries(line)


def test_an_entry_may_stand_for_seven_days() -> None:
    entry = Entry(date(2026, 11, 20), "59eb0d36", TEST, "Failed")
    assert overdue([entry], date(2026, 11, 27)) == []
    assert overdue([entry], date(2026, 11, 28)) == [entry]
    assert overdue([entry], date(2026, 11, 1)) == []


def test_the_days_are_counted_to_the_commit_that_is_checked_out(checkout: Path) -> None:
    known = head(checkout)
    assert known is not None
    assert known.made == date(2026, 11, 29)


def test_an_entry_names_the_commit_and_is_new_until_it_is_committed(checkout: Path) -> None:
    assert new(checkout) == []
    known = head(checkout)
    assert isinstance(known, Head)
    entry = note(TEST, "Failed", checkout)
    assert entry.commit == known.commit
    assert new(checkout) == [entry]
    git(checkout, "commit", "--quiet", "--all", "--message", "Name a test")
    assert new(checkout) == []


def test_a_folder_that_is_no_checkout_has_entries_as_well(folder: Path) -> None:
    assert head(folder) is None
    entry = note(TEST, "Failed", folder)
    assert entry.commit == "unknown"
    assert new(folder)[-1] == entry


def test_a_folder_in_another_checkout_is_none(checkout: Path) -> None:
    inside = checkout / "unpacked"
    inside.mkdir()
    assert head(inside) is None


def test_a_checkout_without_git_has_no_commit(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(checkout))
    assert head(checkout) is None
