"""Backfill: every message of an outage comes in, in order and once."""

from __future__ import annotations

import pytest
from structlog.testing import capture_logs

from tests.channels.discord.hosts import House, began, texts
from tests.fakes.base.faults import ServerError
from tests.fakes.discord.faults import RateLimited, Refuse
from tests.fakes.openai.script import Text


async def test_d2_hundreds_of_messages_come_in_order_and_once(place: House) -> None:
    await began(place)
    earlier = len(place.fake.calls_of("history"))
    for number in range(250):
        place.fake.say(place.general, place.bob, str(number))
    async with place.bot() as bot:
        await bot.until(lambda: not bot.fake.untaken)
        bot.say("and now")
        await bot.settled()
        recorded = await texts(bot)
        assert recorded == ["@Tapeway before", *map(str, range(250)), "and now"]
    limits = [call.query["limit"] for call in place.fake.calls_of("history")]
    assert limits[earlier:] == ["100"] * 3


async def test_d2_threads_private_chats_and_new_channels_are_read_too(place: House) -> None:
    fake = place.fake
    private = fake.dm(place.ada)
    thread = fake.thread(place.general, place.ada, "Plums")
    archived = fake.thread(place.general, place.ada, "Pears")
    await began(place, place.general, private, thread, archived)
    fresh = fake.text_channel(place.guild, "fresh")
    new = fake.thread(place.general, place.bob, "Apples")
    for room in (place.general, private, thread, archived, fresh, new):
        fake.say(room, place.ada, f"<@{fake.bot.id}> in {room.name}")
    fake.set_archived(archived)
    async with place.bot() as bot:
        await bot.until(lambda: not fake.untaken)
        await bot.settled()
        for room in (place.general, private, thread, archived, fresh, new):
            assert f"in {room.name}".strip() in fake.messages(room)[-1].text


async def test_only_channels_with_new_messages_are_read(place: House) -> None:
    for number in range(20):
        place.fake.text_channel(place.guild, f"quiet-{number}")
    await began(place)
    place.fake.say(place.general, place.bob, "one")
    place.fake.calls.clear()
    async with place.bot() as bot:
        await bot.until(lambda: not bot.fake.untaken)
        await bot.settled()
    assert len(place.fake.calls_of("history")) == 1


async def test_private_chats_without_new_messages_are_looked_up_but_not_read(place: House) -> None:
    people = [place.fake.user(f"Person {number}") for number in range(15)]
    rooms = [place.fake.dm(person) for person in people]
    await began(place, *rooms)
    await place.clock.advance(8 * 24 * 3600)
    place.fake.say(rooms[3], people[3], "anybody?")
    place.fake.calls.clear()
    async with place.bot() as bot:
        await bot.until(lambda: not bot.fake.untaken)
        await bot.settled()
        assert len(bot.texts(rooms[3])) == 2
    assert len(place.fake.calls_of("channel")) == 15
    assert len(place.fake.calls_of("history")) == 1


async def test_the_first_start_reads_the_last_ten_minutes(place: House) -> None:
    place.fake.say(place.general, place.bob, f"<@{place.fake.bot.id}> long ago")
    place.fake.untaken.clear()
    await place.clock.advance(900)
    place.fake.say(place.general, place.bob, f"<@{place.fake.bot.id}> are you there?")
    async with place.bot() as bot:
        await bot.settled()
        assert await texts(bot) == ["@Tapeway are you there?"]
        assert len(bot.texts()) == 1


@pytest.mark.parametrize(("code", "logged"), [(50001, False), (50013, True)])
async def test_an_unreadable_channel_does_not_hold_up_others(
    code: int, logged: bool, place: House
) -> None:
    other = place.fake.text_channel(place.guild, "other")
    await began(place, place.general, other)
    for room in (place.general, other):
        place.fake.say(room, place.bob, "one")
    place.fake.fail("history", Refuse(403, code, "Missing"), channel=place.general)
    with capture_logs() as logs:
        async with place.bot() as bot:
            await bot.until(lambda: len(bot.fake.calls_of("history")) == 2)
            bot.say("two", place=other)
            await bot.until(lambda: len(bot.fake.untaken) == 1)  # the unreadable one
            await bot.fake.gap_closed()
            await bot.gateway.taken_in()
            assert await texts(bot, other) == ["@Tapeway before", "one", "two"]
    assert ("discord.channel_not_read" in [one["event"] for one in logs]) == logged


@pytest.mark.parametrize(
    "fault",
    [
        RateLimited(5.0),
        ServerError(500),
        ServerError(503),
        ServerError(403),
        ServerError(404),
        Refuse(403, 40333, "internal network error"),
        Refuse(400, 130000, "API resource is currently overloaded"),
    ],
    ids=str,
)
async def test_a_history_that_cannot_be_read_yet_is_read_later(
    fault: RateLimited | ServerError | Refuse, place: House
) -> None:
    await began(place)
    place.fake.say(place.general, place.bob, "one")
    place.fake.fail("history", fault)
    async with place.bot() as bot:
        bot.say("two")
        await bot.until(lambda: len(bot.fake.calls_of("history")) == 2)
        await bot.settled()
        assert await texts(bot) == ["@Tapeway before", "one", "two"]
        assert bot.state == "ready"


async def test_d1_an_answer_whose_send_was_cut_off_long_ago_is_found_and_not_sent_again(
    place: House,
) -> None:
    async with place.bot() as bot:
        bot.model.enqueue(Text(("the answer",)))
        bot.fake.fail("post", *[ServerError(502)] * 3)
        bot.say(f"<@{bot.fake.bot.id}> hello")
        await bot.until(lambda: bot.fake.calls_of("post"))
    await place.clock.advance(3600)
    async with place.bot() as bot:
        await bot.until(lambda: bot.texts())
        await bot.settled()
        assert bot.texts() == ["the answer"]


async def test_a_server_that_comes_back_later_is_caught_up_with(place: House) -> None:
    await began(place)
    place.fake.outage(place.guild)
    async with place.bot() as bot:
        bot.fake.say(place.general, place.bob, "one")
        bot.fake.gateway.hold()
        await bot.pass_by(8)
        bot.fake.outage(place.guild, over=True)
        await bot.until(lambda: bot.fake.calls_of("history"))
        await bot.pass_by(1)
        await bot.fake.gap_closed()
        await bot.gateway.taken_in()
        assert "one" in await texts(bot)
