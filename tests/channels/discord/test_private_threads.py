"""Private threads: chats of their own, of which no word is seen elsewhere."""

from __future__ import annotations

import json

import pytest

from channels.message import MessageLink
from tests.channels.discord.hosts import PAIRED, Bot, House
from tests.fakes.discord.permissions import Permission
from tests.fakes.discord.world import Channel
from tests.fakes.openai.script import Call, Text, ToolCalls

SECRET = "the zanzibar merger closes friday"


def hidden(bot: Bot | House, name: str = "Layoffs") -> Channel:
    """Return a private thread that the bot and both people are in."""
    thread = bot.fake.thread(bot.general, bot.ada, name, private=True)
    for user in (bot.fake.bot, bot.bob):
        bot.fake.add_to_thread(thread, user)
    return thread


async def test_g_a_private_thread_has_a_tape_of_its_own_and_its_answers(bot: Bot) -> None:
    thread = hidden(bot)
    bot.say(SECRET, bot.bob, place=thread)
    asked = await bot.ask("hello", place=thread)
    (answer,) = bot.fake.messages(thread)
    assert answer.reply_to == asked.id
    tape = await bot.tape(thread)
    said = [entry.meta["text"] for entry in tape if "inbox" in entry.meta]
    assert said == [SECRET, "@Tapeway hello"]
    assert SECRET in bot.prompts()[0]
    assert all("thread" not in entry.meta for entry in tape)
    assert await bot.tape() == []


async def test_0_words_of_a_private_thread_are_seen_outside_it(bot: Bot) -> None:
    thread = hidden(bot)
    await bot.ask(SECRET, place=thread)
    public = bot.fake.thread(bot.general, bot.ada, "Plums")
    other = hidden(bot, "Bonuses")
    seen = len(bot.model.requests)
    for place in (bot.general, public, other):
        for tool, given in (
            ("tape.search", {"query": "zanzibar merger"}),
            ("tape.context", {"task": "when does the zanzibar merger close?"}),
        ):
            bot.model.enqueue(
                ToolCalls((Call("c", tool.replace(".", "_"), json.dumps(given)),)),
                Text(("Nothing.",)),
            )
            await bot.ask(f"when does the zanzibar deal close? see <#{thread.id}>", place=place)
        for line in (",tape.search query=merger", ",tape.info", ",rewind", ",tape.anchors"):
            bot.say(line, place=place)
            await bot.settled()
    outside = "\n".join(str(one.body) for one in bot.model.requests[seen:])
    assert len(bot.model.requests) > seen
    posted = [text for place in (bot.general, public, other) for text in bot.texts(place)]
    for word in ("friday", "closes", "Layoffs"):
        assert word not in outside
        assert word not in "\n".join(posted)
        assert word not in str(await bot.tape())


async def test_words_said_outside_are_not_seen_in_a_private_thread(bot: Bot) -> None:
    await bot.ask("the plum tree is dead")
    await bot.ask("what of the plum tree?", place=hidden(bot))
    assert "dead" not in bot.prompts()[-1]


async def test_two_private_threads_at_once_stay_apart(bot: Bot) -> None:
    first, second = hidden(bot, "One"), hidden(bot, "Two")
    bot.say(f"<@{bot.fake.bot.id}> apples", place=first)
    bot.say(f"<@{bot.fake.bot.id}> pears", bot.bob, place=second)
    await bot.settled()
    assert len(bot.texts(first)) == len(bot.texts(second)) == 1
    for prompt in bot.prompts():
        assert ("apples" in prompt) != ("pears" in prompt)


async def test_b2_a_follow_up_in_a_private_thread_is_answered(bot: Bot) -> None:
    thread = hidden(bot)
    bot.say("nobody asked", bot.bob, place=thread)
    await bot.ask("hello", place=thread)
    bot.say("and a thing of quite another kind?", bot.bob, place=thread)
    await bot.settled()
    assert len(bot.texts(thread)) == 2


async def test_d2_what_a_private_thread_missed_is_read_into_its_own_tape(place: House) -> None:
    known = hidden(place)
    async with place.bot() as bot:
        await bot.ask("before")
        await bot.ask("before", place=known)
    await place.clock.advance(3600)
    fresh = hidden(place, "Bonuses")
    for thread in (known, fresh):
        place.fake.say(thread, place.bob, f"said in {thread.name}")
    place.fake.set_archived(known)
    async with place.bot() as bot:
        await bot.until(lambda: not bot.fake.untaken)
        await bot.settled()
        for thread in (known, fresh):
            texts = [one.meta["text"] for one in await bot.tape(thread) if "inbox" in one.meta]
            assert texts[-1] == f"said in {thread.name}"
        assert "said in" not in str(await bot.tape())


