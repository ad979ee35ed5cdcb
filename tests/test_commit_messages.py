"""What commits say, from the first one on that is held to it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).resolve().parent.parent
SINCE: Final = "59eb0d36c465ee79576ff4427ded9c57fa5b1bc3"
"""The last commit that is not held to this: three merges before it name a folder of a machine."""

FOLDER: Final = re.compile(r"(?<![\w.])/(home|root|tmp|Users|work)/\w")
BY_GIT: Final = re.compile(r"Merge (remote-tracking )?(branch|branches|commit|tag)\b")
"""How a merge begins whose words are git's: they say where it came from, not what it brings."""


def faults_of(message: str) -> list[str]:
    """Return what a message has that no commit's should have."""
    subject = message.partition("\n")[0]
    git_s = [f"{subject}: say what the merge brings"] if BY_GIT.match(subject) else []
    paths = FOLDER.search(message)
    return [*git_s, *([f"{subject}: leave out the folder {paths[0]}..."] if paths else [])]


def test_commits_say_what_they_bring_and_name_no_folder_of_a_machine() -> None:
    command = ["git", "log", "--format=%B%x00", f"{SINCE}..HEAD"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if listed.returncode:
        pytest.skip("the history does not reach back to where this begins")
    messages = [message.strip() for message in listed.stdout.split("\0")]
    assert [fault for message in messages for fault in faults_of(message)] == []


@pytest.mark.parametrize(
    "message",
    [
        "Merge branch 'w-pages'",
        "Merge remote-tracking branch 'origin/w-pages' into main",
        "Merge the pages of the room\n\nTheir branch was in {}h/pages.",
        "Read {}h/NOTES.md first",
    ],
)
def test_words_of_git_and_folders_are_faults(message: str) -> None:
    assert len(faults_of(message.format("/tmp/"))) == 1


@pytest.mark.parametrize(
    "message",
    [
        "Merge the pages of the room\n\nThey show who is there.",
        "Keep the databases of tests in /dev/shm, and /console at the page's own address",
        "Take TMPDIR for what /tmp was, and docs/home/index.md from the map",
    ],
)
def test_addresses_and_folders_of_the_repository_are_none(message: str) -> None:
    assert faults_of(message) == []
