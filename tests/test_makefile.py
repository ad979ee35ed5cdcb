"""`make` on a machine that lacks Python, its module venv, a network, or ready-made packages."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
OLD = """#!/bin/sh
[ "$1" = --version ] && echo "Python 3.9.2" && exit 0
exit 1
"""

FAILING = """#!/bin/sh
case "$*" in
  *ensurepip*) exit $NO_VENV ;;
  "-m venv"*) mkdir -p .venv/bin && cp "$0" .venv/bin/python ;;
  "-m pip"*) echo "$PIP_SAYS" >&2; exit 1 ;;
  --version) echo "Python 3.99.0" ;;
esac
"""
NO_NETWORK = "WARNING: Retrying after connection broken by 'NewConnectionError('"
NO_WHEEL = "ERROR: No matching distribution found for apsw==3.54.1.0"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for path in (ROOT / "Makefile", ROOT / "pyproject.toml", *ROOT.glob("requirements*.txt")):
        shutil.copy(path, tmp_path / path.name)
    return tmp_path


def make(checkout: Path, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    # A `make check` around this test must not pass its flags on.
    environ = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    environ |= more
    return subprocess.run(
        ["make", *arguments], cwd=checkout, env=environ, capture_output=True, text=True, check=False
    )


def test_the_help_lists_everything_that_is_described(checkout: Path) -> None:
    described = re.findall(r"^(\S+):.* ## ", (ROOT / "Makefile").read_text(), re.MULTILINE)
    listed = [line.split()[1] for line in make(checkout, "help").stdout.splitlines()]
    assert listed == described


@pytest.mark.parametrize("goal", ["run", "test", "docs"])
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
    assert not list(checkout.glob(".venv*"))


def test_a_missing_python_is_named_too(checkout: Path) -> None:
    made = make(checkout, "run", "PYTHON=python3.nowhere")
    assert made.returncode != 0
    assert "Tapeway needs Python 3.11 or newer; python3.nowhere is" in made.stdout


def test_a_new_python_goes_on_to_the_installation(checkout: Path) -> None:
    made = make(checkout, "--dry-run", "run")
    assert made.returncode == 0
    assert "--require-hashes -r requirements.txt" in made.stdout


def test_the_check_is_a_fleet_a_long_tape_and_every_test_beside_the_types(checkout: Path) -> None:
    (checkout / ".venv").mkdir()
    (checkout / ".venv/.dev").touch()
    said = make(checkout, "--dry-run", "check").stdout.splitlines()
    assert ".venv/bin/mypy" in said
    steps = [line.rpartition(" -m ")[2] for line in said if ".venv/bin/python -m" in line]
    steps.remove("bench.console")  # beside the tests, after the types
    (fleet, alone, pages, python, served, newest, oldest, unsteady) = steps
    assert unsteady == "tests.unsteady"  # the last line of a gate is what it found
    assert (fleet, alone) == ("tests.fleet", '"not postgresql"')
    assert pages.endswith("tests/pages")
    assert python.startswith("tests.newest")
    assert served.startswith("postgresql tests/")
    assert "test_postgres_plans.py" in newest
    assert "test_postgres_plans.py" in oldest
    assert any(line.startswith("TAPEWAY_TEST_POSTGRES_VERSION=18 ") for line in said)


def test_the_newest_python_has_an_environment_of_its_own(checkout: Path) -> None:
    (checkout / ".venv/bin").mkdir(parents=True)
    (checkout / ".venv/.dev").touch()
    python = checkout / ".venv/bin/python"
    python.write_text("#!/bin/sh\necho /opt/bin/python3.99\n")
    python.chmod(0o755)
    said = make(checkout, "--dry-run", "--no-print-directory", "test-newest").stdout
    assert "/opt/bin/python3.99 -m venv .venv-3.99" in said
    assert "--require-hashes -r requirements-dev.txt" in said
    assert ".venv-3.99/bin/python -m pytest" in said
    assert said.endswith('-m "not postgresql" -p tests.short\n')
    python.write_text("#!/bin/sh\nexit 1\n")
    assert ".venv-" not in make(checkout, "test-newest").stdout


def test_only_what_is_named_is_run_and_the_gate_is_never_narrowed(checkout: Path) -> None:
    (checkout / ".venv").mkdir()
    (checkout / ".venv/.dev").touch()
    named = ("T=tests/agent", "K=a or b")
    for goal, marker in (("test", '"not postgresql"'), ("test-postgres", "postgresql")):
        said = make(checkout, "--dry-run", goal, *named).stdout
        assert f"-m tests.chosen -m {marker}" in said
        assert "second_look" not in said
        assert "tests.chosen" not in make(checkout, "--dry-run", goal).stdout
    assert "tests.chosen" not in make(checkout, "--dry-run", "check", *named).stdout


def test_every_folder_with_tests_on_a_server_is_searched_for_them(checkout: Path) -> None:
    said = make(checkout, "--dry-run", "test-postgres").stdout
    folders = tuple(f"{name}/" for name in said.split() if name.startswith("tests/"))
    served = re.compile(r"mark\.postgresql|\bpromises\(|import .*\bparams\b")
    files = [path for path in ROOT.glob("tests/**/*.py") if served.search(path.read_text())]
    names = {str(path.relative_to(ROOT)) for path in files if path != Path(__file__)}
    names.discard("tests/kit/promised.py")  # it marks the suite's tests, and has none
    assert len(names) > 40
    assert {name for name in names if not name.startswith(folders)} == set()


@pytest.mark.parametrize("file", [".env", "tapeway.toml"])
def test_make_run_uses_the_settings_of_its_own_folder_and_closes_them(
    checkout: Path, file: str
) -> None:
    assert "--env-file" not in make(checkout, "--dry-run", "run").stdout
    (checkout / file).touch()
    said = make(checkout, "--dry-run", "run").stdout
    assert f'--env-file "{checkout}/.env" gateway' in said
    assert ("chmod go-rwx .env" in said) == (file == ".env")


@pytest.mark.parametrize(
    ("lacks", "remedy"),
    [
        ({"NO_VENV": "1"}, "sudo apt install python3-venv"),
        ({"PIP_SAYS": NO_NETWORK}, "The package index cannot be reached"),
        ({"PIP_SAYS": NO_WHEEL}, "no ready-made build for this machine's Python 3.99.0"),
    ],
)
def test_what_else_is_missing_is_named_in_one_sentence(
    checkout: Path, lacks: dict[str, str], remedy: str
) -> None:
    python = checkout / "python3.99"
    python.write_text(FAILING)
    python.chmod(0o755)
    made = make(checkout, "run", "UV=", f"PYTHON={python}", **{"NO_VENV": "0", **lacks})
    assert made.returncode != 0
    [last] = made.stdout.splitlines()[-1:]
    assert remedy in last
    assert ("apsw" in made.stdout) == (NO_WHEEL in lacks.values())
