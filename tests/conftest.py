"""What every test has; the fixtures that it may ask for stand in tests/kit/fixtures.py."""

from __future__ import annotations

import gc
import signal
import sys
from collections.abc import Iterator
from typing import Final

import hypothesis
import pytest
import structlog
from hypothesis import strategies

from gateway.logs import set_up_logs
from gateway.settings import LogSettings
from tests.fakes.base.traffic import forget_traffic
from tests.kit import shortcuts  # noqa: F401 - for what it does
from tests.kit.examples import SEARCHES, number
from tests.kit.hung import Hung
from tests.kit.left_out import LeftOut
from tests.kit.loops import LEFT

pytest_plugins = ["tests.kit.fixtures"]

# A shell's background jobs ignore Ctrl-C, and so would all the processes that the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples each time: what a gate says must not depend on luck. A search for new ones:
# TEST_SEARCH=1 make test
hypothesis.settings.register_profile("same", derandomize=True, deadline=None, max_examples=number())
hypothesis.settings.register_profile("search", deadline=None)
hypothesis.settings.load_profile("search" if SEARCHES else "same")

MANY_MODULES: Final = 100
_frozen: Final[list[int]] = []
"""How many modules were loaded when the garbage collector was freed of them."""


@hypothesis.given(strategies.none())
@hypothesis.settings(max_examples=1)
def _first_property(nothing: None) -> None:
    """Have Hypothesis make its random generator."""
    del nothing


def pytest_configure(config: pytest.Config) -> None:
    """Say at the end what was left out, and of a test that hangs where it waits."""
    config.pluginmanager.register(LeftOut(config))
    config.pluginmanager.register(Hung())


def pytest_collection_finish() -> None:
    """Search for garbage less often, and not in what is loaded by now: it stays to the end."""
    # Hypothesis asks the collector who refers to its generator, and warns where nobody seems to.
    # Since Python 3.14, what is frozen is no answer. It asks once.
    _first_property()
    _freeze()
    gc.set_threshold(20_000, 20, 50)
    _log_plainly()


def pytest_runtest_logstart() -> None:
    """Do the same with what the tests so far have loaded, such as the client of a model."""
    if _frozen and len(sys.modules) > _frozen[-1] + MANY_MODULES:
        _freeze()


def _freeze() -> None:
    gc.collect()
    gc.freeze()
    _frozen.append(len(sys.modules))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    """Give the report of a test's end the connections that the test left open."""
    if call.when == "teardown" and LEFT:
        item.user_properties.append(("left", ", ".join(LEFT)))
        LEFT.clear()


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Name the tests that left connections open: now and then a cancellation, always a leak."""
    for reports in terminalreporter.stats.values():
        for report in reports:
            if getattr(report, "when", "") == "teardown":
                for name, value in report.user_properties:
                    if name == "left":
                        terminalreporter.line(f"{report.nodeid} left connections open: {value}")


@pytest.fixture(autouse=True)
def _logs() -> Iterator[None]:
    """Log as the program does; what a test binds or captures is gone after it."""
    yield
    forget_traffic()
    structlog.contextvars.clear_contextvars()
    _log_plainly()


def _log_plainly() -> None:
    """Log as the program does, for what a whole module shares as well: a coloured traceback with
    its variables, as structlog has it by itself, takes a second or more.
    """
    set_up_logs(LogSettings(level="info", format="text"))
