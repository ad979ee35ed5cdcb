"""The fake Slack, the real SDK, and a channel with somebody in it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from slack_sdk.web.async_client import AsyncWebClient

from tests.fakes.slack.client import client_of
from tests.fakes.slack.server import FakeSlack
from tests.fakes.slack.world import Channel, User


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with FakeSlack() as fake:
        yield fake


@pytest.fixture
def web(slack: FakeSlack) -> AsyncWebClient:
    return client_of(slack)


@pytest.fixture
def ada(slack: FakeSlack) -> User:
    return slack.user("Ada")


@pytest.fixture
def room(slack: FakeSlack, ada: User) -> Channel:
    return slack.channel("room", members=[ada])
