"""What the tests of the Discord channel read of its fake."""

from __future__ import annotations

from pathlib import Path

from tests.channels.discord.hosts import Bot, House
from tests.fakes.discord.world import Channel


async def began(place: House, *rooms: Channel) -> None:
    """Run the bot once, with a question in each of these channels."""
    async with place.bot() as bot:
        for room in rooms or (place.general,):
            bot.say(f"<@{bot.fake.bot.id}> before", place=room)
        await bot.settled()
    await place.clock.advance(3600)


async def texts(bot: Bot, room: Channel | None = None) -> list[str]:
    """Return the texts of people's messages on the tape."""
    return [entry.meta["text"] for entry in await bot.tape(room) if "inbox" in entry.meta]


def contents_of(folder: Path) -> bytes:
    """Return the contents of all files of a folder."""
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


PAIRED = {"ACCESS__MODE": "paired"}
