"""Answers on Discord: drafts, threads, refusals, slash commands."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import anyio
import pytest

from tests.channels.discord.hosts import Bot, House, contents_of, discord_bot, house
from tests.fakes.base.faults import LostAnswer, Reset, ServerError
from tests.fakes.discord.commands import Interaction
from tests.fakes.discord.faults import RateLimited, Refuse
from tests.fakes.discord.permissions import Permission
from tests.fakes.discord.world import SUPPRESS_EMBEDS, Channel
from tests.fakes.openai.script import Text

WHOLE = "This is the first sentence. And this is the last one of them."


def slowly(bot: Bot, text: str = WHOLE) -> Text:
    """Return an answer that streams a word every half second."""
    pieces = tuple(f"{word} " for word in text.split())
    return Text((*pieces[:-1], pieces[-1].strip()), delay=0.5, sleep=bot.clock.sleep)


async def use(
    bot: Bot, name: str, place: Channel | None = None, options: dict[str, Any] | None = None
) -> Interaction:
    """Use a slash command, and wait for its note without advancing the clock."""
    await bot.until(lambda: bot.fake.commands.find(name, None))
    used = bot.fake.slash(place or bot.general, bot.ada, name, options)
    with anyio.fail_after(60):
        await bot.fake.wait_for(lambda _fake: used.acknowledged)
    return used


def only(bot: Bot, text: str) -> None:
    """Check that the bot has posted one message."""
    assert bot.texts() == [text]


async def test_an_answer_is_a_silent_reply_with_a_nonce_and_without_previews(bot: Bot) -> None:
    bot.model.enqueue(Text(("@everyone <@&1> see https://example.org",)))
    question = await bot.ask("hello")
    (answer,) = bot.fake.messages(bot.general)
    assert answer.reply_to == question.id
    assert answer.json["flags"] & SUPPRESS_EMBEDS
    assert bot.fake.pinged(bot.general) == []
    (post,) = bot.fake.calls_of("post")
    assert post.params["enforce_nonce"] is True
    assert len(post.params["nonce"]) == 24
    assert post.params["message_reference"]["fail_if_not_exists"] is False
    assert post.params["allowed_mentions"] == {"parse": [], "replied_user": False}


async def test_an_answer_to_a_message_that_is_deleted_meanwhile_still_comes(bot: Bot) -> None:
    gate = asyncio.Event()
    bot.model.enqueue(Text((WHOLE,), gate=gate))
    message = bot.say(f"<@{bot.fake.bot.id}> hello")
    await bot.until(lambda: bot.model.requests)
    bot.fake.delete(bot.general, message.id)
    gate.set()
    await bot.settled()
    only(bot, WHOLE)


async def test_an_answer_grows_by_edits_at_least_a_second_apart(bot: Bot) -> None:
    bot.model.enqueue(slowly(bot))
    await bot.ask("hello")
    only(bot, WHOLE)
    writes = bot.fake.calls_of("post", "edit")
    assert len(writes) > 2
    assert [call.kind for call in writes].count("post") == 1
    moments = [call.at for call in writes]
    gaps = [b - a for a, b in pairwise(moments)]
    assert min(gaps) >= 1.0


@pytest.mark.parametrize("fault", [LostAnswer(), Reset(), ServerError(500), ServerError(502)])
async def test_a_post_with_an_unknown_outcome_appears_once(fault: LostAnswer, bot: Bot) -> None:
    bot.model.enqueue(Text((WHOLE,)))
    bot.fake.fail("post", fault)
    await bot.ask("hello")
    only(bot, WHOLE)
    first, second = bot.fake.calls_of("post")
    assert first.params["nonce"] == second.params["nonce"]


async def test_a_post_whose_outcome_stays_unknown_is_searched_for(tmp_path: Path) -> None:
    async with house(tmp_path, nonce_seconds=60.0) as place, place.bot() as bot:
        bot.model.enqueue(Text((WHOLE,)))
        bot.fake.fail("post", LostAnswer(), *[ServerError(502)] * 8)
        await bot.ask("hello")
        only(bot, WHOLE)
        assert bot.fake.calls_of("history")
        assert bot.fake.faults_left


async def test_a_draft_whose_answer_was_lost_becomes_the_answer(bot: Bot) -> None:
    bot.model.enqueue(slowly(bot))
    bot.fake.fail("post", LostAnswer())
    await bot.ask("hello")
    only(bot, WHOLE)


@pytest.mark.parametrize("kind", ["post", "edit"])
async def test_d3_a_chat_that_must_wait_gets_its_answer_once(kind: str, bot: Bot) -> None:
    bot.fake.fail(kind, RateLimited(40.0))
    bot.model.enqueue(slowly(bot))
    await bot.ask("hello")
    only(bot, WHOLE)
    begun = bot.fake.calls_of(kind)[0].at
    assert all(not begun < call.at < begun + 40 for call in bot.fake.calls_of("post", "edit"))


async def test_a_global_rate_limit_stops_posts_in_every_channel(bot: Bot) -> None:
    other = bot.fake.text_channel(bot.guild, "other")
    bot.fake.fail("post", RateLimited(10.0, everywhere=True))
    await bot.ask("hello")
    begun = bot.fake.calls_of("post")[0].at
    bot.say(f"<@{bot.fake.bot.id}> and here?", place=other)
    await bot.settled()
    assert len(bot.texts(other)) == 1
    assert all(call.at >= begun + 10 for call in bot.fake.calls_of("post")[1:])


async def test_discords_rate_limits_are_never_exceeded(tmp_path: Path) -> None:
    async with house(tmp_path, limits=True) as place, place.bot() as bot:
        for number in range(6):
            bot.model.enqueue(slowly(bot))
            bot.say(f"<@{bot.fake.bot.id}> {number}", bot.ada if number % 2 else bot.bob)
        await bot.settled()
        assert bot.texts() == [WHOLE] * 6
        assert bot.fake.too_many == 0


async def test_e1_an_answer_stays_in_its_thread_or_forum_post(bot: Bot) -> None:
    thread = bot.fake.thread(bot.general, bot.ada, "Plums")
    forum = bot.fake.forum(bot.guild)
    post, first = bot.fake.forum_post(forum, bot.bob, "A post", f"<@{bot.fake.bot.id}> hi")
    bot.say(f"<@{bot.fake.bot.id}> hello", place=thread)
    await bot.settled()
    assert len(bot.texts(thread)) == len(bot.texts(post)) == 1
    assert bot.fake.messages(post)[0].reply_to == first.id
    assert bot.texts() == []
    assert {e.meta["thread"] for e in await bot.tape(forum) if "inbox" in e.meta} == {str(post.id)}


async def test_b2_a_follow_up_in_a_thread_with_the_bot_is_answered(bot: Bot) -> None:
    thread = bot.fake.thread(bot.general, bot.ada, "Plums")
    bot.say("nobody asked", bot.bob, place=thread)
    bot.say(f"<@{bot.fake.bot.id}> hello", place=thread)
    await bot.settled()
    bot.say("and then?", bot.bob, place=thread)
    await bot.settled()
    assert len(bot.texts(thread)) == 2


async def test_an_archived_thread_is_reopened(bot: Bot) -> None:
    thread = bot.fake.thread(bot.general, bot.ada, "Plums")
    bot.model.enqueue(slowly(bot))
    bot.say(f"<@{bot.fake.bot.id}> hello", place=thread)
    await bot.until(lambda: bot.texts(thread))
    bot.fake.set_archived(thread)
    await bot.settled()
    assert bot.texts(thread) == [WHOLE]
    assert not thread.archived


async def test_an_answer_for_a_locked_thread_is_refused_once_and_others_continue(bot: Bot) -> None:
    thread = bot.fake.thread(bot.general, bot.ada, "Plums")
    gate = asyncio.Event()
    bot.model.enqueue(Text((WHOLE,), gate=gate))
    bot.say(f"<@{bot.fake.bot.id}> hello", place=thread)
    await bot.until(lambda: bot.model.requests)
    bot.fake.set_archived(thread, locked=True)
    gate.set()
    await bot.settled()
    assert bot.texts(thread) == []
    await bot.ask("and here?")
    assert len(bot.texts()) == 1


async def test_a_missing_permission_is_reported_with_its_remedy(bot: Bot) -> None:
    bot.fake.deny(bot.general, Permission.SEND_MESSAGES)
    await bot.ask("hello")
    (note,) = bot.gateway.status.states["discord"].notes
    assert "#general (Ops)" in note
    assert "Send Messages" in note
    posts = [call.ids["channel_id"] for call in bot.fake.calls_of("post")]
    assert posts.count(str(bot.general.id)) == 1


async def test_without_permission_to_read_the_history_an_answer_is_not_a_reply(bot: Bot) -> None:
    refused = Refuse(400, 160002, "Cannot reply without permission to read message history")
    bot.fake.fail("post", refused)
    await bot.ask("hello")
    assert len(bot.texts()) == 1
    assert bot.fake.messages(bot.general)[0].reply_to is None


async def test_d6_an_answer_for_a_deleted_channel_is_given_up(bot: Bot) -> None:
    gate = asyncio.Event()
    bot.model.enqueue(Text((WHOLE,), gate=gate))
    other = bot.fake.text_channel(bot.guild, "other")
    bot.say(f"<@{bot.fake.bot.id}> hello", place=other)
    await bot.until(lambda: bot.model.requests)
    bot.fake.delete_channel(other)
    gate.set()
    await bot.settled()
    names = [entry.name for entry in await bot.tape(other)]
    assert names.count("send.dead") == 1
    assert "chat.change" in names


async def test_a_private_chat_is_answered_and_one_that_blocks_messages_is_given_up(
    bot: Bot,
) -> None:
    private = bot.fake.dm(bot.ada)
    bot.say("hello", place=private)
    await bot.settled()
    assert len(bot.texts(private)) == 1
    bot.ada.takes_dms = False
    bot.say("and now?", place=private)
    tape = await bot.settled(private)
    assert [entry.name for entry in tape].count("send.dead") == 1


async def test_a_server_that_removes_the_bot_is_recorded_and_others_continue(bot: Bot) -> None:
    other = bot.fake.guild("Other")
    place = bot.fake.text_channel(other)
    await bot.ask("one", place=place)
    bot.fake.kick_bot(other)
    await bot.ask("two")
    assert len(bot.texts()) == 1
    await bot.until(lambda: bot.state == "ready")
    changes = [e.payload["data"] for e in await bot.tape(place) if e.name == "chat.change"]
    assert [one["change"] for one in changes] == ["removed"]


async def test_a_second_gateway_with_the_same_token_is_reported(tmp_path: Path) -> None:
    async with house(tmp_path / "a") as place, place.bot() as bot:
        await bot.ask("one")
        assert bot.gateway.status.states["discord"].notes == []
        bot.fake.post(bot.general, bot.fake.bot, "from elsewhere", nonce="another")
        await bot.until(lambda: bot.gateway.status.states["discord"].notes)
        assert "second gateway" in bot.gateway.status.states["discord"].notes[0]


async def test_the_invitation_asks_for_the_needed_permissions_only(bot: Bot) -> None:
    invitation = bot.gateway.channels["discord"].invitation
    assert invitation.startswith("Add Tapeway to a server: https://discord.com/oauth2/authorize?")
    query = parse_qs(urlsplit(invitation.split()[-1]).query)
    assert query["scope"] == ["bot applications.commands"]
    needed = (
        Permission.VIEW_CHANNEL
        | Permission.SEND_MESSAGES
        | Permission.SEND_MESSAGES_IN_THREADS
        | Permission.READ_MESSAGE_HISTORY
    )
    assert int(query["permissions"][0]) == needed


async def test_a_bot_that_is_added_greets_the_welcome_channel(bot: Bot) -> None:
    await bot.until(lambda: bot.fake.live_sockets)
    data = {
        "id": "900",
        "name": "New",
        "joined_at": "2026-01-02T03:04:05+00:00",
        "system_channel_id": str(bot.general.id),
        "channels": [{"id": str(bot.general.id), "type": 0, "name": "welcome"}],
    }
    bot.fake.push_event("GUILD_CREATE", data)
    await bot.until(lambda: bot.texts())
    assert "Tapeway" in bot.texts()[0]


@pytest.mark.parametrize("name", ["status", "help", "stop", "reset"])
async def test_a_slash_command_is_noted_within_three_seconds_and_answered(
    name: str, bot: Bot
) -> None:
    await use(bot, name)
    await bot.until(lambda: len(bot.texts()) == 2)
    note, answer = bot.fake.messages(bot.general)
    assert note.text == f"**/{name}**"
    assert answer.reply_to == note.id
    assert bot.model.requests == []


async def test_slash_ask_shows_the_question_to_everybody(bot: Bot) -> None:
    thread = bot.fake.thread(bot.general, bot.ada, "Plums")
    await use(bot, "ask", thread, {"question": "is it @everyone's?"})
    await bot.until(lambda: len(bot.texts(thread)) == 2)
    await bot.settled()
    note, answer = bot.fake.messages(thread)
    assert note.text == "**/ask** is it @everyone's?"
    assert answer.reply_to == note.id
    assert "is it @everyone's?" in bot.prompts()[0]
    assert bot.fake.pinged(thread) == []


async def test_slash_stop_ends_the_answer(bot: Bot) -> None:
    bot.model.enqueue(Text(("never ", "ends"), gate=asyncio.Event()))
    bot.say(f"<@{bot.fake.bot.id}> hello")
    await bot.until(lambda: bot.model.requests)
    await use(bot, "stop")
    await bot.settled()
    assert [e.payload["data"]["status"] for e in await bot.tape() if e.name == "turn.end"] == [
        "stopped"
    ]


async def test_a_command_whose_note_fails_is_answered_anyway(bot: Bot) -> None:
    await bot.until(lambda: bot.fake.commands.find("help", None))
    bot.fake.fail("callback", Refuse(404, 10062, "Unknown interaction"))
    bot.fake.slash(bot.general, bot.ada, "help")
    await bot.until(lambda: bot.texts())
    assert "stop" in bot.texts()[0]


async def test_d1_a_command_from_before_a_restart_is_answered_after_it(place: House) -> None:
    place.model.enqueue(Text(("never ", "ends"), gate=asyncio.Event()))
    async with place.bot() as bot:
        await use(bot, "ask", options={"question": "hello?"})
        await bot.until(lambda: len(bot.texts()) == 2)
    await place.clock.advance(1800)
    place.model.enqueue(Text((WHOLE,)))
    async with place.bot() as bot:
        await bot.until(lambda: WHOLE in bot.texts())
        await bot.settled()
        assert bot.texts() == ["**/ask** hello?", WHOLE]


async def test_h2_no_token_of_a_command_is_kept(tmp_path: Path) -> None:
    async with discord_bot(tmp_path) as bot:
        used = await use(bot, "ask", options={"question": "hello?"})
        await bot.until(lambda: len(bot.texts()) == 2)
        assert used.token not in str(await bot.tape())
    assert used.token.encode() not in contents_of(tmp_path)
