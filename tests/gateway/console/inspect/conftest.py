"""The house of these tests, and its owner at the console."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.gateway.console.inspect.people import Client, House, house


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[House]:
    async with house(tmp_path) as found:
        yield found


@pytest.fixture
async def owner(home: House) -> AsyncIterator[Client]:
    async with home.owner() as client:
        yield client
