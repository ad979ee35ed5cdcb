"""The fake Discord, a bot without an SDK, and a channel with somebody in it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.fakes.discord.client import Api
from tests.fakes.discord.server import FakeDiscord
from tests.fakes.discord.world import Channel, User


@pytest.fixture
async def fake() -> AsyncIterator[FakeDiscord]:
    async with FakeDiscord() as made:
        yield made


@pytest.fixture
async def api(fake: FakeDiscord) -> AsyncIterator[Api]:
    async with Api(fake) as made:
        yield made


@pytest.fixture
def ann(fake: FakeDiscord) -> User:
    return fake.user("Ann")


@pytest.fixture
def room(fake: FakeDiscord) -> Channel:
    return fake.text_channel(fake.guild("Team"), "general")
