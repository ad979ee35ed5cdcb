"""The fake Discord, bots with and without an SDK, and a channel with somebody in it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.fakes.discord.client import Api, Bot, Wire, wire
from tests.fakes.discord.server import FakeDiscord
from tests.fakes.discord.world import Channel, Guild, User


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
def guild(fake: FakeDiscord) -> Guild:
    return fake.guild("Team")


@pytest.fixture
def room(fake: FakeDiscord, guild: Guild) -> Channel:
    return fake.text_channel(guild, "general")


@pytest.fixture
async def bot(fake: FakeDiscord, ann: User, room: Channel) -> AsyncIterator[Bot]:
    fake.join(room.guild_id or 0, ann)
    async with Bot(fake) as made:
        yield await made.come_in()


@pytest.fixture
async def socket(api: Api) -> AsyncIterator[Wire]:
    async with wire(api) as made:
        yield made
