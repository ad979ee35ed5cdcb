"""Connections that are lost, resumed, replaced, stalled or refused; no message is missed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx2
import pytest

from channels.discord.limits import DiscordLimits
from tests.channels.discord.hosts import Bot, House, discord_bot, house
from tests.fakes.base.faults import ServerError
from tests.fakes.discord.faults import RateLimited


async def connected(bot: Bot, listening: int = 1) -> None:
    """Wait until the bot is connected and reports it."""
    await bot.until(lambda: bot.fake.live_sockets == listening and bot.state == "ready")
    await bot.fake.gap_closed()


async def heard(bot: Bot, *texts: str) -> None:
    """Check that the channel's tape has these texts of people, in order and once each."""
    await bot.pass_by(0.3)  # a lost connection is noticed a moment later
    await connected(bot)
    await bot.settled()
    recorded = [entry.meta["text"] for entry in await bot.tape() if "inbox" in entry.meta]
    assert recorded == list(texts)


async def test_a_dropped_connection_is_resumed_and_missed_events_are_replayed(bot: Bot) -> None:
    await connected(bot)
    bot.say("one")
    bot.fake.drop_sockets()
    bot.say("two")
    bot.say("three")
    await heard(bot, "one", "two", "three")
    assert (bot.fake.gateway.identifies, bot.fake.gateway.resumed) == (1, 1)
    assert bot.fake.calls_of("history") == []


@pytest.mark.parametrize("resumable", [True, False])
async def test_an_invalid_session_is_replaced_and_the_gap_is_read_first(
    resumable: bool, bot: Bot
) -> None:
    await connected(bot)
    bot.say("one")
    await heard(bot, "one")
    bot.fake.invalidate(resumable=resumable)
    bot.fake.drop_sockets()
    bot.say("two")
    bot.say("three")
    await connected(bot)
    bot.say("four")
    await heard(bot, "one", "two", "three", "four")
    assert bot.fake.gateway.identifies == (1 if resumable else 2)


async def test_an_expired_session_is_replaced(bot: Bot) -> None:
    await bot.ask("one")
    bot.fake.expire_sessions()
    bot.fake.drop_sockets()
    answered = bot.say(f"<@{bot.fake.bot.id}> two")
    await bot.pass_by(0.3)
    await bot.settled()
    assert [message.reply_to for message in bot.fake.messages(bot.general)][-1] == answered.id
    assert bot.fake.gateway.resumed == 0


async def test_sessions_are_not_used_up(tmp_path: Path) -> None:
    async with discord_bot(tmp_path, limits=DiscordLimits(sessions=8)) as bot:
        for _ in range(20):
            bot.fake.invalidate()
            await bot.pass_by(6, 1)
        assert 8 <= bot.fake.gateway.identifies <= 12
        await bot.pass_by(900, 5)
        assert bot.state == "ready"


async def test_discord_may_ask_for_a_new_connection(bot: Bot) -> None:
    await connected(bot)
    bot.fake.ask_to_reconnect()
    bot.say("one")
    await bot.until(lambda: bot.fake.gateway.resumed == 1)
    await heard(bot, "one")


async def test_a_half_open_connection_is_noticed_within_a_minute(bot: Bot) -> None:
    await connected(bot)
    bot.fake.half_open()
    bot.say("one")
    await bot.pass_by(60, 1)
    assert not bot.fake.untaken
    await heard(bot, "one")


@pytest.mark.parametrize("lost", [True, False])
async def test_a_connection_that_answers_heartbeats_and_tells_nothing_is_left(
    lost: bool, bot: Bot
) -> None:
    await connected(bot)
    await bot.ask("before")
    bot.fake.zombies(lost=lost)
    bot.say("one")
    bot.say("two")
    await bot.pass_by(60, 1)
    assert not bot.fake.untaken
    await heard(bot, "@Tapeway before", "one", "two")
    assert bot.fake.gateway.identifies == 2


async def test_a_deaf_bot_says_since_when_and_hears_again(bot: Bot) -> None:
    await connected(bot)
    bot.fake.silence()
    await bot.pass_by(60, 1)
    status, since = await ready(bot)
    assert status == 503
    await bot.pass_by(60, 1)
    assert await ready(bot) == (503, since)
    bot.fake.silence(False)
    await bot.pass_by(60, 1)
    assert (await ready(bot))[0] == 200


async def ready(bot: Bot) -> tuple[int, Any]:
    """Ask /health/ready."""
    async with httpx2.AsyncClient(trust_env=False, timeout=60) as client:
        answer = await client.get(f"{bot.gateway.url}health/ready")
    return answer.status_code, answer.json()["channels"]["discord"]["since"]


async def test_a_quiet_bot_is_healthy_and_costs_next_to_nothing(bot: Bot) -> None:
    await connected(bot)
    calls = len(bot.fake.calls)
    for _ in range(3):
        await bot.pass_by(60, 1)
        assert (await ready(bot))[0] == 200
    assert len(bot.fake.calls) - calls <= 3
    assert bot.fake.gateway.identifies == 1


