"""The fake Discord as a server: its limits, and its console."""

from __future__ import annotations

import asyncio

from tests.fakes.discord.client import Api, Bot, at
from tests.fakes.discord.console import act, shown
from tests.fakes.discord.server import FakeDiscord
from tests.fakes.discord.world import Channel
from tests.kit.clock import rest


async def test_a_channel_takes_five_messages_in_five_seconds(room: Channel) -> None:
    now = [100.0]
    async with FakeDiscord(limits=True, clock=lambda: now[0]) as fake, Api(fake) as api:
        here, there = (fake.text_channel(fake.guild()) for _ in range(2))
        names = set()
        for left in range(4, -1, -1):
            status, _body, headers = await api.call("POST", at(here), {"content": "x"})
            assert (status, headers["x-ratelimit-remaining"]) == (200, str(left))
            assert (headers["x-ratelimit-limit"], headers["x-ratelimit-reset-after"]) == (
                "5",
                "5.000",
            )
            names.add(headers["x-ratelimit-bucket"])
        now[0] = 101.5
        status, body, headers = await api.call("POST", at(here), {"content": "x"})
        assert (status, body["retry_after"], body["global"]) == (429, 3.5, False)
        assert (headers["retry-after"], headers["x-ratelimit-scope"]) == ("4", "user")
        assert fake.too_many == 1
        own = fake.messages(here)[0]
        status, _body, headers = await api.call("PATCH", at(here, f"/{own.id}"), {"content": "y"})
        assert status == 200
        assert headers["x-ratelimit-bucket"] not in names
        status, _body, headers = await api.call("POST", at(there), {"content": "x"})
        assert (status, {headers["x-ratelimit-bucket"]}) == (200, names)
        now[0] = 105.0
        status, _body, _headers = await api.call("POST", at(here), {"content": "x"})
        assert status == 200


async def test_all_routes_together_take_fifty_a_second() -> None:
    async with FakeDiscord(limits=True, clock=lambda: 100.0) as fake, Api(fake) as api:
        guild = fake.guild()
        rooms = [fake.text_channel(guild) for _ in range(51)]
        for room in rooms[:50]:
            await api.post(room.id, "x")
        status, body, headers = await api.call("POST", at(rooms[50]), {"content": "x"})
        assert (status, body["global"], headers["x-ratelimit-global"]) == (429, True, "true")


async def test_the_sdk_obeys_the_headers() -> None:
    async with FakeDiscord(limits=True) as fake:
        room = fake.text_channel(fake.guild())
        async with Bot(fake) as bot:
            await bot.come_in()
            channel = bot.get_partial_messageable(room.id)
            sends = [asyncio.create_task(channel.send(str(one))) for one in range(7)]
            await fake.wait_for(lambda it: len(it.messages(room)) == 5)
            await rest()
            assert (len(fake.messages(room)), fake.too_many) == (5, 0)
            for send in sends:
                send.cancel()
            await asyncio.gather(*sends, return_exceptions=True)


async def test_a_typed_line_becomes_a_message() -> None:
    async with FakeDiscord() as fake:
        assert act(fake, "general Ann: hello @bot")
        assert act(fake, " dm  Ann :  psst")
        assert not act(fake, "nonsense")
        assert not act(fake, "general Ann:")
        general, dm = fake.world.channels.values()
        (said,) = general.messages.values()
        assert (said.text, said.author.global_name) == (f"hello <@{fake.bot.id}>", "Ann")
        assert [message.text for message in dm.messages.values()] == ["psst"]
        assert dm.person is said.author


async def test_a_typed_command_is_used_where_it_is_registered() -> None:
    async with FakeDiscord() as fake:
        assert act(fake, "general Ann: /stop")
        fake.commands.add(None, {"name": "stop", "description": "Stop"})
        assert act(fake, "general Ann: /stop")
        (general,) = fake.world.channels.values()
        assert [message.text for message in general.messages.values()] == ["/stop"]
        assert [used.name for used in fake.commands.interactions.values()] == ["stop"]


async def test_what_the_bot_does_is_shown() -> None:
    async with FakeDiscord() as fake, Api(fake) as api:
        act(fake, "general Ann: hello")
        (general,) = fake.world.channels.values()
        sent = await api.post(general.id, "hi")
        await api.refusal("POST", f"/channels/{general.id}/messages", {"content": ""})
        await api.get("/users/@me")
        assert [shown(fake, call) for call in fake.calls] == [
            f"post general #{sent['id']}: hi",
            "post general #None:  [400 50006 Cannot send an empty message]",
            "",
        ]
