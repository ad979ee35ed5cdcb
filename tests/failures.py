"""What a run of pytest notes for the second look (`tests/second_look.py`): a plugin of pytest.

It is loaded with `-p tests.failures`; a variable of the environment says what it does.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

NOTES: Final = "TAPEWAY_TEST_NOTES"
"""The variable with the path that a run writes its `Notes` to."""
BESIDE: Final = "TAPEWAY_TEST_BESIDE"
"""The variable with the path of the file that a run beside a test makes when its own tests run."""
ENOUGH: Final = 1000
"""Tests that a run beside a test has at least: it repeats its own."""
LONGEST: Final = 200


@dataclass(slots=True)
class Notes:
    """What a run of pytest says of itself at its end."""

    failures: dict[str, str] = field(default_factory=dict)
    """The node ids of the tests that failed, with the first line of each failure."""
    paths: list[str] = field(default_factory=list)
    """The paths that its command named."""
    workers: int = 0
    whole: bool = True
    """Whether a failure would not have ended it early."""

    @classmethod
    def read(cls, path: Path) -> Notes | None:
        """Return what a run wrote; None if it ended before that."""
        return cls(**json.loads(path.read_text())) if path.exists() else None


class _Taker:
    """Takes notes."""

    def __init__(self, config: pytest.Config, path: Path) -> None:
        given = config.args_source is pytest.Config.ArgsSource.ARGS
        self._path = path
        self._notes = Notes(
            paths=list(config.args) if given else [],
            workers=config.getoption("numprocesses", None) or 0,
            whole=not config.getoption("maxfail"),
        )

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the first failure of a test."""
        if report.failed:
            self._notes.failures.setdefault(report.nodeid, first_line(report))

    def pytest_sessionfinish(self) -> None:
        """Write down what was noted."""
        self._path.write_text(json.dumps(asdict(self._notes)))


class _Others:
    """Has the tests of a run go on for long, and says when they have begun."""

    def __init__(self, path: Path) -> None:
        self._path = path

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Repeat the tests. The same one twice in a row would share its fixtures."""
        if len(items) > 1:
            items *= -(-ENOUGH // len(items))

    def pytest_runtest_logreport(self) -> None:
        """Say that a test has run."""
        self._path.touch()


def pytest_configure(config: pytest.Config) -> None:
    """Do what the environment says."""
    if NOTES in os.environ and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Taker(config, Path(os.environ[NOTES])))
    if BESIDE in os.environ:
        config.pluginmanager.register(_Others(Path(os.environ[BESIDE])))


def first_line(report: pytest.TestReport) -> str:
    """Return the first line of what a failure says of itself, shortened."""
    crash: Any = getattr(report.longrepr, "reprcrash", None)
    said = crash.message if crash is not None else report.longreprtext
    line = next((line.strip() for line in said.splitlines() if line.strip()), "no reason is known")
    plain = "".join(letter if letter.isprintable() else " " for letter in line)
    return plain if len(plain) <= LONGEST else f"{plain[:LONGEST]} ..."
