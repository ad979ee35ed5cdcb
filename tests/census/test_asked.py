"""A few of the paths that are read, through the whole gateway to the model's request."""

from __future__ import annotations

from typing import Final

import pytest

from tests.census.planting import Json, merged, planted
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.play import Play, prompt_of
from tests.kit.stages.discord import DiscordStage
from tests.kit.stages.slack import SlackStage
from tests.kit.stages.telegram import TelegramStage

pytestmark = pytest.mark.settings(ACCESS__MODE="open")

Paths = tuple[tuple[str, Json], ...]
"""Paths, each with what stands around it."""

TELEGRAM: Final[Paths] = (
    ("rich_message.blocks[]{table}.cells[][].text{bold}.text", {}),
    ("rich_message.blocks[]{details}.summary", {}),
    ("poll.explanation", {}),
    ("checklist.tasks[].text", {}),
    ("venue.address", {}),
    ("reply_markup.inline_keyboard[][].text", {"text": "the menu"}),
)
DISCORD: Final[Paths] = (
    ("embeds[].fields[].value", {}),
    ("components[]{17}.components[]{10}.content", {}),
    ("poll.answers[].poll_media.text", {}),
    ("sticker_items[].name", {}),
    ("message_snapshots[].message.content", {}),
)
SLACK: Final[Paths] = (
    ("blocks[]{rich_text}.elements[]{rich_text_section}.elements[]{text}.text", {}),
    ("blocks[]{table}.rows[][]{raw_text}.text", {}),
    ("attachments[].pretext", {"attachments": [{"is_share": True, "author_name": "Zed"}]}),
    ("attachments[].fields[].value", {}),
)


def with_words(paths: Paths) -> list[tuple[str, Json]]:
    """Return a word of its own for each path, and the fields of a message that has it there."""
    found = []
    for number, (steps, around) in enumerate(paths):
        word = f"canary-{number}-7f3a"
        found.append((word, merged(around, planted(steps, word))))
    return found


@pytest.mark.parametrize(("word", "fields"), with_words(TELEGRAM))
async def test_the_model_is_asked_with_it_on_telegram(
    telegram: Play, model: FakeOpenAI, word: str, fields: Json
) -> None:
    assert isinstance(telegram.stage, TelegramStage)
    fake = telegram.stage.fake
    ada = fake.user(7, "Ada", "ada")
    fake.send(fake.private_chat(ada), ada, fields)
    await telegram.settle()
    assert word in prompt_of(model)


@pytest.mark.parametrize(("word", "fields"), with_words(DISCORD))
async def test_the_model_is_asked_with_it_on_discord(
    discord: Play, model: FakeOpenAI, word: str, fields: Json
) -> None:
    assert isinstance(discord.stage, DiscordStage)
    fake = discord.stage.fake
    ada = fake.user("Ada")
    fake.say(fake.dm(ada), ada, "", extra=fields)
    await discord.settle()
    assert word in prompt_of(model)


@pytest.mark.parametrize(("word", "fields"), with_words(SLACK))
async def test_the_model_is_asked_with_it_on_slack(
    slack: Play, model: FakeOpenAI, word: str, fields: Json
) -> None:
    assert isinstance(slack.stage, SlackStage)
    fake = slack.stage.fake
    ada = fake.user("Ada")
    fake.say(fake.im(ada), ada, "", extra=fields)
    await slack.settle()
    assert word in prompt_of(model)
