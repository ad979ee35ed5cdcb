"""Images of platforms are fetched from the platform's own hosts, and from nowhere else."""

from __future__ import annotations

import pytest

from channels.discord.api import DiscordApi
from channels.discord.settings import DiscordSettings
from channels.errors import MediaRefused, SendRefused
from channels.slack.api import ApiSessions, SlackApi
from channels.slack.api_methods import RateLimits
from channels.slack.settings import SlackSettings
from channels.telegram.api import BotApi
from channels.telegram.settings import TelegramSettings
from tests.agent.web.hostile import urls
from tests.fakes.internet import Internet, redirect
from tests.kit.clock import ManualClock


def hostile(net: Internet, host: str) -> list[str]:
    """Return the thousand URLs, and more that look like the platform's host."""
    place = f"127.0.0.1:{net.port}"
    near = [f"{host}@{place}/", f"{host}.{place}/", f"{host}:80@{place}/x", f"{host}\\@{place}/"]
    return [*urls(net.port), *near, f"http://{place}/{host}/", f"http://{place}#{host}/"]


async def test_discord_s_api_asks_no_other_host_for_an_attachment(net: Internet) -> None:
    api = DiscordApi(DiscordSettings.model_validate({"token": "a.b.c"}))
    await api.open(ManualClock())
    try:
        for url in hostile(net, "https://cdn.discordapp.com"):
            with pytest.raises(MediaRefused):
                await api.download(url, 1000)
    finally:
        await api.close()
    assert net.private == net.asked == []


async def test_slack_s_api_asks_no_other_host_for_a_file(net: Internet) -> None:
    settings = SlackSettings.model_validate({"bot_token": "xoxb-1"})
    sessions = ApiSessions(settings)
    await sessions.open()
    api = SlackApi("xoxb-1", settings, sessions, RateLimits(ManualClock()), lambda _text: None)
    try:
        for url in hostile(net, "https://files.slack.com"):
            with pytest.raises(MediaRefused):
                await api.download(url, 1000, "image/png")
    finally:
        await sessions.close()
    assert net.private == net.asked == []


async def test_telegram_s_file_server_cannot_redirect_elsewhere(net: Internet) -> None:
    net.serve = lambda _path: redirect(f"http://127.0.0.1:{net.port}/")
    values = {"token": "123456:abc", "base_url": "http://good.example/bot"}
    api = BotApi(TelegramSettings.model_validate(values))
    await api.open()
    try:
        with pytest.raises(SendRefused, match="302"):
            await api.download("photos/a.jpg", 1000)
    finally:
        await api.close()
    assert len(net.asked) == 1
    assert net.private == []
