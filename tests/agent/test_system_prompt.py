"""The workspace's AGENTS.md."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent.system_prompt import DEFAULT_PROMPT, MAX_AGENTS_FILE_BYTES, read_agents_file


def test_a_workspace_s_file_is_read_without_the_blanks_around_it(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("\n# Be kind\n\n", encoding="utf-8")
    assert read_agents_file(tmp_path) == "# Be kind"


def test_a_workspace_without_the_file_says_nothing(tmp_path: Path) -> None:
    assert read_agents_file(tmp_path) == ""
    assert read_agents_file(tmp_path / "no-such-folder") == ""


def test_a_folder_of_that_name_and_a_file_as_workspace_say_nothing(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").mkdir()
    (tmp_path / "file").touch()
    assert read_agents_file(tmp_path) == ""
    assert read_agents_file(tmp_path / "file") == ""


def test_a_long_file_is_read_up_to_the_bound_only(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_bytes(b"x" * (MAX_AGENTS_FILE_BYTES + 9))
    assert read_agents_file(tmp_path) == "x" * MAX_AGENTS_FILE_BYTES


@pytest.mark.parametrize("raw", [b"caf\xe9", "ä".encode() * MAX_AGENTS_FILE_BYTES])
def test_bytes_that_are_no_utf8_do_no_harm(tmp_path: Path, raw: bytes) -> None:
    (tmp_path / "AGENTS.md").write_bytes(raw)
    assert read_agents_file(tmp_path).isprintable()


def test_the_default_prompt_has_no_clock_in_it() -> None:
    assert "{" not in DEFAULT_PROMPT
    assert not any(sign.isdigit() for sign in DEFAULT_PROMPT)
