"""A Slack and a channel that runs against it; both follow `clock` if the test has it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.channels.slack.hosts import Running, running, slack
from tests.fakes.slack.server import FakeSlack
from tests.kit.clock import ManualClock


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def _followed(request: pytest.FixtureRequest) -> ManualClock | None:
    return request.getfixturevalue("clock") if "clock" in request.fixturenames else None


@pytest.fixture
async def fake(_followed: ManualClock | None) -> AsyncIterator[FakeSlack]:
    async with slack(_followed) as made:
        yield made


@pytest.fixture
async def app(fake: FakeSlack, _followed: ManualClock | None) -> AsyncIterator[Running]:
    async with running(fake, clock=_followed) as made:
        yield made
