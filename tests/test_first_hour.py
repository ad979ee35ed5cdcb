"""What a newcomer reads and runs first names only what exists."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.which_file.changes import COMMAND

ROOT = Path(__file__).resolve().parent.parent
GOALS = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
PAGES = [ROOT / name for name in ("AGENTS.md", "CONTRIBUTING.md")]
PATH = re.compile(
    r"`((?:gateway|channels|agent|tape|tests|bench|deploy|docs)(?:/[\w./-]*)?|\.venv/bin/\w+)`"
)


def hooks() -> list[dict[str, Any]]:
    config = YAML(typ="safe").load((ROOT / ".pre-commit-config.yaml").read_text())
    assert [repository["repo"] for repository in config["repos"]] == ["local"]
    return [hook for repository in config["repos"] for hook in repository["hooks"]]


def test_hooks_run_what_make_venv_installs_and_download_nothing() -> None:
    assert {hook["language"] for hook in hooks()} == {"system"}
    for hook in hooks():
        program, *arguments = shlex.split(hook["entry"])
        if program == "make":
            assert set(arguments) <= GOALS, hook["entry"]
        else:
            folder, _, name = program.rpartition("/")
            assert folder == ".venv/bin", hook["entry"]
            assert (Path(sys.executable).parent / name).exists(), hook["entry"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_for_newcomers_names_only_paths_and_goals_that_exist(page: Path) -> None:
    text = page.read_text()
    paths = [path for path in PATH.findall(text) if not path.startswith(".venv")]
    new = [edit.path for edit in COMMAND.edits if not edit.after]  # of "Your first change"
    assert [path for path in paths if not (ROOT / path).exists() and path not in new] == []
    assert set(re.findall(r"\bmake ([a-z][\w-]*)`", text)) <= GOALS


def test_the_page_for_agents_is_short() -> None:
    assert len((ROOT / "AGENTS.md").read_text().splitlines()) <= 60
