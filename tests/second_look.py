"""Run the tests, and look at the few that failed once more, alone: `python -m tests.second_look`.

Thousands of tests, hundreds of processes and two cores: a test that waits for the wrong thing fails
once in many runs, when the machine is at its busiest. What fails alone, too, fails the run; so do
more than two failures. What passes alone is named at the end as unsteady, below the report of
its failure: it is a defect, of the test or of the product, and somebody has to find out which.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import pytest

MOST: Final = 2  # failures that are looked at again
FAILED: Final = 1  # pytest's exit code if tests failed, and nothing else went wrong
ALONE: Final = ("-p", "no:xdist")
LIST: Final = "TAPEWAY_TEST_FAILURES"
"""The variable with the path of the list of failed tests, which this module writes as a plugin."""


class Failures:
    """Notes the tests that fail."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            with self._path.open("a") as file:
                file.write(f"{report.nodeid}\n")


def pytest_configure(config: pytest.Config) -> None:
    """Note failures where all workers report them."""
    if LIST in os.environ and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Failures(Path(os.environ[LIST])))


def run(command: Sequence[str]) -> int:
    """Run pytest by a command, and perhaps again; return the exit code."""
    with TemporaryDirectory(prefix="tapeway-tests-") as folder:
        noted = Path(folder) / "failed"
        noted.touch()
        environ = {**os.environ, LIST: str(noted)}
        first = [*command, "-p", "tests.second_look"]
        code = subprocess.run(first, check=False, env=environ).returncode
        failed = sorted(set(noted.read_text().splitlines()))
    if code != FAILED or not 0 < len(failed) <= MOST:
        return code
    print(f"\nOnce more, alone: {' '.join(failed)}", flush=True)
    again = [sys.executable, "-m", "pytest", *ALONE, *failed]
    code = subprocess.run(again, check=False).returncode
    if code == 0:
        print("\nUNSTEADY: failed beside others, passed alone. Find out why:")
        print("\n".join(f"  {test}" for test in failed), flush=True)
    return code


if __name__ == "__main__":
    raise SystemExit(run(sys.argv[1:]))
