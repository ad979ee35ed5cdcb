"""Sessions of the fake gateway: resumes, goodbyes, and what a bot may say."""

from __future__ import annotations

import asyncio

import discord
import pytest

from tests.fakes.discord.client import ALL_INTENTS, Api, Bot, Wire, wire
from tests.fakes.discord.server import FakeDiscord
from tests.fakes.discord.session import ACK, HEARTBEAT, INVALID, MEMBERS, Intent
from tests.fakes.discord.world import Channel, User


async def test_a_resume_brings_what_was_missed(room: Channel, ann: User, bot: Bot) -> None:
    bot.fake.say(room, ann, "one")
    await bot.hears()
    bot.fake.drop_sockets()
    bot.fake.say(room, ann, "two")
    assert bot.fake.untaken
    bot.fake.say(room, ann, "three")
    assert await bot.hears(3) == ["one", "two", "three"]
    await bot.until("resumed")
    assert (bot.fake.gateway.identifies, bot.fake.gateway.resumed) == (1, 1)
    assert bot.fake.gateway.resumed_at == ["/resume"]
    assert bot.fake.live_sockets == 1
    assert not bot.fake.untaken


async def test_a_request_to_reconnect_is_a_resume(room: Channel, ann: User, bot: Bot) -> None:
    bot.fake.ask_to_reconnect()
    await bot.until("resumed")
    bot.fake.say(room, ann, "still there?")
    assert await bot.hears() == ["still there?"]
    assert bot.fake.gateway.identifies == 1


@pytest.mark.parametrize("code", [4000, 4009, 1000])
async def test_after_these_goodbyes_of_the_server_the_sdk_comes_back(code: int, bot: Bot) -> None:
    bot.fake.close_sockets(code)
    await bot.until("resumed")
    assert bot.fake.gateway.identifies == 1


async def test_an_invalid_session_that_can_be_resumed_is_resumed(bot: Bot) -> None:
    bot.fake.invalidate(resumable=True)
    await bot.until("resumed")


async def test_an_invalid_session_loses_what_was_missed_but_for_the_history(
    fake: FakeDiscord, room: Channel, ann: User, bot: Bot
) -> None:
    before = fake.say(room, ann, "before")
    await bot.hears()
    fake.expire_sessions()
    fake.drop_sockets()
    missed = fake.say(room, ann, "missed")
    await bot.until("ready", 2)
    assert (room.id, missed.id) in fake.untaken
    fake.say(room, ann, "after")
    assert await bot.hears(2) == ["before", "after"]
    channel = bot.get_partial_messageable(room.id)
    found = [one.content async for one in channel.history(after=discord.Object(before.id))]
    assert found == ["missed", "after"]
    assert fake.untaken == {}
    assert (fake.gateway.resumes, fake.gateway.resumed) == (1, 0)


async def test_a_session_waits_for_a_while_only(room: Channel, fake: FakeDiscord) -> None:
    now = [0.0]
    async with FakeDiscord(clock=lambda: now[0], session_seconds=30) as short, Api(short) as api:
        async with wire(api) as socket:
            await socket.identify(short.token)
            session = (await socket.event("READY"))["d"]["session_id"]
        await short.wait_for(lambda it: it.live_sockets == 0)
        now[0] = 29.0
        async with wire(api) as socket:
            await socket.resume(short.token, session, 1)
            assert await socket.event("RESUMED")
        await short.wait_for(lambda it: it.live_sockets == 0)
        now[0] = 60.0
        async with wire(api) as socket:
            await socket.resume(short.token, session, 1)
            assert (await socket.next()) == {"op": INVALID, "d": False, "s": None, "t": None}


async def test_a_goodbye_of_1000_ends_the_session(api: Api, fake: FakeDiscord) -> None:
    async with wire(api, code=1000) as socket:
        await socket.identify(fake.token)
        session = (await socket.event("READY"))["d"]["session_id"]
    await fake.wait_for(lambda it: it.live_sockets == 0)
    async with wire(api) as socket:
        await socket.resume(fake.token, session, 1)
        assert (await socket.next())["op"] == INVALID


async def test_two_sockets_of_one_bot_both_hear(api: Api, room: Channel, ann: User) -> None:
    async with wire(api) as first, wire(api, "v=10&encoding=json&compress=zlib-stream") as second:
        await first.identify(api.fake.token)
        await second.identify(api.fake.token)
        await api.fake.wait_for(lambda it: it.live_sockets == 2)
        api.fake.say(room, ann, "to both")
        assert (await first.event("MESSAGE_CREATE"))["d"]["content"] == "to both"
        assert (await second.event("MESSAGE_CREATE"))["d"]["content"] == "to both"
    await api.fake.wait_for(lambda it: it.live_sockets == 0)


