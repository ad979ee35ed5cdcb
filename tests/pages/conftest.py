"""The browser of the tests here."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
from playwright.async_api import Browser

from tests.kit.browser import connected, running_chromium


@pytest.fixture(scope="session")
def chromium_address() -> Iterator[str]:
    """Run one Chromium for all the tests of this process."""
    with running_chromium() as address:
        yield address


@pytest.fixture(scope="module")
async def chromium(chromium_address: str, anyio_backend: object) -> AsyncIterator[Browser]:
    """Connect to it once for a file, whose tests then share an event loop."""
    async with connected(chromium_address) as browser:
        yield browser
