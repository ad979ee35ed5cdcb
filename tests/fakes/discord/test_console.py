"""The fake Discord's lines for drills by hand."""

from __future__ import annotations

from tests.fakes.discord.client import Api
from tests.fakes.discord.console import act, shown
from tests.fakes.discord.server import FakeDiscord


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
