"""What every test has: asyncio as anyio's backend (the SDKs support no other)."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import hypothesis
import pytest
import structlog

from gateway.logs import set_up_logs
from gateway.settings import LogSettings
from tests import quick  # noqa: F401 - for what it does
from tests.fakes.base.traffic import forget_traffic

# A shell's background jobs ignore Ctrl-C, and so would all the processes that the tests start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples each time: what a gate says must not depend on luck. A search for new ones:
# TEST_SEARCH=1 make test
hypothesis.settings.register_profile("same", derandomize=True, deadline=None)
hypothesis.settings.register_profile("search", deadline=None)
hypothesis.settings.load_profile("search" if os.environ.get("TEST_SEARCH") else "same")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def _logs() -> Iterator[None]:
    """Log as the program does; what a test binds or captures is gone after it."""
    set_up_logs(LogSettings(level="info", format="text"))
    yield
    forget_traffic()
    structlog.contextvars.clear_contextvars()
    structlog.reset_defaults()
