"""The last line of a run names what was left out, and the command that adds it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kit.gateways import ROOT
from tests.kit.left_out import line
from tests.kit.needs import needs, read_need

PLUGIN = """
from tests.kit.left_out import LeftOut
def pytest_configure(config):
    config.pluginmanager.register(LeftOut(config))
"""
SHARING = f"""{PLUGIN}
def pytest_collection_modifyitems(config, items):
    shared = [item for item in items if item.name.endswith("server[0]")]
    config.hook.pytest_deselected(items=shared)
    items[:] = [item for item in items if item not in shared]
"""
SETTINGS = """
[pytest]
addopts = -q -p no:cacheprovider -p no:anyio -p no:hypothesispytest
markers = postgresql
"""
TESTS = """
import pytest
from tests.kit.needs import needs
SERVED = getattr(pytest.mark, "postgresql")
def test_runs(): pass
@pytest.mark.skipif(True, reason=needs("a browser", "apt install it"))
@pytest.mark.parametrize("number", range(3))
def test_needs_a_browser(number): pass
def test_needs_a_disk(): pytest.skip("no disk here")
@SERVED
@pytest.mark.parametrize("number", range(2))
def test_needs_a_server(number): pass
"""
BROWSER = "3 tests that need a browser (apt install it)"
SERVER = "2 tests that need a PostgreSQL server (make test-postgres)"
DISK = "1 (no disk here)"


def last_line(folder: Path, *options: str, plugins: str = PLUGIN) -> str:
    """Run the tests as they are in the folder, and return the last line of what pytest says."""
    (folder / "conftest.py").write_text(plugins)
    (folder / "pytest.ini").write_text(SETTINGS)
    (folder / "test_some.py").write_text(TESTS)
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(folder)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout.splitlines()[-1]


@pytest.mark.parametrize("workers", [["-p", "no:xdist"], ["--numprocesses=2"]])
def test_the_last_line_counts_what_was_left_out_in_this_run(
    tmp_path: Path, workers: list[str]
) -> None:
    said = last_line(tmp_path, *workers, "-m", "not postgresql")
    assert said == f"Left out: {BROWSER}, {SERVER}, {DISK}."


def test_what_a_keyword_leaves_out_is_not_missed(tmp_path: Path) -> None:
    options = ["-p", "no:xdist", "-m", "not postgresql"]
    said = last_line(tmp_path, *options, "-k", "browser or server")
    assert said == f"Left out: {BROWSER}, {SERVER}."
    assert last_line(tmp_path, *options, "-k", "runs").startswith("1 passed")


def test_on_a_server_the_cases_that_other_channels_run_are_named_by_their_command(
    tmp_path: Path,
) -> None:
    said = last_line(tmp_path, "-p", "no:xdist", "-m", "postgresql", plugins=SHARING)
    needed = "1 test that needs a run of every case on every channel (make test-every-case)"
    assert said == f"Left out: {needed}."


def test_one_test_is_no_tests() -> None:
    assert line([needs("root", "sudo x")]) == "Left out: 1 test that needs root (sudo x)."
    assert line([]) == ""


def test_a_need_is_read_as_it_was_written() -> None:
    assert read_need(needs("a disk", "mount it (as root)")) == ("a disk", "mount it (as root)")
    assert read_need("no disk here") is None
