"""The Python that the short form of the tests runs on."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests import newest

WORKS = "#!/bin/sh\nexit 0\n"
WITHOUT_VENV = "#!/bin/sh\nexit 1\n"


def path_of(folder: Path, **pythons: str) -> str:
    """Make programs in a folder of their own each; return a PATH of the folders."""
    for name, text in pythons.items():
        place = folder / name
        place.mkdir()
        program = place / name.replace("_", ".")
        program.write_text(text)
        program.chmod(0o755)
    return os.pathsep.join(["", str(folder / "nowhere"), *map(str, folder.iterdir())])


def test_it_is_the_newest_that_can_make_an_environment(tmp_path: Path) -> None:
    path = path_of(
        tmp_path, python3_9=WORKS, python3_12=WORKS, python3_13=WORKS, python3_14=WITHOUT_VENV
    )
    assert newest.newest(path, 11) == str(tmp_path / "python3_13" / "python3.13")
    assert newest.newest(path, 13) is None


def test_what_only_begins_like_a_python_is_none(tmp_path: Path) -> None:
    config = path_of(tmp_path, python3_99=WORKS)
    (tmp_path / "python3_99" / "python3.99").rename(tmp_path / "python3_99" / "python3.99-config")
    assert newest.newest(config, 11) is None


def test_where_there_is_none_one_line_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert newest.main() == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert "none newer than 3." in said.err


def test_it_is_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", path_of(tmp_path, python3_99=WORKS))
    assert newest.main() == 0
    assert capsys.readouterr().out == f"{tmp_path}/python3_99/python3.99\n"
