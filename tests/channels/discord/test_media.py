"""Attachments on Discord: from where Discord keeps them, as much as was said, renewed once."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from channels.discord.api import DiscordApi
from channels.discord.settings import DiscordSettings
from channels.errors import ChannelDown, MediaRefused
from tests.channels.discord.hosts import Bot, discord_bot
from tests.clock import ManualClock
from tests.fakes.discord.server import FakeDiscord

pytestmark = pytest.mark.anyio


def picture() -> bytes:
    data = BytesIO()
    Image.new("RGB", (40, 30), "red").save(data, "PNG")
    return data.getvalue()


async def shown(bot: Bot, **how: object) -> str:
    """Send an image to the bot, and return what the model was shown."""
    file = bot.fake.attachment(picture(), "plum.png", "image/png", **how)  # type: ignore[arg-type]
    await bot.ask("what is this?", files=[file])
    return bot.prompts()[-1]


async def test_e8_an_image_reaches_the_model_and_a_file_is_named(tmp_path: Path) -> None:
    async with discord_bot(tmp_path) as bot:
        assert "[an image]" in await shown(bot)
        file = bot.fake.attachment(b"text", "notes.txt")
        await bot.ask("and this?", files=[file])
        assert "notes.txt" in bot.prompts()[-1]


async def test_e8_a_bomb_is_not_read_to_its_end(tmp_path: Path) -> None:
    read = 0

    def endless() -> Iterator[bytes]:
        nonlocal read
        for read in range(10_000):  # noqa: B007 - counted for the test
            yield b"x" * 65_536

    async with discord_bot(tmp_path, MEDIA__BYTES="1000000") as bot:
        prompt = await shown(bot, size=100, pieces=endless)
        assert "[an image]" not in prompt
        assert "larger than was said" in prompt
        assert read < 9_999


async def test_e8_what_is_too_large_is_not_fetched(tmp_path: Path) -> None:
    async with discord_bot(tmp_path) as bot:
        assert "larger than" in await shown(bot, size=50_000_000)
        assert bot.fake.calls_of("cdn") == []


async def test_e8_what_is_gone_is_told(tmp_path: Path) -> None:
    async with discord_bot(tmp_path) as bot:
        assert "[an image]" not in await shown(bot, status=404)
        await bot.ask("still there?")
        assert len(bot.texts()) == 2


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:1/attachments/1/a.png",
        "http://169.254.169.254/latest/meta-data",
        "https://cdn.discordapp.com.example.org/a.png",
        "https://cdn.discordapp.com@example.org/a.png",
        "file:///etc/passwd",
        "//cdn.discordapp.com/a.png",
        "http://[broken",
        "",
    ],
)
async def test_only_where_discord_keeps_its_files_is_anything_fetched(url: str) -> None:
    async with FakeDiscord() as fake:
        api = DiscordApi(DiscordSettings.model_validate({"token": "t", "base_url": fake.base_url}))
        await api.open(ManualClock())
        try:
            with pytest.raises(MediaRefused, match="not where Discord keeps"):
                await api.download(url, 1000)
        finally:
            await api.close()


async def test_without_a_session_nothing_is_fetched() -> None:
    api = DiscordApi(DiscordSettings.model_validate({"token": "t"}))
    with pytest.raises(ChannelDown):
        await api.download("https://cdn.discordapp.com/attachments/1/2/a.png", 1000)
