"""A plugin of pytest that ends the run when its time is up, and notes which files are done."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Final

import pytest

UNTIL: Final = "TAPEWAY_QUICK_UNTIL"
"""The variable with the time at which a run ends, in seconds since 1970."""

NOTES: Final = "TAPEWAY_QUICK_NOTES"
"""The variable with the path of the file of notes: `begun TEST`, `failed TEST` and `done PATH`."""


class Stopwatch:
    """Stops between two tests."""

    def __init__(self, until: float, notes: Path) -> None:
        self._until = until
        self._notes = notes
        self._left: dict[str, int] = {}
        self._session: pytest.Session | None = None

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self._session = session
        for path in dict.fromkeys(session.config.args):
            self._left[path] = 0
        for item in session.items:
            path = item.nodeid.partition("::")[0]
            self._left[path] = self._left.get(path, 0) + 1
        self._note_done()

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self._note("failed", report.nodeid)

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._note("begun", nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._note("failed", report.nodeid)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._left[nodeid.partition("::")[0]] -= 1
        self._note_done()
        if self._session is not None and self._left and time.time() > self._until:
            self._session.shouldstop = "the time is up"

    def _note_done(self) -> None:
        for path in [path for path, tests in self._left.items() if tests == 0]:
            del self._left[path]
            self._note("done", path)

    def _note(self, what: str, name: str) -> None:
        with self._notes.open("a") as file:
            file.write(f"{what} {name}\n")


def pytest_configure(config: pytest.Config) -> None:
    """Start it."""
    stopwatch = Stopwatch(float(os.environ[UNTIL]), Path(os.environ[NOTES]))
    config.pluginmanager.register(stopwatch)
