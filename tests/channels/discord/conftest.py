"""A Discord with people and a model, and a bot there in its gateway."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.channels.discord.hosts import Bot, House, house
from tests.kit.fixtures import settings_of


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[House]:
    async with house(tmp_path) as made:
        yield made


@pytest.fixture
async def bot(place: House, request: pytest.FixtureRequest) -> AsyncIterator[Bot]:
    """A bot with the settings of the mark `settings`."""
    async with place.bot(**settings_of(request)) as made:
        yield made
