"""What one odd message, chat or server on Discord must not do to all others."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest

from channels.discord.adapter import DiscordChannel
from channels.discord.api import DiscordApi
from channels.discord.backfill import MOST_PRIVATE, Backfill
from channels.discord.guild_cache import GuildCache
from channels.errors import ChannelDown
from channels.host import ChannelHost, Cursors
from channels.message import Author, InboundMessage
from tests.channels.discord.hosts import Bot, discord_bot, house
from tests.channels.discord.test_backfill import began, texts
from tests.fakes.discord.faults import Refuse, ServerError
from tests.fakes.openai.script import Text

pytestmark = pytest.mark.anyio


async def in_time(bot: Bot, wanted: Callable[[], object], seconds: float = 100) -> bool:
    """Let time pass, in large steps, until something is so."""
    for _ in range(int(seconds / 0.5)):
        if wanted():
            return True
        await bot.pass_by(0.5, step=0.5)
    return False


def channel(bot: Bot) -> DiscordChannel:
    """Return the channel itself."""
    return next(one for one in bot.gateway.channels.values() if isinstance(one, DiscordChannel))


async def test_an_odd_message_in_the_history_holds_up_no_other(tmp_path: Path) -> None:
    async with house(tmp_path) as place:
        await began(place)
        odd = place.fake.say(place.general, place.bob, "odd one")
        odd.json["poll"] = {"question": "no object", "answers": []}
        place.fake.say(place.general, place.ada, f"<@{place.fake.bot.id}> hello?")
        async with place.bot() as bot:
            assert await in_time(bot, lambda: "hello?" in str(bot.prompts()))


@pytest.mark.parametrize("text", ["And the end.", ""])
async def test_an_answer_whose_draft_was_deleted_still_comes(tmp_path: Path, text: str) -> None:
    async with discord_bot(tmp_path) as bot:
        gate = asyncio.Event()
        bot.model.enqueue(Text(("Hello there, this is the first part. ", text or " "), gate=gate))
        bot.say(f"<@{bot.fake.bot.id}> hi")
        await bot.until(bot.texts)
        bot.fake.delete(bot.general, bot.fake.messages(bot.general)[0].id)
        gate.set()
        assert await in_time(bot, lambda: any((text or "Hello") in one for one in bot.texts()))
        await bot.settled()
        assert len(bot.texts()) == 1


async def test_a_chat_that_cannot_be_read_is_left_for_later(tmp_path: Path) -> None:
    async with house(tmp_path) as place:
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


async def test_a_place_that_cannot_be_asked_for_is_an_ordinary_one(tmp_path: Path) -> None:
    async with discord_bot(tmp_path) as bot:
        other = bot.fake.text_channel(bot.guild, "other")
        await bot.pass_by(2)
        channel(bot)._places.rooms.pop(str(other.id))
        bot.fake.fail("channel", *[ServerError(500)] * 1000, channel=other)
        bot.say("x", place=other)
        bot.say(f"<@{bot.fake.bot.id}> question")
        assert await in_time(bot, lambda: "question" in str(bot.prompts()), 30)


@pytest.mark.parametrize("ago", [60, 3600])
async def test_a_server_that_comes_late_is_caught_up_with_wholly(tmp_path: Path, ago: int) -> None:
    async with house(tmp_path) as place:
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


async def test_a_greeting_that_cannot_be_written_down_is_written_later(tmp_path: Path) -> None:
    async with discord_bot(tmp_path) as bot:
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


async def test_one_refusal_of_the_token_ends_nothing(tmp_path: Path) -> None:
    async with discord_bot(tmp_path) as bot:
        await bot.ask("before")
        bot.fake.fail("typing", Refuse(401, 0, "401: Unauthorized"))
        bot.fake.fail("post", Refuse(401, 0, "401: Unauthorized"))
        bot.say(f"<@{bot.fake.bot.id}> hi")
        assert await in_time(bot, lambda: len(bot.texts()) == 2)
        assert bot.state == "ready"


async def test_an_event_that_breaks_something_is_dropped_alone(tmp_path: Path) -> None:
    async with discord_bot(tmp_path) as bot:
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


class Quiet:
    """A host that only counts what was left out."""

    def __init__(self) -> None:
        self.left: list[str] = []

    async def threads(self, *_: object) -> list[str]:
        """Return none."""
        return []

    def skipped(self, chat: str) -> None:
        """Count."""
        self.left.append(chat)


class NothingNew:
    """Answers that every chat is private and empty."""

    async def ask(self, path: str, query: object = None) -> object:
        """Answer."""
        del query
        return [] if "messages" in path else {"id": path.split("/")[2], "type": 1}


async def test_private_chats_that_are_left_out_are_told() -> None:
    now, host, places = datetime.now(UTC), Quiet(), GuildCache()
    chats = [str(10**17 + number) for number in range(MOST_PRIVATE + 2)]
    places.learn({"id": chats[0], "type": 1, "last_message_id": str(10**18)})
    backfill = Backfill(
        cast(DiscordApi, NothingNew()),
        places,
        cast(ChannelHost, host),
        lambda _name, _raw: None,
        lambda: None,
    )
    async for _page in backfill.missed(Cursors({"": now}, {("", chat): now for chat in chats})):
        pass
    assert sorted(host.left) == chats[1:3]


async def test_the_patrol_does_nothing_while_the_gateway_is_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with discord_bot(tmp_path) as bot:
        await bot.ask("before")

        async def away(*_: object) -> object:
            raise ChannelDown("away")

        with monkeypatch.context() as patch:
            patch.setattr(DiscordApi, "socket", away)
            bot.fake.drop_sockets()
            await bot.pass_by(5)
            bot.say("meanwhile")
            bot.fake.calls.clear()
            await bot.pass_by(75, step=0.5)
            assert bot.fake.calls_of("history") == []
        await bot.pass_by(60, step=0.5)
        assert bot.fake.gateway.identifies == 1
        assert not channel(bot)._places.blamed


async def test_an_edit_in_a_gap_is_heard_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with discord_bot(tmp_path) as bot:
        said = bot.say("it is at three")
        await bot.settled()

        async def away(*_: object) -> object:
            raise ChannelDown("away")

        with monkeypatch.context() as patch:
            patch.setattr(DiscordApi, "socket", away)
            bot.fake.expire_sessions()
            bot.fake.drop_sockets()
            await bot.pass_by(2)
            bot.fake.edit(bot.general, said.id, "it is at FIVE")
            asked = bot.say(f"<@{bot.fake.bot.id}> whn?")
            bot.fake.edit(bot.general, asked.id, f"<@{bot.fake.bot.id}> when?")
            bot.fake.untaken.clear()
        assert await in_time(bot, lambda: bot.texts())
        await bot.settled()
        assert "FIVE" in str(bot.prompts())
        assert len(bot.texts()) == 1


async def test_typing_signs_are_few(tmp_path: Path) -> None:
    async with discord_bot(tmp_path) as bot:
        await bot.ask("before")
        await bot.pass_by(2, step=0.5)
        bot.fake.calls.clear()
        for _ in range(60):
            message = InboundMessage(
                "discord", str(bot.general.id), "1/1", "1", Author("1", "x"), "", ""
            )
            await channel(bot).show_typing(message, True)
        assert len(bot.fake.calls_of("typing")) == 15


async def test_sessions_are_counted_over_a_restart_of_the_channel(tmp_path: Path) -> None:
    async with discord_bot(tmp_path) as bot:
        await bot.ask("before")
        begun = list(channel(bot)._identified)
        bot.fake.invalidate()
        await bot.pass_by(20, step=0.5)
        again = channel(bot)
        assert again._hearing is not None
        assert again._hearing._identified is again._identified
        assert len(again._identified) == len(begun) + 1


async def test_a_server_that_is_away_keeps_the_gap_open(tmp_path: Path) -> None:
    async with discord_bot(tmp_path) as bot:
        await bot.ask("before")
        bot.fake.outage(bot.guild)
        await bot.pass_by(2)
        bot.fake.drop_sockets()
        await bot.pass_by(10, step=0.5)
        gap = cast(Any, channel(bot).host)._gap
        assert gap.kept_back() is None
        bot.fake.outage(bot.guild, over=True)
        await bot.pass_by(10, step=0.5)
        assert gap.kept_back() == frozenset()


async def test_a_server_that_was_left_while_it_was_away_is_not_waited_for(tmp_path: Path) -> None:
    async with discord_bot(tmp_path) as bot:
        await bot.ask("before")
        channel(bot)._places.expect({str(bot.guild.id + 1)})
        bot.fake.expire_sessions()
        bot.fake.drop_sockets()
        await bot.pass_by(10, step=0.5)
        assert not channel(bot)._places.expected
        assert cast(Any, channel(bot).host)._gap.kept_back() == frozenset()


async def test_servers_that_come_late_together_are_caught_up_with_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with house(tmp_path) as place:
        await began(place)
        others = [place.fake.guild(f"Server {number}") for number in range(5)]
        for guild in others:
            place.fake.outage(guild)
        async with place.bot() as bot:
            await bot.pass_by(10)
            asked: list[object] = []
            host: Any = channel(bot).host
            marks = host.cursors

            async def counted() -> object:
                asked.append(None)
                return await marks()

            monkeypatch.setattr(host, "marks", counted)
            for guild in others:
                bot.fake.outage(guild, over=True)
            await bot.pass_by(10, step=0.5)
            assert 1 <= len(asked) <= 2
            assert host._gap.kept_back() == frozenset()
