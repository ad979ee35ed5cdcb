"""The fake gateway, seen by the SDK: coming in, and what may be read."""

from __future__ import annotations

import discord
import pytest

from tests.fakes.discord.client import ALL_INTENTS, Bot
from tests.fakes.discord.server import FakeDiscord
from tests.fakes.discord.session import Intent
from tests.fakes.discord.world import Channel, User

# -- coming in


async def test_the_sdk_logs_in_and_knows_its_guilds_channels_and_members(
    fake: FakeDiscord, room: Channel, ann: User
) -> None:
    fake.join(fake.world.guilds[room.guild_id or 0], ann)
    async with Bot(fake) as bot:
        await bot.come_in()
        (guild,) = bot.guilds
        assert (guild.name, [channel.name for channel in guild.channels]) == ("Team", ["general"])
        assert guild.me.id == fake.bot.id
        assert guild.get_member(ann.id) is not None
        assert guild.chunked
        assert bot.application is not None
        assert bot.application.flags.gateway_message_content_limited
        assert [call.kind for call in fake.calls] == ["me", "application"]
        assert fake.live_sockets == 1


async def test_the_sdk_asks_for_a_compressed_stream_and_gets_it(fake: FakeDiscord) -> None:
    async with Bot(fake) as bot:
        await bot.come_in()
        (socket,) = fake.gateway.live()
        assert socket.packs


async def test_what_is_said_is_heard_in_its_order(
    fake: FakeDiscord, room: Channel, ann: User
) -> None:
    async with Bot(fake) as bot:
        await bot.come_in()
        for number in range(50):
            fake.say(room, ann, f"number {number}")
        assert await bot.hears(50) == [f"number {number}" for number in range(50)]
        assert fake.untaken == {}


async def test_a_wrong_token_is_no_login(fake: FakeDiscord) -> None:
    async with Bot(fake) as bot:
        with pytest.raises(discord.LoginFailure):
            await bot.start("wrong")


async def test_a_token_that_is_revoked_closes_the_socket_with_4004(fake: FakeDiscord) -> None:
    async with Bot(fake) as bot:
        await bot.come_in()
        fake.token_revoked = True
        assert bot.running is not None
        with pytest.raises(discord.ConnectionClosed) as caught:
            await bot.running
        assert caught.value.code == 4004


@pytest.mark.parametrize("missing", ["message_content", "server_members"])
async def test_an_intent_that_is_off_in_the_portal_closes_with_4014(missing: str) -> None:
    async with FakeDiscord(**{missing: False}) as fake, Bot(fake) as bot:  # type: ignore[arg-type]
        with pytest.raises(discord.PrivilegedIntentsRequired):
            await bot.start(fake.token)
        assert fake.live_sockets == 0


async def test_without_the_members_intent_the_sdk_knows_only_itself(
    fake: FakeDiscord, room: Channel, ann: User
) -> None:
    fake.join(fake.world.guilds[room.guild_id or 0], ann)
    async with Bot(fake, ALL_INTENTS & ~Intent.MEMBERS) as bot:
        await bot.come_in()
        assert [member.id for member in bot.guilds[0].members] == [fake.bot.id]


async def test_members_can_be_asked_for(fake: FakeDiscord, room: Channel, ann: User) -> None:
    fake.join(fake.world.guilds[room.guild_id or 0], ann)
    async with Bot(fake, ALL_INTENTS & ~Intent.MEMBERS) as bot:
        await bot.come_in()
        found = await bot.guilds[0].query_members("an")
        assert [member.id for member in found] == [ann.id]


# -- what may be read


async def test_without_the_content_intent_a_guild_is_read_only_where_it_concerns_the_bot(
    room: Channel, fake: FakeDiscord, ann: User
) -> None:
    fake.portal = Intent.MEMBERS
    own = f"<@{fake.bot.id}> hi"
    async with Bot(fake, ALL_INTENTS & ~Intent.CONTENT) as bot:
        await bot.come_in()
        secret = fake.say(room, ann, "secret", files=[fake.attachment(b"x")])
        fake.say(room, ann, own)
        fake.say(fake.dm(ann), ann, "private")
        await bot.get_partial_messageable(room.id).send("mine")
        fake.say(room, ann, "an answer", reply_to=secret.id)
        assert await bot.hears(5) == ["", own, "private", "mine", ""]
        first, last = bot.told("message")[0], bot.told("message")[4]
        assert first.attachments == []
        assert last.reference.resolved.content == ""
        texts = [one.content async for one in bot.get_partial_messageable(room.id).history()]
        assert texts == ["", "mine", own, ""]


async def test_an_event_without_its_intent_does_not_come(
    fake: FakeDiscord, room: Channel, ann: User
) -> None:
    async with Bot(fake, ALL_INTENTS & ~Intent.MESSAGES) as bot:
        await bot.come_in()
        fake.say(room, ann, "in the guild")
        fake.say(fake.dm(ann), ann, "in private")
        assert await bot.hears() == ["in private"]
