"""Attachments: downloaded from Discord's hosts only, up to their announced size."""

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
from tests.fakes.discord.server import FakeDiscord
from tests.kit.clock import ManualClock


def picture() -> bytes:
    data = BytesIO()
    Image.new("RGB", (40, 30), "red").save(data, "PNG")
    return data.getvalue()


async def shown(bot: Bot, **how: object) -> str:
    """Send an image to the bot, and return the model's prompt."""
    file = bot.fake.attachment(picture(), "plum.png", "image/png", **how)  # type: ignore[arg-type]
    await bot.ask("what is this?", files=[file])
    return bot.prompts()[-1]


async def test_e8_an_image_reaches_the_model_and_a_file_is_named(bot: Bot) -> None:
    assert "[an image]" in await shown(bot)
    file = bot.fake.attachment(b"text", "notes.txt")
    await bot.ask("and this?", files=[file])
    assert "notes.txt" in bot.prompts()[-1]


async def test_e8_an_endless_download_is_cut_off(tmp_path: Path) -> None:
    read = 0

    def endless() -> Iterator[bytes]:
        nonlocal read
        for read in range(10_000):  # noqa: B007 - counted for the test
            yield b"x" * 65_536

    async with discord_bot(tmp_path, MEDIA__MAX_BYTES="1000000") as bot:
        prompt = await shown(bot, size=100, pieces=endless)
        assert "[an image]" not in prompt
        assert "larger than announced" in prompt
        assert read < 9_999


async def test_e8_a_file_that_is_too_large_is_not_downloaded(bot: Bot) -> None:
    assert "larger than" in await shown(bot, size=50_000_000)
    assert bot.fake.calls_of("cdn") == []


async def test_e8_a_missing_file_does_not_stop_the_answer(bot: Bot) -> None:
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
async def test_only_discords_file_hosts_are_downloaded_from(url: str) -> None:
    async with FakeDiscord() as fake:
        api = DiscordApi(DiscordSettings.model_validate({"token": "t", "base_url": fake.base_url}))
        await api.open(ManualClock())
        try:
            with pytest.raises(MediaRefused, match="not on one of Discord"):
                await api.download(url, 1000)
        finally:
            await api.close()


async def test_nothing_is_downloaded_before_the_session_is_open() -> None:
    api = DiscordApi(DiscordSettings.model_validate({"token": "t"}))
    with pytest.raises(ChannelDown):
        await api.download("https://cdn.discordapp.com/attachments/1/2/a.png", 1000)
