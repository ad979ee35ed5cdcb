"""A Slack and a channel that runs against it; both follow `clock` if the test has it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.channels.slack.hosts import Running, running, slack
from tests.channels.slack.rooms import Room
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


@pytest.fixture
async def room(request: pytest.FixtureRequest) -> AsyncIterator[Room]:
    """A channel in which Ada has asked something; the fake's options are the parameter `room`."""
    options = {"direct": False, **getattr(request, "param", {})}
    direct, clock = options.pop("direct"), ManualClock()
    fake = FakeSlack(clock=clock.monotonic, sleep=clock.sleep, **options)
    fake.epoch = clock.now().timestamp() - clock.monotonic()
    async with fake, running(fake, clock=clock) as app:
        await app.ready()
        ada = fake.user("Ada")
        place = fake.im(ada) if direct else fake.channel()
        fake.say(place, ada, "hello" if direct else "@tapeway hello")
        await app.heard(1)
        yield Room(app, fake, place, ada, app.host.accepted[0])
