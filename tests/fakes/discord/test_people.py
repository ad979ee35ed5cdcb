"""What people do on the fake Discord, as discord.py reads it and as its own types describe it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import discord
import orjson
import pytest
from discord import app_commands

from tests.fakes.discord.client import Api, Bot
from tests.fakes.discord.server import FakeDiscord
from tests.fakes.discord.session import Session
from tests.fakes.discord.shapes import misfits, shape
from tests.fakes.discord.world import Channel, Guild, User

pytestmark = pytest.mark.anyio

EVENTS = {
    "READY": ("gateway", "ReadyEvent"),
    "GUILD_CREATE": ("guild", "Guild"),
    "GUILD_DELETE": ("guild", "UnavailableGuild"),
    "GUILD_MEMBER_ADD": ("gateway", "GuildMemberAddEvent"),
    "GUILD_ROLE_CREATE": ("gateway", "_GuildRoleEvent"),
    "CHANNEL_CREATE": ("channel", "GuildChannel"),
    "CHANNEL_UPDATE": ("channel", "GuildChannel"),
    "CHANNEL_DELETE": ("channel", "GuildChannel"),
    "THREAD_CREATE": ("gateway", "ThreadCreateEvent"),
    "THREAD_UPDATE": ("threads", "Thread"),
    "THREAD_DELETE": ("gateway", "ThreadDeleteEvent"),
    "THREAD_MEMBERS_UPDATE": ("gateway", "ThreadMembersUpdate"),
    "MESSAGE_CREATE": ("message", "Message"),
    "MESSAGE_UPDATE": ("message", "Message"),
    "MESSAGE_DELETE": ("gateway", "MessageDeleteEvent"),
    "MESSAGE_DELETE_BULK": ("gateway", "MessageDeleteBulkEvent"),
    "MESSAGE_REACTION_ADD": ("gateway", "MessageReactionAddEvent"),
    "TYPING_START": ("gateway", "TypingStartEvent"),
    "INTERACTION_CREATE": ("interactions", "ApplicationCommandInteraction"),
}


@pytest.fixture
async def bot(fake: FakeDiscord, ann: User, room: Channel) -> AsyncIterator[Bot]:
    fake.join(room.guild_id or 0, ann)
    async with Bot(fake) as made:
        yield await made.come_in()


@pytest.fixture
def guild(fake: FakeDiscord) -> Guild:
    return fake.guild("Team")


@pytest.fixture
def room(fake: FakeDiscord, guild: Guild) -> Channel:
    return fake.text_channel(guild, "general")


# -- what the SDK makes of it


async def test_a_message_has_its_author_channel_and_mentions(
    fake: FakeDiscord, bot: Bot, guild: Guild, room: Channel, ann: User
) -> None:
    role = fake.role(guild, "helpers")
    text = f"<@{fake.bot.id}> and <@&{role.id}>, not `<@{ann.id}>`"
    said = fake.say(room, ann, text)
    (heard,) = await bot.until("message")
    assert (heard.id, heard.author.id, heard.channel.id) == (said.id, ann.id, room.id)
    assert (heard.guild.id, heard.content) == (guild.id, text)
    assert [user.id for user in heard.mentions] == [fake.bot.id]
    assert [one.id for one in heard.role_mentions] == [role.id]
    assert isinstance(heard.author, discord.Member)
    assert (heard.author.display_name, heard.author.bot) == ("Ann", False)
    now = discord.utils.utcnow()
    assert abs((heard.created_at - now).total_seconds()) < 60


async def test_a_private_message_comes_without_a_channel_having_been_told(
    fake: FakeDiscord, bot: Bot, ann: User
) -> None:
    fake.say(fake.dm(ann), ann, "psst")
    (heard,) = await bot.until("message")
    assert (heard.guild, heard.author.id) == (None, ann.id)
    assert isinstance(heard.channel, discord.DMChannel)
    await heard.channel.send("yes?")
    assert fake.text_of(fake.dm(ann)) == "yes?"


async def test_a_bot_and_a_webhook_are_told_apart_from_people(
    fake: FakeDiscord, bot: Bot, room: Channel
) -> None:
    fake.say(room, fake.user("Robot", is_bot=True), "beep")
    fake.say(room, fake.webhook("Build"), "passed")
    robot, hook = await bot.until("message", 2)
    assert (robot.author.bot, robot.webhook_id) == (True, None)
    assert hook.webhook_id is not None


async def test_an_edit_and_a_preview_are_updates(
    fake: FakeDiscord, bot: Bot, room: Channel, ann: User
) -> None:
    said = fake.say(room, ann, "one")
    fake.edit(room, said.id, "two")
    fake.embed_link(room, said.id)
    edit, preview = await bot.until("raw_message_edit", 2)
    assert (edit.message.content, edit.message.edited_at is None) == ("two", False)
    assert (preview.message.content, len(preview.message.embeds)) == ("two", 1)
    assert said.history == ["one", "two"]


async def test_deleted_messages_are_told(
    fake: FakeDiscord, bot: Bot, room: Channel, ann: User
) -> None:
    said = [fake.say(room, ann, text) for text in "abc"]
    fake.delete(room, said[0].id)
    fake.delete_bulk(room, [said[1].id, said[2].id])
    (one,) = await bot.until("raw_message_delete")
    (many,) = await bot.until("raw_bulk_message_delete")
    assert one.message_id == said[0].id
    assert many.message_ids == {said[1].id, said[2].id}
    assert room.messages == {}


async def test_reactions_and_typing_are_told(
    fake: FakeDiscord, bot: Bot, room: Channel, ann: User
) -> None:
    said = fake.say(room, ann, "nice")
    fake.react(room, ann, said.id, "👍")
    fake.type_in(room, ann)
    (reaction,) = await bot.until("raw_reaction_add")
    assert (reaction.message_id, str(reaction.emoji)) == (said.id, "👍")
    (typed,) = await bot.until("raw_typing")
    assert typed.user_id == ann.id
    (heard,) = bot.told("message")
    await heard.add_reaction("✅")
    assert said.reactions == {"👍": [ann.id], "✅": [fake.bot.id]}
    again = await heard.channel.fetch_message(said.id)
    assert [(str(one.emoji), one.count, one.me) for one in again.reactions] == [
        ("👍", 1, False),
        ("✅", 1, True),
    ]
    await heard.remove_reaction("✅", bot.user)
    assert list(said.reactions) == ["👍"]


async def test_the_bot_types_for_ten_seconds_or_until_it_speaks(room: Channel) -> None:
    now = [0.0]
    async with FakeDiscord(clock=lambda: now[0]) as fake, Api(fake) as api:
        there = fake.text_channel(fake.guild())
        await api.call("POST", f"/channels/{there.id}/typing")
        assert fake.is_typing(there)
        now[0] = 10.0
        assert not fake.is_typing(there)
        await api.call("POST", f"/channels/{there.id}/typing")
        now[0] = 11.0
        await api.post(there.id, "here")
        assert not fake.is_typing(there)
        assert [sign.at for sign in fake.typing] == [0.0, 10.0]


# -- threads


async def test_a_thread_is_a_channel_with_a_parent(
    fake: FakeDiscord, bot: Bot, room: Channel, ann: User
) -> None:
    thread = fake.thread(room, ann, "plans")
    fake.say(thread, ann, "inside")
    (made,) = await bot.until("thread_create")
    assert (made.id, made.parent_id, made.name) == (thread.id, room.id, "plans")
    created, inside = await bot.until("message", 2)
    assert created.type is discord.MessageType.thread_created
    assert (inside.content, inside.channel.id) == ("inside", thread.id)
    await inside.channel.send("me too")
    assert fake.text_of(thread) == "me too"
    assert fake.text_of(room) == ""


async def test_a_thread_that_begins_at_a_message_has_its_id(
    fake: FakeDiscord, bot: Bot, room: Channel, ann: User
) -> None:
    said = fake.say(room, ann, "about this")
    thread = fake.thread(room, ann, "this", at=said.id)
    assert thread.id == said.id
    fake.say(thread, ann, "well")
    starter, well = (await bot.until("message", 3))[1:]
    assert starter.type is discord.MessageType.thread_starter_message
    assert well.channel.id == said.id
    again = await bot.get_partial_messageable(room.id).fetch_message(said.id)
    assert again.flags.has_thread


async def test_the_bot_can_begin_a_thread(
    fake: FakeDiscord, bot: Bot, room: Channel, ann: User
) -> None:
    fake.say(room, ann, "about this")
    (heard,) = await bot.until("message")
    thread = await heard.create_thread(name="answers")
    await thread.send("one")
    assert fake.text_of(thread.id) == "one"
    with pytest.raises(discord.HTTPException) as caught:
        await heard.create_thread(name="answers")
    assert caught.value.code == 160004


async def test_a_private_thread_is_hidden_until_the_bot_is_mentioned(
    fake: FakeDiscord, bot: Bot, room: Channel, ann: User
) -> None:
    thread = fake.thread(room, ann, "secret", private=True)
    fake.say(thread, ann, "hidden")
    with pytest.raises(discord.Forbidden):
        await bot.fetch_channel(thread.id)
    fake.say(thread, ann, f"<@{fake.bot.id}> come in")
    assert await bot.hears() == [f"<@{fake.bot.id}> come in"]
    assert bot.told("message")[0].channel.id == thread.id


async def test_active_and_archived_threads_are_listed(
    fake: FakeDiscord, bot: Bot, room: Channel, ann: User
) -> None:
    old, new = fake.thread(room, ann, "old"), fake.thread(room, ann, "new")
    fake.set_archived(old)
    await bot.until("thread_update")
    found = await bot.guilds[0].active_threads()
    assert [one.id for one in found] == [new.id]
    channel = bot.get_channel(room.id)
    assert isinstance(channel, discord.TextChannel)
    assert [one.id async for one in channel.archived_threads()] == [old.id]
    fake.say(old, ann, "again")
    assert not old.archived
    await found[0].join()
    assert fake.bot.id in new.members


async def test_a_forum_post_is_a_thread_whose_first_message_has_its_id(
    fake: FakeDiscord, bot: Bot, guild: Guild, ann: User
) -> None:
    forum = fake.forum(guild)
    thread, said = fake.forum_post(forum, ann, "How?", "How does it work?")
    (heard,) = await bot.until("message")
    assert (heard.id, heard.channel.id, heard.channel.parent_id) == (said.id, thread.id, forum.id)
    assert heard.channel.name == "How?"
    place = bot.get_channel(forum.id)
    assert isinstance(place, discord.ForumChannel)
    own = await place.create_thread(name="So.", content="Like this.")
    assert fake.text_of(own.thread.id) == "Like this."
    assert own.message.id == own.thread.id


# -- places come and go


async def test_a_new_guild_and_a_lost_one_are_told(fake: FakeDiscord, bot: Bot) -> None:
    guild = fake.guild("New")
    (joined,) = await bot.until("guild_join")
    assert joined.id == guild.id
    fake.kick_bot(guild)
    (left,) = await bot.until("guild_remove")
    assert left.id == guild.id
    fake.invite_bot(guild)
    await bot.until("guild_join", 2)


async def test_an_outage_is_no_goodbye(fake: FakeDiscord, bot: Bot, guild: Guild) -> None:
    fake.outage(guild)
    await bot.until("guild_unavailable")
    fake.outage(guild, over=True)
    await bot.until("guild_available")
    assert bot.told("guild_remove") == []


async def test_a_deleted_channel_is_told(fake: FakeDiscord, bot: Bot, room: Channel) -> None:
    fake.delete_channel(room)
    (gone,) = await bot.until("guild_channel_delete")
    assert gone.id == room.id


# -- commands


async def with_command(fake: FakeDiscord, bot: Bot, answer: Any) -> None:
    tree = app_commands.CommandTree(bot)

    @tree.command(name="ask", description="Ask the agent")
    async def ask(interaction: discord.Interaction, question: str) -> None:
        await answer(interaction, question)

    assert [one.name for one in await tree.sync()] == ["ask"]
    assert [one["name"] for one in fake.commands.registered[None]] == ["ask"]


async def test_a_command_is_answered_at_once(
    fake: FakeDiscord, bot: Bot, room: Channel, ann: User
) -> None:
    async def answer(interaction: discord.Interaction, question: str) -> None:
        await interaction.response.send_message(f"{interaction.user.name}: {question}")

    await with_command(fake, bot, answer)
    used = fake.slash(room, ann, "ask", {"question": "why?"})
    await fake.wait_for(lambda it: it.text_of(room) == "ann: why?")
    assert used.original == fake.messages(room)[0].id
    assert (used.acknowledged, used.deferred) == (True, False)
    (echo,) = await bot.until("message")
    assert echo.interaction_metadata.user.id == ann.id


async def test_a_command_is_answered_later_and_followed_up(
    fake: FakeDiscord, bot: Bot, room: Channel, ann: User
) -> None:
    async def answer(interaction: discord.Interaction, _question: str) -> None:
        await interaction.response.defer(thinking=True)
        await interaction.edit_original_response(content="first")
        second = await interaction.followup.send("second", wait=True)
        await second.edit(content="second, edited")
        await interaction.edit_original_response(content="first, edited")

    await with_command(fake, bot, answer)
    fake.slash(room, ann, "ask", {"question": "why?"})
    await fake.wait_for(lambda it: it.text_of(room) == "first, edited\nsecond, edited")


async def test_a_hidden_answer_is_seen_by_one_person_only(
    fake: FakeDiscord, bot: Bot, room: Channel, ann: User
) -> None:
    async def answer(interaction: discord.Interaction, _question: str) -> None:
        await interaction.response.send_message("for you", ephemeral=True)

    await with_command(fake, bot, answer)
    fake.slash(room, ann, "ask", {"question": "why?"})
    await fake.wait_for(lambda it: len(it.messages(room)) == 1)
    assert fake.messages(room)[0].seen_by == ann.id
    found = [one async for one in bot.get_partial_messageable(room.id).history()]
    assert found == []


async def test_a_command_must_be_answered_in_three_seconds_and_once(room: Channel) -> None:
    now = [0.0]
    async with FakeDiscord(clock=lambda: now[0]) as fake, Api(fake) as api:
        there, ann = fake.text_channel(fake.guild()), fake.user("Ann")
        fake.commands.add(None, {"name": "ask", "description": "Ask"})
        answer = {"type": 4, "data": {"content": "x"}}
        used = [fake.slash(there, ann, "ask") for _ in range(2)]
        paths = [f"/interactions/{one.id}/{one.token}/callback" for one in used]
        assert (await api.call("POST", paths[0], answer))[0] == 204
        assert "40060" in await api.refusal("POST", paths[0], answer)
        now[0] = 3.1
        assert await api.refusal("POST", paths[1], answer) == "404 10062 Unknown interaction"
        hook = f"/webhooks/{fake.application_id}/{used[0].token}"
        assert (await api.call("POST", hook, {"content": "more"}))[0] == 200
        now[0] = 901.0
        assert "50027" in await api.refusal("POST", hook, {"content": "late"})


async def test_a_command_that_is_not_registered_cannot_be_used(
    fake: FakeDiscord, room: Channel, ann: User
) -> None:
    with pytest.raises(LookupError):
        fake.slash(room, ann, "ask")


# -- the payloads themselves


async def test_every_event_is_as_the_sdk_s_own_types_say(
    fake: FakeDiscord, guild: Guild, room: Channel, ann: User
) -> None:
    session = fake.gateway.new_session((1 << 26) - 1)
    assert unfit("READY", fake.ready(session)) == []
    for event in fake.arrivals(session):
        assert unfit(event.name, event.data) == []
    everything_happens(fake, guild, room, ann)
    told = events(session)
    assert {name for name, _data in told} == set(EVENTS) - {"READY"}
    assert [found for name, data in told for found in unfit(name, data)] == []


async def test_every_answer_is_as_the_sdk_s_own_types_say(
    fake: FakeDiscord, guild: Guild, room: Channel, ann: User
) -> None:
    fake.thread(room, ann, "talk")
    fake.say(room, ann, "hi", files=[fake.attachment(b"x", dimensions=(1, 1))])
    async with Api(fake) as api:
        for path, module, name in (
            ("/users/@me", "user", "User"),
            ("/oauth2/applications/@me", "appinfo", "AppInfo"),
            ("/gateway/bot", "gateway", "GatewayBot"),
            (f"/channels/{room.id}", "channel", "TextChannel"),
            (f"/guilds/{guild.id}", "guild", "_BaseGuildPreview"),
            (f"/guilds/{guild.id}/members/{ann.id}", "member", "MemberWithUser"),
        ):
            body = await api.get(path)
            assert list(misfits(body, shape(module, name))) == []
        for one in await api.get(f"/channels/{room.id}/messages"):
            assert list(misfits(one, shape("message", "Message"))) == []


def everything_happens(fake: FakeDiscord, guild: Guild, room: Channel, ann: User) -> None:
    fake.guild("Another")
    fake.role(guild, "helpers")
    forum = fake.forum(guild)
    said = fake.say(room, ann, "hi", files=[fake.attachment(b"x", dimensions=(1, 1))])
    fake.say(room, ann, f"<@{fake.bot.id}>", reply_to=said.id)
    fake.say(fake.dm(ann), ann, "psst")
    fake.react(room, ann, said.id, "👍")
    fake.type_in(room, ann)
    fake.edit(room, said.id, "ho")
    thread = fake.thread(room, ann, "talk", at=said.id)
    fake.say(thread, fake.user("Bob"), "me too")
    fake.thread(room, ann, "secret", private=True)
    fake.forum_post(forum, ann, "How?", "How does it work?")
    fake.commands.add(None, {"name": "ask", "description": "Ask"})
    fake.slash(room, ann, "ask", {"question": "why?", "times": 3, "loud": True})
    fake.set_archived(thread)
    fake.delete(room, said.id)
    fake.delete_bulk(room, list(room.messages))
    fake.deny(room)
    fake.delete_channel(thread)
    fake.delete_channel(room)
    fake.kick_bot(guild)


def events(session: Session) -> list[tuple[str, Any]]:
    payloads = [orjson.loads(kept.payload) for kept in session.kept]
    assert [payload["s"] for payload in payloads] == list(range(1, len(payloads) + 1))
    return [(payload["t"], payload["d"]) for payload in payloads]


def unfit(name: str, data: Any) -> list[str]:
    return list(misfits(data, shape(*EVENTS[name]), name))


def test_the_kit_notices_a_payload_that_is_wrong() -> None:
    right = {"id": "1", "channel_id": "2"}
    wanted = shape("gateway", "MessageDeleteEvent")
    assert list(misfits(right, wanted)) == []
    assert list(misfits({"id": "1"}, wanted)) == ["it.channel_id is missing"]
    assert list(misfits(right | {"guild_id": 1.5}, wanted)) != []
    assert list(misfits([], wanted)) == ["it is [], not an object"]
