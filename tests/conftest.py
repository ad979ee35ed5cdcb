"""What every test has: asyncio as anyio's backend (the SDKs support no other)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import structlog

from gateway.logs import set_up_logs
from gateway.settings import LogSettings


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def _logs() -> Iterator[None]:
    """Log as the program does; what a test binds or captures is gone after it."""
    set_up_logs(LogSettings(level="info", format="text"))
    yield
    structlog.contextvars.clear_contextvars()
    structlog.reset_defaults()
