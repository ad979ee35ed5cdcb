"""What every test has: asyncio as anyio's backend (the SDKs support no other)."""

from __future__ import annotations

import pytest


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"
