"""A few of the paths that are read, through the whole gateway to the model's request."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from tests.census.planting import Json, merged, planted
from tests.kit.play import playing, prompt_of
from tests.kit.stages.discord import DiscordStage
from tests.kit.stages.slack import SlackStage
from tests.kit.stages.telegram import TelegramStage

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


def on_telegram(stage: object, fields: Json) -> None:
    assert isinstance(stage, TelegramStage)
    ada = stage.fake.user(7, "Ada", "ada")
    stage.fake.send(stage.fake.private_chat(ada), ada, fields)


def on_discord(stage: object, fields: Json) -> None:
    assert isinstance(stage, DiscordStage)
    ada = stage.fake.user("Ada")
    stage.fake.say(stage.fake.dm(ada), ada, "", extra=fields)


def on_slack(stage: object, fields: Json) -> None:
    assert isinstance(stage, SlackStage)
    ada = stage.fake.user("Ada")
    stage.fake.say(stage.fake.im(ada), ada, "", extra=fields)


SAY: Final = {
    "telegram": (on_telegram, TELEGRAM),
    "discord": (on_discord, DISCORD),
    "slack": (on_slack, SLACK),
}
"""How somebody says something to the agent in private, and the paths that are tried there."""

CASES: Final = [
    (channel, word, fields)
    for channel, (_say, paths) in SAY.items()
    for word, fields in with_words(paths)
]


@pytest.mark.parametrize(("channel", "word", "fields"), CASES)
async def test_the_model_is_asked_with_what_stands_at_a_path(
    tmp_path: Path, channel: str, word: str, fields: Json
) -> None:
    async with playing(channel, tmp_path, ACCESS__MODE="open") as play:
        say, _paths = SAY[channel]
        say(play.stage, fields)
        await play.settle()
        assert word in prompt_of(play.model)
