"""Discord while the database is away: nothing is said to be taken that is not."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from channels.discord.adapter import NOT_NOW
from tests.contracts.discord_stage import DiscordStage
from tests.contracts.play import opened
from tests.fakes.discord.world import EPHEMERAL

pytestmark = pytest.mark.anyio


async def test_a_command_that_cannot_be_written_down_says_so_to_who_used_it(
    tmp_path: Path,
) -> None:
    async with opened("discord", lasts=True) as house, house.playing(tmp_path) as play:
        chat, alice = play.chat(), play.person()
        await play.ask(chat, alice, "before")
        play.store.away = True
        told = await play.stage.command(chat, alice, "help")
        fake = cast(DiscordStage, play.stage).fake
        note = fake.channel(int(chat.id)).messages[int(told.id)]
        assert note.text == NOT_NOW
        assert note.json["flags"] & EPHEMERAL
        play.store.away = False
        await play.settle()
        assert len(play.texts(chat)) == 1
