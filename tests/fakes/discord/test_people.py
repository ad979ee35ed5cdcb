"""What people do on the fake Discord, as discord.py reads it and as its own types describe it."""

from __future__ import annotations

import discord
import pytest

from tests.fakes.discord.client import Api, Bot
from tests.fakes.discord.server import FakeDiscord
from tests.fakes.discord.world import Channel, Guild, User

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


async def test_a_bot_and_a_webhook_are_told_apart_from_people(bot: Bot, room: Channel) -> None:
    bot.fake.say(room, bot.fake.user("Robot", is_bot=True), "beep")
    bot.fake.say(room, bot.fake.webhook("Build"), "passed")
    robot, hook = await bot.until("message", 2)
    assert (robot.author.bot, robot.webhook_id) == (True, None)
    assert hook.webhook_id is not None


async def test_an_edit_and_a_preview_are_updates(bot: Bot, room: Channel, ann: User) -> None:
    said = bot.fake.say(room, ann, "one")
    bot.fake.edit(room, said.id, "two")
    bot.fake.embed_link(room, said.id)
    edit, preview = await bot.until("raw_message_edit", 2)
    assert (edit.message.content, edit.message.edited_at is None) == ("two", False)
    assert (preview.message.content, len(preview.message.embeds)) == ("two", 1)
    assert said.history == ["one", "two"]


async def test_deleted_messages_are_told(bot: Bot, room: Channel, ann: User) -> None:
    said = [bot.fake.say(room, ann, text) for text in "abc"]
    bot.fake.delete(room, said[0].id)
    bot.fake.delete_bulk(room, [said[1].id, said[2].id])
    (one,) = await bot.until("raw_message_delete")
    (many,) = await bot.until("raw_bulk_message_delete")
    assert one.message_id == said[0].id
    assert many.message_ids == {said[1].id, said[2].id}
    assert room.messages == {}


async def test_reactions_and_typing_are_told(bot: Bot, room: Channel, ann: User) -> None:
    said = bot.fake.say(room, ann, "nice")
    bot.fake.react(room, ann, said.id, "👍")
    bot.fake.type_in(room, ann)
    (reaction,) = await bot.until("raw_reaction_add")
    assert (reaction.message_id, str(reaction.emoji)) == (said.id, "👍")
    (typed,) = await bot.until("raw_typing")
    assert typed.user_id == ann.id
    (heard,) = bot.told("message")
    await heard.add_reaction("✅")
    assert said.reactions == {"👍": [ann.id], "✅": [bot.fake.bot.id]}
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


async def test_a_thread_is_a_channel_with_a_parent(bot: Bot, room: Channel, ann: User) -> None:
    thread = bot.fake.thread(room, ann, "plans")
    bot.fake.say(thread, ann, "inside")
    (made,) = await bot.until("thread_create")
    assert (made.id, made.parent_id, made.name) == (thread.id, room.id, "plans")
    created, inside = await bot.until("message", 2)
    assert created.type is discord.MessageType.thread_created
    assert (inside.content, inside.channel.id) == ("inside", thread.id)
    await inside.channel.send("me too")
    assert bot.fake.text_of(thread) == "me too"
    assert bot.fake.text_of(room) == ""


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


async def test_the_bot_can_begin_a_thread(bot: Bot, room: Channel, ann: User) -> None:
    bot.fake.say(room, ann, "about this")
    (heard,) = await bot.until("message")
    thread = await heard.create_thread(name="answers")
    await thread.send("one")
    assert bot.fake.text_of(thread.id) == "one"
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


async def test_active_and_archived_threads_are_listed(bot: Bot, room: Channel, ann: User) -> None:
    old, new = bot.fake.thread(room, ann, "old"), bot.fake.thread(room, ann, "new")
    bot.fake.set_archived(old)
    await bot.until("thread_update")
    found = await bot.guilds[0].active_threads()
    assert [one.id for one in found] == [new.id]
    channel = bot.get_channel(room.id)
    assert isinstance(channel, discord.TextChannel)
    assert [one.id async for one in channel.archived_threads()] == [old.id]
    bot.fake.say(old, ann, "again")
    assert not old.archived
    await found[0].join()
    assert bot.fake.bot.id in new.members


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