async def test_a_gateway_that_drops_only_messages_is_left_too(bot: Bot) -> None:
    await bot.ask("before")
    (socket,) = bot.fake.gateway.live()
    socket.loses = True
    bot.say("one")
    socket.loses = False
    await bot.pass_by(75, 1)
    await heard(bot, "@Tapeway before", "one")
    assert bot.fake.gateway.identifies == 2


async def test_the_event_queue_is_bounded_and_overflow_is_read_from_the_history(
    tmp_path: Path,
) -> None:
    async with discord_bot(tmp_path, limits=DiscordLimits(queued=5)) as bot:
        await bot.ask("before")
        for number in range(40):
            bot.say(str(number))
        await heard(bot, "@Tapeway before", *map(str, range(40)))
        assert bot.fake.calls_of("history")


async def test_a_bot_without_a_server_is_healthy(place: House) -> None:
    place.fake.kick_bot(place.guild)
    async with place.bot() as bot:
        await connected(bot)
        await bot.pass_by(150, 1)
        assert (await ready(bot))[0] == 200
        assert bot.fake.gateway.identifies == 1


async def test_after_a_hundred_reconnects_one_connection_lives(bot: Bot) -> None:
    for _ in range(100):
        await connected(bot)
        bot.fake.drop_connections()
        await bot.pass_by(0.1)
    await connected(bot)
    assert bot.fake.live_sockets == 1
    assert bot.fake.open_connections <= 2
    await bot.ask("still there?")
    assert len(bot.texts()) == 1


async def test_a_wrong_token_is_reported_with_its_remedy(tmp_path: Path) -> None:
    async with discord_bot(tmp_path, DISCORD__TOKEN="wrong") as bot:
        await bot.until(lambda: bot.state == "unfit")
        assert "`tapeway init`" in bot.why
        calls = len(bot.fake.calls)
        await bot.pass_by(300, 5)
        assert len(bot.fake.calls) == calls


@pytest.mark.parametrize("source", ["by the gateway", "by a request"])
async def test_a_token_that_is_revoked_later_is_reported_too(source: str, bot: Bot) -> None:
    await connected(bot)
    if source == "by the gateway":
        bot.fake.token_revoked = True
    else:
        bot.fake.revoked = True
        bot.say(f"<@{bot.fake.bot.id}> hello")
    await bot.until(lambda: bot.state == "unfit")
    assert "Reset Token" in bot.why


async def test_a_missing_intent_is_reported_with_the_name_of_its_switch(tmp_path: Path) -> None:
    async with house(tmp_path, message_content=False) as place, place.bot() as bot:
        await bot.until(lambda: bot.state == "unfit")
        for word in ("Message Content Intent", "Bot", "Privileged Gateway Intents"):
            assert word in bot.why


@pytest.mark.parametrize(("code", "word"), [(4011, "SHARDS"), (4013, "Update Tapeway")])
async def test_an_error_that_no_retry_fixes_is_reported(code: int, word: str, bot: Bot) -> None:
    await connected(bot)
    bot.fake.close_sockets(code)
    await bot.until(lambda: bot.state == "unfit")
    assert word in bot.why


async def test_a_gateway_that_does_not_know_the_probe_is_not_probed_again(bot: Bot) -> None:
    await connected(bot)
    bot.fake.close_sockets(4001)
    await bot.until(lambda: bot.state == "waiting")
    await connected(bot)
    (session,) = bot.fake.gateway.sessions.values()
    before = session.seq
    await bot.pass_by(100, 1)
    assert session.seq == before
    assert (await ready(bot))[0] == 200


@pytest.mark.parametrize("code", [4000, 4003, 4007, 4008, 4009, 1000, 1001])
async def test_after_any_other_close_code_the_bot_reconnects(code: int, bot: Bot) -> None:
    await connected(bot)
    bot.fake.close_sockets(code)
    await bot.until(lambda: bot.state == "waiting")
    bot.say("one")
    await connected(bot)
    await heard(bot, "one")


async def test_a_discord_that_is_down_at_the_start_is_waited_for(place: House) -> None:
    place.fake.fail("me", ServerError(503), ServerError(500), RateLimited(3.0))
    async with place.bot() as bot:
        await connected(bot)
        await bot.ask("hello")
        assert len(bot.texts()) == 1


async def test_several_connections_share_the_servers(tmp_path: Path) -> None:
    limits = DiscordLimits(identify_seconds=0.0)
    async with house(tmp_path) as place:
        async with place.bot(limits=limits, DISCORD__SHARDS="2") as bot:
            await connected(bot, 2)
            await bot.ask("one")
            assert len(bot.texts()) == 1


async def test_a4_a_bulk_deletion_deletes_each_message(tmp_path: Path) -> None:
    async with discord_bot(tmp_path) as bot:
        await connected(bot)
        messages = [bot.say(text).id for text in ("one", "two", "three")]
        await heard(bot, "one", "two", "three")
        bot.fake.delete_bulk(bot.general, messages[:2])
        await bot.pass_by(0.3)
        await bot.settled()
        gone = [e.payload["data"] for e in await bot.tape() if e.name == "message.delete"]
    assert [one["message_id"] for one in gone] == [str(number) for number in messages[:2]]
