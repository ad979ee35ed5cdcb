"""A Telegram, a channel that runs against it, and a whole gateway with another one."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.channels.telegram.bots import Bot, Running, running, telegram_bot
from tests.fakes.telegram.server import FakeTelegram
from tests.kit.fixtures import settings_of


@pytest.fixture
async def fake() -> AsyncIterator[FakeTelegram]:
    async with FakeTelegram() as made:
        yield made


@pytest.fixture
async def app(fake: FakeTelegram) -> AsyncIterator[Running]:
    """A channel without a gateway."""
    async with running(fake) as made:
        yield made


@pytest.fixture
async def bot(tmp_path: Path, request: pytest.FixtureRequest) -> AsyncIterator[Bot]:
    """A bot in its gateway; its settings stand in the mark `settings`."""
    async with telegram_bot(tmp_path, **settings_of(request)) as made:
        yield made