async def test_e_edits_deletions_and_links_of_a_private_thread_work(bot: Bot) -> None:
    thread = hidden(bot)
    first = bot.say("the plum tree", place=thread)
    second = bot.say("is dead", place=thread)
    await bot.settled()
    bot.fake.edit(thread, first.id, "the pear tree")
    bot.fake.delete(thread, second.id)
    await bot.ask("what of it?", place=thread)
    assert "the pear tree" in bot.prompts()[0]
    assert "is dead" not in bot.prompts()[0]
    link = bot.gateway.channels["discord"].link_to(MessageLink(str(first.id), str(thread.id)))
    assert link == f"https://discord.com/channels/{bot.guild.id}/{thread.id}/{first.id}"


async def test_a_private_thread_that_is_deleted_is_recorded_on_its_own_tape(bot: Bot) -> None:
    one, two = hidden(bot, "One"), hidden(bot, "Two")
    for thread in (one, two):
        await bot.ask("hello", place=thread)
    bot.fake.delete_channel(one)
    await bot.settled()
    bot.fake.delete_channel(bot.general)
    await bot.settled()
    for thread in (one, two):
        assert [e.name for e in await bot.tape(thread)].count("chat.change") == 1


async def opened_by_owner(bot: Bot) -> None:
    """Make Ada the owner, who opens the channel."""
    code = bot.gateway.parts.pairing.new_code()
    await bot.until(lambda: bot.fake.commands.find("pair", None))
    for place, name, given in (
        (bot.fake.dm(bot.ada), "pair", {"code": code}),
        (bot.general, "open", {}),
    ):
        used = bot.fake.slash(place, bot.ada, name, given)
        await bot.until(lambda used=used: used.acknowledged)  # type: ignore[misc]
        await bot.settled()


@pytest.mark.settings(**PAIRED)
async def test_a_private_thread_has_the_access_of_its_channel(bot: Bot) -> None:
    thread = hidden(bot)
    await bot.ask("hello", bot.bob, place=thread)
    assert bot.model.requests == []
    await opened_by_owner(bot)
    await bot.ask("hello", bot.bob, place=thread)
    assert len(bot.model.requests) == 1
    elsewhere = bot.fake.text_channel(bot.guild, "elsewhere")
    other = bot.fake.thread(elsewhere, bot.ada, "Other", private=True)
    bot.fake.add_to_thread(other, bot.fake.bot)
    await bot.ask("hello", bot.bob, place=other)
    assert len(bot.model.requests) == 1


@pytest.mark.parametrize("kind", ["owner", "admin", "member", "stranger"])
@pytest.mark.settings(**PAIRED)
async def test_0_words_of_a_private_thread_for_anybody_outside_it(kind: str, bot: Bot) -> None:
    await opened_by_owner(bot)
    thread = hidden(bot)
    await bot.ask(SECRET, place=thread)
    boss = bot.fake.role(bot.guild, "boss", permissions=Permission.ADMINISTRATOR)
    eve, hook = bot.fake.user("Eve"), bot.fake.webhook("Ada")
    bot.fake.join(bot.guild, eve, *([boss] if kind == "admin" else []))
    who = {"owner": bot.ada, "stranger": hook}.get(kind, eve)
    for line in (
        ",tape.search query=zanzibar",
        ",tape.search query=zanzibar kinds=tool_result,event,message",
        ",tape.context task='when does the zanzibar merger close?'",
        f",tape.search query=zanzibar chat=discord:{thread.id}",
        ",rewind",
        ",tape.info",
    ):
        bot.say(line, who)
    bot.say(",tape.search query=zanzibar", bot.bob)
    await bot.settled()
    assert "friday" not in "\n".join(bot.texts())


@pytest.mark.settings(**PAIRED)
async def test_the_owner_finds_a_private_threads_words_from_the_own_private_chat_only(
    bot: Bot,
) -> None:
    await opened_by_owner(bot)
    thread = hidden(bot)
    await bot.ask(SECRET, place=thread)
    line = f",tape.search query=zanzibar chat=discord:{thread.id}"
    for user in (bot.ada, bot.bob):
        bot.say(line, user, place=bot.fake.dm(user))
    await bot.settled()
    assert "friday" in "\n".join(bot.texts(bot.fake.dm(bot.ada)))
    assert "friday" not in "\n".join(bot.texts(bot.fake.dm(bot.bob)))
