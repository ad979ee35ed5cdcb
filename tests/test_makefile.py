"""`make` on a machine whose Python is too old, or missing."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
OLD = """#!/bin/sh
[ "$1" = --version ] && echo "Python 3.9.2" && exit 0
exit 1
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for name in ("Makefile", "pyproject.toml", "requirements.txt", "requirements-dev.txt"):
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def make(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    # A `make check` around this test must not pass its flags on.
    environ = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    return subprocess.run(
        ["make", *arguments], cwd=checkout, env=environ, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("goal", ["run", "test"])
def test_an_old_python_is_named_with_the_remedy_before_anything_is_installed(
    checkout: Path, goal: str
) -> None:
    python = checkout / "python3.9"
    python.write_text(OLD)
    python.chmod(0o755)
    made = make(checkout, goal, f"PYTHON={python}")
    assert made.returncode != 0
    assert f"Tapeway needs Python 3.11 or newer; {python} is Python 3.9.2." in made.stdout
    assert f"make {goal} PYTHON=python3.12" in made.stdout
    assert not (checkout / ".venv").exists()


def test_a_missing_python_is_named_too(checkout: Path) -> None:
    made = make(checkout, "run", "PYTHON=python3.nowhere")
    assert made.returncode != 0
    assert "Tapeway needs Python 3.11 or newer; python3.nowhere is" in made.stdout


def test_a_new_python_goes_on_to_the_installation(checkout: Path) -> None:
    made = make(checkout, "--dry-run", "run")
    assert made.returncode == 0
    assert "--require-hashes -r requirements.txt" in made.stdout
