"""The fake Slack, the real SDK, and a channel with somebody in it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.fakes.slack.client import Web
from tests.fakes.slack.server import FakeSlack
from tests.fakes.slack.world import Channel, User


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with FakeSlack() as fake:
        yield fake


@pytest.fixture
def web(slack: FakeSlack) -> Web:
    return Web(slack)


@pytest.fixture
def ada(slack: FakeSlack) -> User:
    return slack.user("Ada")


@pytest.fixture
def room(slack: FakeSlack, ada: User) -> Channel:
    return slack.channel("room", members=[ada])
