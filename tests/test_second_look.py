"""What fails alone, too, fails the run; what passes alone is named."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.second_look import run

STEADY = "def test_steady(): pass\n"
BROKEN = "def test_broken(): assert False\n"
ONCE = """
from pathlib import Path
def test_once():
    before = Path(__file__).with_suffix(".seen")
    was = before.exists()
    before.touch()
    assert was
"""


def looked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, **files: str) -> int:
    """Run tests of these files."""
    for name, text in files.items():
        (tmp_path / f"test_{name}.py").write_text(text)
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -p no:cacheprovider\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    return run([sys.executable, "-m", "pytest", "-q", str(tmp_path)])


def test_what_passes_is_not_looked_at_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert looked(tmp_path, monkeypatch, steady=STEADY) == 0
    assert "Once more" not in capfd.readouterr().out


def test_what_fails_alone_too_fails_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert looked(tmp_path, monkeypatch, steady=STEADY, broken=BROKEN) == 1
    said = capfd.readouterr().out
    assert "Once more" in said
    assert "UNSTEADY" not in said


def test_what_passes_alone_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert looked(tmp_path, monkeypatch, steady=STEADY, once=ONCE) == 0
    named = capfd.readouterr().out.partition("UNSTEADY")[2]
    assert "test_once.py::test_once" in named


def test_many_failures_are_not_looked_at_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    broken = {f"once{number}": ONCE for number in range(3)}
    assert looked(tmp_path, monkeypatch, **broken) == 1
    assert "Once more" not in capfd.readouterr().out


def test_an_error_that_is_no_failed_test_is_returned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert looked(tmp_path, monkeypatch, wrong="import nowhere_at_all\n") == 2
