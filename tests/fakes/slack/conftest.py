"""The fake Slack, the real SDK, and a channel with somebody in it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.fakes.slack.client import Web
from tests.fakes.slack.server import FakeSlack
from tests.fakes.slack.world import Channel, User
from tests.kit.clock import ManualClock


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
async def slack(request: pytest.FixtureRequest) -> AsyncIterator[FakeSlack]:
    """A Slack; it follows `clock` if the test has one."""
    clock = request.getfixturevalue("clock") if "clock" in request.fixturenames else None
    made = FakeSlack(clock=clock.monotonic, sleep=clock.sleep) if clock else FakeSlack()
    async with made:
        yield made


@pytest.fixture
def web(slack: FakeSlack) -> Web:
    return Web(slack)


@pytest.fixture
def ada(slack: FakeSlack) -> User:
    return slack.user("Ada")


@pytest.fixture
def room(slack: FakeSlack, ada: User) -> Channel:
    return slack.channel("room", members=[ada])
