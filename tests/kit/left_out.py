"""The last line of a run: the tests that were left out, and the commands that add them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Generator, Iterable, Sequence
from typing import Any, Final

import pytest

from tests.kit.needs import EVERY_CASE, SERVER, read_need

POSTGRESQL: Final = "postgresql"
COUNT: Final = "left_out_postgresql"
"""The key under which a worker gives the number of deselected tests to the main process."""


class LeftOut:
    """A plugin that counts the skipped tests of a run by what they need."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._for_servers = 0

    def pytest_deselected(self, items: Sequence[pytest.Item]) -> None:
        """Count the tests that need a server, left out by `-m` or by those that share cases."""
        # Each option deselects in a call of its own: a keyword deselects others, too.
        if items and all(item.get_closest_marker(POSTGRESQL) for item in items):
            self._for_servers = len(items)
            output: dict[str, Any] = vars(self._config).get("workeroutput", {})
            output[COUNT] = len(items)

    @property
    def _need(self) -> str:
        """What the deselected tests needed: in a run on a server, they are cases of others."""
        return EVERY_CASE if self._config.option.markexpr == POSTGRESQL else SERVER

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """Take the count of a worker: each of them deselects the same tests."""
        output: dict[str, Any] = vars(node).get("workeroutput", {})
        self._for_servers = max(self._for_servers, output.get(COUNT, 0))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_sessionfinish(self) -> Generator[None, object, object]:
        """Write the line below everything else that pytest says."""
        result = yield
        reporter = self._config.pluginmanager.get_plugin("terminalreporter")
        if reporter is not None and not hasattr(self._config, "workerinput"):
            reasons = [_reason(report) for report in reporter.stats.get("skipped", ())]
            if said := line([*reasons, *[self._need] * self._for_servers]):
                reporter.ensure_newline()
                reporter.write_line(said)
        return result


def line(reasons: Iterable[str]) -> str:
    """Return the sentence about the skips of a run, or nothing if there are none."""
    parts = [_part(reason, count) for reason, count in Counter(reasons).most_common()]
    return f"Left out: {', '.join(parts)}." if parts else ""


def _part(reason: str, count: int) -> str:
    need = read_need(reason)
    if need is None:
        return f"{count} ({reason})"
    what, remedy = need
    return f"{count} {'tests that need' if count > 1 else 'test that needs'} {what} ({remedy})"


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Return why a test was skipped, without pytest's own word before it."""
    said = report.longrepr
    return (said[2] if isinstance(said, tuple | list) else str(said)).removeprefix("Skipped: ")
