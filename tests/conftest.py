"""What every test has: asyncio as anyio's backend (the SDKs support no other)."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from typing import Any, Final

import hypothesis
import pytest
import structlog
import uvicorn.server

from gateway.logs import set_up_logs
from gateway.settings import LogSettings

# The same examples each time: what a gate says must not depend on luck. A search for new ones:
# TEST_SEARCH=1 make test
hypothesis.settings.register_profile("same", derandomize=True, deadline=None)
hypothesis.settings.register_profile("search", deadline=None)
hypothesis.settings.load_profile("search" if os.environ.get("TEST_SEARCH") else "same")

POLL_SECONDS: Final = 0.01


class _Impatient:
    """The module asyncio for uvicorn: a server checks every 0.1 s whether it may end, as does
    each of the tests' gateways, which would spend most of the suite's time on it."""

    def __getattr__(self, name: str) -> Any:
        return getattr(asyncio, name)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(min(seconds, POLL_SECONDS))


vars(uvicorn.server)["asyncio"] = _Impatient()


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
