"""Socket Mode of the fake Slack, spoken by the real SDK."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.fakes.slack_client import Bot
from tests.fakes.slack_server import FakeSlack

pytestmark = pytest.mark.anyio


@pytest.fixture
async def slack() -> AsyncIterator[FakeSlack]:
    async with FakeSlack() as fake:
        yield fake


async def test_an_app_connects_hears_a_mention_twice_and_answers(slack: FakeSlack) -> None:
    ada = slack.user("Ada")
    room = slack.channel("room", members=[ada])
    async with Bot(slack) as bot:
        said = slack.say(room, ada, "@tapeway hello")
        first, second = await bot.hears(2)
        assert (first["type"], second["type"]) == ("message", "app_mention")
        assert first["ts"] == second["ts"] == said.ts
        assert first["text"] == f"<@{slack.workspace.bot.id}> hello"
        posted = await bot.client.chat_postMessage(channel=room.id, text="hi", thread_ts=said.ts)
        assert posted["message"]["thread_ts"] == said.ts
        assert slack.text_of(room.id) == "hi"
        echo = (await bot.hears(3))[2]
        assert echo["bot_id"] == slack.workspace.bot.bot_id
        await slack.wait_for(lambda fake: not fake.deliveries.pending)
