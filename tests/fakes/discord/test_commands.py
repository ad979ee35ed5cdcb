"""Commands of people on the fake Discord, as discord.py reads and answers them."""

from __future__ import annotations

from typing import Any

import discord
import pytest
from discord import app_commands

from tests.fakes.discord.client import Api, Bot
from tests.fakes.discord.server import FakeDiscord
from tests.fakes.discord.world import Channel, User


async def with_command(fake: FakeDiscord, bot: Bot, answer: Any) -> None:
    tree = app_commands.CommandTree(bot)

    @tree.command(name="ask", description="Ask the agent")
    async def ask(interaction: discord.Interaction, question: str) -> None:
        await answer(interaction, question)

    assert [one.name for one in await tree.sync()] == ["ask"]
    assert [one["name"] for one in fake.commands.registered[None]] == ["ask"]


async def test_a_command_is_answered_at_once(bot: Bot, room: Channel, ann: User) -> None:
    async def answer(interaction: discord.Interaction, question: str) -> None:
        await interaction.response.send_message(f"{interaction.user.name}: {question}")

    await with_command(bot.fake, bot, answer)
    used = bot.fake.slash(room, ann, "ask", {"question": "why?"})
    await bot.fake.wait_for(lambda it: it.text_of(room) == "ann: why?")
    assert used.original == bot.fake.messages(room)[0].id
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
