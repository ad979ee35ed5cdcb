"""What can go wrong with a socket of the fake gateway."""

from __future__ import annotations

import pytest

from tests.fakes.base.faults import Reset, ServerError
from tests.fakes.discord.client import Api, Bot, Wire, wire
from tests.fakes.discord.server import FakeDiscord
from tests.fakes.discord.session import ACK, HEARTBEAT
from tests.fakes.discord.world import Channel, User


@pytest.mark.parametrize("fault", [ServerError(503), Reset()])
async def test_a_socket_can_be_refused_and_the_sdk_tries_again(
    fake: FakeDiscord, fault: ServerError | Reset, bot: Bot
) -> None:
    fake.fail("socket", fault)
    fake.drop_sockets()
    await bot.until("resumed")
    assert fake.faults_left == []


async def test_a_zombie_takes_heartbeats_and_delivers_nothing(
    fake: FakeDiscord, api: Api, room: Channel, ann: User
) -> None:
    async with wire(api) as socket:
        await socket.identify(fake.token)
        ready = await socket.event("READY")
        await socket.event("GUILD_CREATE")
        fake.zombies()
        missed = fake.say(room, ann, "unheard")
        await socket.send(HEARTBEAT, 2)
        assert (await socket.next())["op"] == ACK
        assert (fake.live_sockets, list(fake.untaken)) == (1, [(room.id, missed.id)])
    async with wire(api) as socket:
        await socket.resume(fake.token, ready["d"]["session_id"], 2)
        assert (await socket.event("MESSAGE_CREATE"))["d"]["content"] == "unheard"


async def test_what_a_zombie_loses_is_in_no_replay(room: Channel, ann: User, bot: Bot) -> None:
    bot.fake.zombies(lost=True)
    bot.fake.say(room, ann, "lost")
    bot.fake.drop_sockets()
    await bot.until("resumed")
    bot.fake.say(room, ann, "heard")
    assert await bot.hears() == ["heard"]
    assert len(bot.fake.untaken) == 1


async def test_silence_is_over_new_sockets_too_and_ends(room: Channel, ann: User, bot: Bot) -> None:
    bot.fake.silence()
    bot.fake.say(room, ann, "unheard")
    bot.fake.drop_sockets()
    await bot.fake.wait_for(lambda it: it.gateway.resumed == 1)
    bot.fake.say(room, ann, "unheard as well")
    assert bot.told("message") == []
    await bot.get_partial_messageable(room.id).send("sends arrive")
    bot.fake.silence(False)
    assert await bot.hears(3) == ["unheard", "unheard as well", "sends arrive"]


async def test_a_half_open_connection_stays_open_and_silent(
    fake: FakeDiscord, room: Channel, ann: User, socket: Wire
) -> None:
    await socket.identify(fake.token)
    await socket.event("GUILD_CREATE")
    fake.half_open()
    fake.say(room, ann, "unheard")
    await socket.send(HEARTBEAT, 1)
    with pytest.raises(TimeoutError):
        await socket.socket.receive(0.05)
    assert fake.open_connections == 1
    assert len(fake.untaken) == 1


async def test_a_half_open_connection_can_stop_reading_and_new_ones_work(
    fake: FakeDiscord, api: Api, socket: Wire
) -> None:
    await socket.identify(fake.token)
    await socket.event("READY")
    fake.half_open(stop_reading=True)
    await socket.send(HEARTBEAT, 1)
    assert (await api.get("/gateway"))["url"]
    (session,) = fake.gateway.sessions.values()
    assert session.confirmed == 0


async def test_heartbeats_can_go_unanswered(fake: FakeDiscord, socket: Wire) -> None:
    fake.gateway.acks = False
    await socket.send(HEARTBEAT, None)
    with pytest.raises(TimeoutError):
        await socket.socket.receive(0.05)
    fake.gateway.acks = True
    await socket.send(HEARTBEAT, None)
    assert (await socket.next())["op"] == ACK


async def test_an_event_can_be_anything(room: Channel, ann: User, bot: Bot) -> None:
    bot.fake.push_event("SOMETHING_NEW", {"id": "1"})
    bot.fake.say(room, ann, "after it")
    assert await bot.hears() == ["after it"]
    assert "SOMETHING_NEW" in bot.told("socket_event_type")


async def test_events_can_come_out_of_order_and_twice(room: Channel, ann: User, bot: Bot) -> None:
    bot.fake.gateway.hold()
    said = [bot.fake.say(room, ann, text) for text in ("one", "two", "three")]
    bot.fake.gateway.let_go(backwards=True)
    bot.fake.redeliver(room, said[0].id)
    assert await bot.hears(4) == ["three", "two", "one", "one"]
    numbers = [message.id for message in bot.told("message")]
    assert numbers == [said[2].id, said[1].id, said[0].id, said[0].id]


async def test_after_a_hundred_drops_one_socket_lives(room: Channel, ann: User, bot: Bot) -> None:
    for number in range(100):
        bot.fake.drop_sockets()
        await bot.until("resumed", number + 1)
    bot.fake.say(room, ann, "still there?")
    assert await bot.hears() == ["still there?"]
    assert bot.fake.live_sockets == 1
