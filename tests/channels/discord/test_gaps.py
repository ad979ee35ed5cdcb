"""One odd message, chat or server must not affect the others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from channels.discord.adapter import DiscordChannel
from channels.discord.api import DiscordApi
from channels.discord.backfill import MAX_PRIVATE_CHATS, Backfill
from channels.discord.guild_cache import GuildCache
from channels.errors import ChannelDown
from channels.host import Cursors
from channels.message import Author, InboundMessage
from channels.testing import FakeHost
from tests.channels.discord.hosts import Bot, House, began, texts
from tests.fakes.base.faults import ServerError
from tests.fakes.discord.faults import Refuse
from tests.fakes.openai.script import Text


async def in_time(bot: Bot, wanted: Callable[[], object], seconds: float = 100) -> bool:
    """Advance the clock in large steps; return whether a condition came to hold."""
    for _ in range(int(seconds / 0.5)):
        if wanted():
            return True
        await bot.pass_by(0.5, step=0.5)
    return False


def channel(bot: Bot) -> DiscordChannel:
    """Return the channel object."""
    return next(one for one in bot.gateway.channels.values() if isinstance(one, DiscordChannel))


async def test_an_odd_message_in_the_history_does_not_hold_up_others(place: House) -> None:
    await began(place)
    odd = place.fake.say(place.general, place.bob, "odd one")
    odd.json["poll"] = {"question": "no object", "answers": []}
    place.fake.say(place.general, place.ada, f"<@{place.fake.bot.id}> hello?")
    async with place.bot() as bot:
        assert await in_time(bot, lambda: "hello?" in str(bot.prompts()))


@pytest.mark.parametrize("text", ["And the end.", ""])
async def test_an_answer_whose_draft_was_deleted_still_comes(text: str, bot: Bot) -> None:
    gate = asyncio.Event()
    bot.model.enqueue(Text(("Hello there, this is the first part. ", text or " "), gate=gate))
    bot.say(f"<@{bot.fake.bot.id}> hi")
    await bot.until(bot.texts)
    bot.fake.delete(bot.general, bot.fake.messages(bot.general)[0].id)
    gate.set()
    assert await in_time(bot, lambda: any((text or "Hello") in one for one in bot.texts()))
    await bot.settled()
    assert len(bot.texts()) == 1


async def test_a_chat_that_cannot_be_read_is_left_for_later(place: House) -> None:
    other = place.fake.text_channel(place.guild, "other")
    await began(place, place.general, other)
    for room in (place.general, other):
        place.fake.say(room, place.bob, "one")
    place.fake.fail("history", *[ServerError(500)] * 5, channel=place.general)
    async with place.bot() as bot:
        bot.say(f"<@{bot.fake.bot.id}> live", place=other)
        assert await in_time(bot, lambda: "live" in str(bot.prompts()), 20)
        assert "one" not in await texts(bot)
        await bot.pass_by(120, step=0.5)
        assert "one" in await texts(bot)
        assert bot.state == "ready"


async def test_a_channel_that_cannot_be_looked_up_is_an_ordinary_one(bot: Bot) -> None:
    other = bot.fake.text_channel(bot.guild, "other")
    await bot.pass_by(2)
    channel(bot).cache.channels.pop(str(other.id))
    bot.fake.fail("channel", *[ServerError(500)] * 1000, channel=other)
    bot.say("x", place=other)
    bot.say(f"<@{bot.fake.bot.id}> question")
    assert await in_time(bot, lambda: "question" in str(bot.prompts()), 30)


@pytest.mark.parametrize("ago", [60, 3600])
async def test_a_server_that_arrives_late_is_caught_up_with_completely(
    ago: int, place: House
) -> None:
    second = place.fake.guild("Second")
    busy = place.fake.text_channel(second, "busy")
    place.fake.join(second, place.ada)
    fresh = place.fake.text_channel(place.guild, "fresh")
    await began(place, place.general, busy)
    place.fake.say(fresh, place.ada, f"<@{place.fake.bot.id}> asked")
    place.fake.untaken.clear()
    await place.clock.advance(ago)
    place.fake.outage(place.guild)
    async with place.bot() as bot:
        await bot.pass_by(10)
        bot.say("meanwhile", place=busy)
        await bot.pass_by(5)
        bot.fake.fail("history", ServerError(500))
        bot.fake.outage(place.guild, over=True)
        assert await in_time(bot, lambda: bot.texts(fresh))


async def test_a_chat_change_that_cannot_be_stored_is_stored_later(bot: Bot) -> None:
    await bot.ask("before")
    host: Any = channel(bot).host
    accept, away = host.accept, [True, True]

    async def not_now(messages: list[InboundMessage]) -> set[str]:
        if away:
            away.pop()
            raise ChannelDown("nothing can be written down")
        return cast(set[str], await accept(messages))

    host.accept = not_now
    bot.fake.kick_bot(bot.guild)
    await bot.pass_by(10)
    assert not away
    assert "removed" in str(await bot.tape())


async def test_a_single_refusal_of_the_token_stops_nothing(bot: Bot) -> None:
    await bot.ask("before")
    bot.fake.fail("typing", Refuse(401, 0, "401: Unauthorized"))
    bot.fake.fail("post", Refuse(401, 0, "401: Unauthorized"))
    bot.say(f"<@{bot.fake.bot.id}> hi")
    assert await in_time(bot, lambda: len(bot.texts()) == 2)
    assert bot.state == "ready"


async def test_an_event_that_raises_is_dropped_alone(bot: Bot) -> None:
    await bot.ask("before")
    host: Any = channel(bot).host
    accept = host.accept

    async def picky(messages: list[InboundMessage]) -> set[str]:
        if any(message.text == "odd" for message in messages):
            raise ZeroDivisionError
        return cast(set[str], await accept(messages))

    host.accept = picky
    for text in ("one", "odd", "two"):
        bot.say(text)
    await bot.pass_by(2)
    assert await texts(bot) == ["@Tapeway before", "one", "two"]
    assert not bot.fake.untaken


class NothingNew:
    """An API in which every chat is private and empty."""

    async def ask(self, path: str, query: object = None) -> object:
        """Answer."""
        del query
        return [] if "messages" in path else {"id": path.split("/")[2], "type": 1}


async def test_private_chats_beyond_the_maximum_are_skipped() -> None:
    now, host, cache = datetime.now(UTC), FakeHost(), GuildCache()
    chats = [str(10**17 + number) for number in range(MAX_PRIVATE_CHATS + 2)]
    cache.add_channel({"id": chats[0], "type": 1, "last_message_id": str(10**18)})
    backfill = Backfill(
        cast(DiscordApi, NothingNew()), cache, host, lambda _name, _raw: None, lambda: None
    )
    async for _page in backfill.missed(Cursors({"": now}, {("", chat): now for chat in chats})):
        pass
    assert sorted(host.gaps) == [f"skipped /{chat}" for chat in chats[1:3]]


async def test_the_audit_does_nothing_while_the_gateway_is_down(
    monkeypatch: pytest.MonkeyPatch, bot: Bot
) -> None:
    await bot.ask("before")

    async def away(*_: object) -> object:
        raise ChannelDown("away")

    with monkeypatch.context() as patch:
        patch.setattr(DiscordApi, "ws_connect", away)
        bot.fake.drop_sockets()
        await bot.pass_by(5)
        bot.say("meanwhile")
        bot.fake.calls.clear()
        await bot.pass_by(75, step=0.5)
        assert bot.fake.calls_of("history") == []
    await bot.pass_by(60, step=0.5)
    assert bot.fake.gateway.identifies == 1
    assert not channel(bot).cache.suspects


async def test_an_edit_during_a_gap_comes_in(monkeypatch: pytest.MonkeyPatch, bot: Bot) -> None:
    message = bot.say("it is at three")
    await bot.settled()

    async def away(*_: object) -> object:
        raise ChannelDown("away")

    with monkeypatch.context() as patch:
        patch.setattr(DiscordApi, "ws_connect", away)
        bot.fake.expire_sessions()
        bot.fake.drop_sockets()
        await bot.pass_by(2)
        bot.fake.edit(bot.general, message.id, "it is at FIVE")
        question = bot.say(f"<@{bot.fake.bot.id}> whn?")
        bot.fake.edit(bot.general, question.id, f"<@{bot.fake.bot.id}> when?")
        bot.fake.untaken.clear()
    assert await in_time(bot, lambda: bot.texts())
    await bot.settled()
    assert "FIVE" in str(bot.prompts())
    assert len(bot.texts()) == 1


async def test_typing_indicators_are_limited(bot: Bot) -> None:
    await bot.ask("before")
    await bot.pass_by(2, step=0.5)
    bot.fake.calls.clear()
    for _ in range(60):
        message = InboundMessage(
            "discord", str(bot.general.id), "1/1", "1", Author("1", "x"), "", ""
        )
        await channel(bot).show_typing(message, True)
    assert len(bot.fake.calls_of("typing")) == 15


async def test_sessions_are_counted_across_a_restart_of_the_channel(bot: Bot) -> None:
    await bot.ask("before")
    limit = channel(bot).identify_limit
    before = len(limit.started)
    bot.fake.invalidate()
    await bot.pass_by(20, step=0.5)
    assert channel(bot).identify_limit is limit
    assert len(limit.started) == before + 1


async def test_an_unavailable_server_keeps_the_gap_open(bot: Bot) -> None:
    await bot.ask("before")
    bot.fake.outage(bot.guild)
    await bot.pass_by(2)
    bot.fake.drop_sockets()
    await bot.pass_by(10, step=0.5)
    gap = cast(Any, channel(bot).host).gap
    assert gap.kept_back() is None
    bot.fake.outage(bot.guild, over=True)
    await bot.pass_by(10, step=0.5)
    assert gap.kept_back() == frozenset()


async def test_a_server_that_the_bot_left_during_its_outage_is_not_waited_for(bot: Bot) -> None:
    await bot.ask("before")
    channel(bot).cache.expect({str(bot.guild.id + 1)})
    bot.fake.expire_sessions()
    bot.fake.drop_sockets()
    await bot.pass_by(10, step=0.5)
    assert not channel(bot).cache.expected
    assert cast(Any, channel(bot).host).gap.kept_back() == frozenset()


async def test_servers_that_arrive_late_together_are_caught_up_with_once(
    monkeypatch: pytest.MonkeyPatch, place: House
) -> None:
    await began(place)
    others = [place.fake.guild(f"Server {number}") for number in range(5)]
    for guild in others:
        place.fake.outage(guild)
    async with place.bot() as bot:
        await bot.pass_by(10)
        reads: list[object] = []
        host: Any = channel(bot).host
        cursors = host.cursors

        async def counted() -> object:
            reads.append(None)
            return await cursors()

        monkeypatch.setattr(host, "cursors", counted)
        for guild in others:
            bot.fake.outage(guild, over=True)
        await bot.pass_by(10, step=0.5)
        assert 1 <= len(reads) <= 2
        assert host.gap.kept_back() == frozenset()
