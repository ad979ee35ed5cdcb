"""The fake Telegram, and a bot without an SDK."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.fakes.telegram.client import Api
from tests.fakes.telegram.server import FakeTelegram


@pytest.fixture
async def telegram() -> AsyncIterator[FakeTelegram]:
    async with FakeTelegram() as fake:
        yield fake


@pytest.fixture
async def api(telegram: FakeTelegram) -> AsyncIterator[Api]:
    async with Api(telegram) as made:
        yield made
