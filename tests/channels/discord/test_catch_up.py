"""When the history is read, and when the gap is closed."""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio
import pytest

from channels.connection_state import ConnectionState
from channels.discord.catch_up import FIRST_RETRY_SECONDS, CatchUp
from channels.discord.event_queue import EventQueue
from channels.discord.guild_cache import GuildCache
from channels.discord.identify_limit import IdentifyLimit
from channels.discord.limits import LIMITS
from channels.host import Cursors
from channels.testing import FakeHost
from tests.kit.clock import ManualClock


class Requests(EventQueue):
    """A queue that counts the requests for another catch-up."""

    count = 0

    def put_catch_up(self) -> None:
        self.count += 1


class Bot:
    """A connected bot whose history is empty."""

    def __init__(self, host: FakeHost, clock: ManualClock) -> None:
        self.host, self.clock, self.cache = host, clock, GuildCache()
        self.state = ConnectionState(host, host)
        self.queue = Requests(host, self.cache, self.state, LIMITS)
        self.catch_up = CatchUp(host, self.cache, self.state, self.queue, self)

    async def read_missed(self) -> Cursors:
        return Cursors()


@pytest.fixture
async def bot() -> AsyncIterator[Bot]:
    clock = ManualClock()
    bot = Bot(FakeHost(clock), clock)
    bot.state.connected()
    async with anyio.create_task_group() as group:
        bot.host.open(group)
        yield bot
        group.cancel_scope.cancel()


async def test_a_catch_up_closes_the_gap(bot: Bot) -> None:
    await bot.catch_up.run()
    assert bot.host.gaps == ["opened", "closed"]
    bot.catch_up.after_resume()
    assert bot.host.gaps[-1] == "resumed"


async def test_an_expected_guild_keeps_the_gap_open(bot: Bot) -> None:
    bot.cache.expect({"1"})
    await bot.catch_up.run()
    assert bot.host.gaps[-1] == "opened"
    bot.catch_up.after_resume()
    assert bot.host.gaps[-1] == "opened"


async def test_a_retry_is_scheduled_once_and_waits_longer_each_time(bot: Bot) -> None:
    for wait in (FIRST_RETRY_SECONDS, 2 * FIRST_RETRY_SECONDS):
        bot.catch_up.retry_later()
        bot.catch_up.retry_later()
        before = bot.queue.count
        await bot.clock.advance(wait - 1)
        assert bot.queue.count == before
        await bot.clock.advance(1)
        assert bot.queue.count == before + 1


async def test_new_sessions_keep_their_distance() -> None:
    clock, limit = ManualClock(), IdentifyLimit()
    await limit.wait(clock, 1)
    async with anyio.create_task_group() as group:
        group.start_soon(limit.wait, clock, 1)
        await clock.advance(LIMITS.identify_seconds - 1)
        assert len(limit.started) == 1
        await clock.advance(1)
    assert len(limit.started) == 2
