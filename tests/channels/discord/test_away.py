"""Discord while the database is unavailable: nothing is acknowledged that was not stored."""

from __future__ import annotations

from pathlib import Path
from typing import cast

from channels.discord.interactions import NOT_NOW
from tests.fakes.discord.world import EPHEMERAL
from tests.kit.play import opened
from tests.kit.stages.discord import DiscordStage


async def test_a_command_that_cannot_be_stored_is_refused_to_its_author_only(
    tmp_path: Path,
) -> None:
    async with opened("discord", lasts=True) as house, house.playing(tmp_path) as play:
        chat, alice = play.chat(), play.person()
        await play.ask(chat, alice, "before")
        play.store.away = True
        command = await play.stage.command(chat, alice, "help")
        fake = cast(DiscordStage, play.stage).fake
        note = fake.channel(int(chat.id)).messages[int(command.id)]
        assert note.text == NOT_NOW
        assert note.json["flags"] & EPHEMERAL
        play.store.away = False
        await play.settle()
        assert len(play.texts(chat)) == 1
