"""What can go wrong with a socket of the fake gateway."""

from __future__ import annotations

import pytest

from tests.fakes.base.faults import Reset, ServerError
from tests.fakes.discord.client import Api, Bot, wire
from tests.fakes.discord.server import FakeDiscord
from tests.fakes.discord.session import ACK, HEARTBEAT
from tests.fakes.discord.world import Channel, User


@pytest.mark.parametrize("fault", [ServerError(503), Reset()])
async def test_a_socket_can_be_refused_and_the_sdk_tries_again(
    fake: FakeDiscord, fault: ServerError | Reset
) -> None:
    async with Bot(fake) as bot:
        await bot.come_in()
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


async def test_what_a_zombie_loses_is_in_no_replay(
    fake: FakeDiscord, room: Channel, ann: User
) -> None:
    async with Bot(fake) as bot:
        await bot.come_in()
        fake.zombies(lost=True)
        fake.say(room, ann, "lost")
        fake.drop_sockets()
        await bot.until("resumed")
        fake.say(room, ann, "heard")
        assert await bot.hears() == ["heard"]
        assert len(fake.untaken) == 1


async def test_silence_is_over_new_sockets_too_and_ends(
    fake: FakeDiscord, room: Channel, ann: User
) -> None:
    async with Bot(fake) as bot:
        await bot.come_in()
        fake.silence()
        fake.say(room, ann, "unheard")
        fake.drop_sockets()
        await fake.wait_for(lambda it: it.gateway.resumed == 1)
        fake.say(room, ann, "unheard as well")
        assert bot.told("message") == []
        await bot.get_partial_messageable(room.id).send("sends arrive")
        fake.silence(False)
        assert await bot.hears(3) == ["unheard", "unheard as well", "sends arrive"]


async def test_a_half_open_connection_stays_open_and_silent(
    fake: FakeDiscord, api: Api, room: Channel, ann: User
) -> None:
    async with wire(api) as socket:
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
    fake: FakeDiscord, api: Api
) -> None:
    async with wire(api) as socket:
        await socket.identify(fake.token)
        await socket.event("READY")
        fake.half_open(stop_reading=True)
        await socket.send(HEARTBEAT, 1)
        assert (await api.get("/gateway"))["url"]
        (session,) = fake.gateway.sessions.values()
        assert session.confirmed == 0


async def test_heartbeats_can_go_unanswered(fake: FakeDiscord, api: Api) -> None:
    async with wire(api) as socket:
        fake.gateway.acks = False
        await socket.send(HEARTBEAT, None)
        with pytest.raises(TimeoutError):
            await socket.socket.receive(0.05)
        fake.gateway.acks = True
        await socket.send(HEARTBEAT, None)
        assert (await socket.next())["op"] == ACK


async def test_an_event_can_be_anything(fake: FakeDiscord, room: Channel, ann: User) -> None:
    async with Bot(fake) as bot:
        await bot.come_in()
        fake.push_event("SOMETHING_NEW", {"id": "1"})
        fake.say(room, ann, "after it")
        assert await bot.hears() == ["after it"]
        assert "SOMETHING_NEW" in bot.told("socket_event_type")


async def test_events_can_come_out_of_order_and_twice(
    fake: FakeDiscord, room: Channel, ann: User
) -> None:
    async with Bot(fake) as bot:
        await bot.come_in()
        fake.gateway.hold()
        said = [fake.say(room, ann, text) for text in ("one", "two", "three")]
        fake.gateway.let_go(backwards=True)
        fake.redeliver(room, said[0].id)
        assert await bot.hears(4) == ["three", "two", "one", "one"]
        numbers = [message.id for message in bot.told("message")]
        assert numbers == [said[2].id, said[1].id, said[0].id, said[0].id]


async def test_after_a_hundred_drops_one_socket_lives(
    fake: FakeDiscord, room: Channel, ann: User
) -> None:
    async with Bot(fake) as bot:
        await bot.come_in()
        for number in range(100):
            fake.drop_sockets()
            await bot.until("resumed", number + 1)
        fake.say(room, ann, "still there?")
        assert await bot.hears() == ["still there?"]
        assert fake.live_sockets == 1