async def test_a_socket_that_did_not_identify_hears_nothing(
    fake: FakeDiscord, room: Channel, ann: User, socket: Wire
) -> None:
    fake.say(room, ann, "unheard")
    await socket.send(HEARTBEAT, None)
    assert (await socket.next())["op"] == ACK
    assert fake.live_sockets == 0


@pytest.mark.parametrize(
    ("op", "data", "code"),
    [
        (99, None, 4001),
        (2, "nonsense", 4002),
        (2, {"token": "TOKEN", "properties": {}}, 4002),
        (2, {"token": "wrong", "properties": {}, "intents": 0}, 4004),
        (2, {"token": "TOKEN", "properties": {}, "intents": 1 << 40}, 4013),
        (6, {"token": "wrong", "session_id": "x", "seq": 0}, 4004),
        (MEMBERS, {}, 4003),
    ],
)
async def test_nonsense_is_closed_with_discord_s_code(
    fake: FakeDiscord, api: Api, op: int, data: object, code: int
) -> None:
    if isinstance(data, dict) and data.get("token") == "TOKEN":
        data = data | {"token": fake.token}
    async with wire(api) as socket:
        await socket.send(op, data)
        assert await socket.close_code() == code


async def test_more_than_is_allowed_to_be_said_closes_with_4008(
    fake: FakeDiscord, socket: Wire
) -> None:
    for _ in range(121):
        await socket.send(HEARTBEAT, None)
    assert await socket.close_code() == 4008


async def test_a_number_of_the_future_closes_with_4007(fake: FakeDiscord, api: Api) -> None:
    async with wire(api) as socket:
        await socket.identify(fake.token)
        session = (await socket.event("READY"))["d"]["session_id"]
    await fake.wait_for(lambda it: it.live_sockets == 0)
    async with wire(api) as socket:
        await socket.resume(fake.token, session, 1000)
        assert await socket.close_code() == 4007


async def test_another_version_or_encoding_is_closed_with_4012(fake: FakeDiscord, api: Api) -> None:
    url = f"{fake.gateway_url}?v=6&encoding=etf"
    async with api.session.ws_connect(url, autoclose=False) as socket:
        assert (await socket.receive()).data == 4012


async def test_with_limits_one_session_begins_in_five_seconds() -> None:
    now = [0.0]
    async with FakeDiscord(limits=True, clock=lambda: now[0]) as fake, Api(fake) as api:
        async with wire(api) as first, wire(api) as second:
            await first.identify(fake.token)
            assert await first.event("READY")
            await second.identify(fake.token)
            assert (await second.next())["op"] == INVALID
            now[0] = 5.0
            await second.identify(fake.token)
            assert await second.event("READY")


async def test_everybody_is_told_to_who_may_know_them_only(api: Api, room: Channel) -> None:
    for intents, count in ((ALL_INTENTS & ~Intent.MEMBERS, 1), (ALL_INTENTS, 2)):
        async with wire(api) as socket:
            await socket.identify(api.fake.token, intents)
            wanted = {"guild_id": str(room.guild_id), "query": "", "limit": 0}
            await socket.send(MEMBERS, wanted)
            await socket.send(MEMBERS, wanted | {"user_ids": [str(api.fake.bot.id)]})
            chunk = await socket.event("GUILD_MEMBERS_CHUNK")
            assert len(chunk["d"]["members"]) == count


async def test_a_heartbeat_says_what_was_taken(room: Channel, ann: User, bot: Bot) -> None:
    bot.fake.say(room, ann, "one")
    await asyncio.wait_for(bot.fake.gap_closed(), 30)
    (socket,) = bot.fake.gateway.live()
    assert socket.session is not None
    assert socket.session.confirmed == socket.session.seq
    assert [message.content for message in bot.told("message")] == ["one"]
    assert bot.fake.unconfirmed == {}


async def test_after_each_message_a_heartbeat_can_be_asked_for(
    fake: FakeDiscord, room: Channel, ann: User, bot: Bot
) -> None:
    unasked = fake.say(room, ann, "unasked")
    await bot.hears()
    assert list(fake.unconfirmed) == [(room.id, unasked.id)]
    fake.gateway.prompting = True
    for number in range(200):
        fake.say(room, ann, f"number {number}")
        if number % 2:
            await asyncio.sleep(0)
    await fake.wait_for(lambda it: not it.unconfirmed)
    assert len(await bot.hears(201)) == 201
