"""A test that hangs says where it waits, and holds the others no longer than it has to."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.kit.gateways import ROOT

PLUGIN = """
from tests.kit.hung import Hung
def pytest_configure(config):
    config.pluginmanager.register(Hung())
"""
SETTINGS = """
[pytest]
addopts = -q -p no:cacheprovider -p no:hypothesispytest
anyio_mode = auto
timeout = 0.2
faulthandler_timeout = 2
faulthandler_exit_on_timeout = true
"""
HANGS = """
import anyio
import pytest
@pytest.fixture
def anyio_backend(): return "asyncio"
async def beside(): await anyio.sleep_forever()
async def test_waits():
    async with anyio.create_task_group() as group:
        group.start_soon(beside)
        await anyio.sleep_forever()
async def test_goes_on(): pass
"""
LOSES = """
import signal
def test_loses_what_would_end_it():
    while True:
        try: signal.pause()
        except BaseException: pass
def test_goes_on(): pass
"""


def run(folder: Path, tests: str, *options: str) -> str:
    """Run tests in the folder, and return all that is said."""
    (folder / "conftest.py").write_text(PLUGIN)
    (folder / "pytest.ini").write_text(SETTINGS)
    (folder / "test_some.py").write_text(tests)
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "test_some.py"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    return ran.stdout + ran.stderr


def test_where_each_task_waits_is_said(tmp_path: Path) -> None:
    said = run(tmp_path, HANGS)
    assert "test_some.py::test_waits hangs. 3 tasks wait:" in said
    assert "- test_some.beside\n" in said
    assert "sleep_forever\n" in said
    assert "1 failed, 1 passed" in said


def test_what_cannot_be_interrupted_is_a_failure_and_the_others_run(tmp_path: Path) -> None:
    said = run(tmp_path, LOSES, "--numprocesses=1", "--dist=worksteal")
    assert "test_loses_what_would_end_it hangs. No event loop runs." in said
    assert "in test_loses_what_would_end_it" in said, "faulthandler says where"
    assert "1 failed, 1 passed" in said
