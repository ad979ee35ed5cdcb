"""Neither a token nor a message goes to a host that a platform's server redirects to."""

from __future__ import annotations

import pytest

from channels.discord.api import ApiRefused, DiscordApi
from channels.discord.settings import DiscordSettings
from channels.errors import ChannelDown, ChannelError, MediaRefused, SendRefused
from channels.redirects import Redirected
from channels.slack.api import ApiSessions, SlackApi
from channels.slack.api_methods import RateLimits
from channels.slack.settings import SlackSettings
from channels.telegram.api import BotApi
from channels.telegram.settings import TelegramSettings
from tests.fakes.redirecting import Redirecting, redirecting
from tests.kit.clock import ManualClock

STATUSES = pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
TEXT = "canary of a chat"


def is_refused(error: ChannelError, platform: str, both: Redirecting) -> None:
    assert error.trouble is not None
    assert error.trouble.id == f"{platform}.redirected"
    assert both.other in str(error)
    assert "canary" not in str(error)
    assert (len(both.seen), both.elsewhere) == (1, 0)


@STATUSES
async def test_telegram(status: int) -> None:
    async with redirecting(status) as both:
        given = {"token": "123456:canary-token", "base_url": f"{both.url}/bot"}
        api = BotApi(TelegramSettings.model_validate(given))
        await api.open()
        with pytest.raises(ChannelDown) as caught:
            await api.call("sendMessage", chat_id=7, text=TEXT)
        is_refused(caught.value, "telegram", both)
        with pytest.raises(SendRefused):
            await api.download("photos/one.jpg", 100)
        await api.close()
    assert both.elsewhere == 0


@STATUSES
async def test_discord(status: int) -> None:
    async with redirecting(status) as both:
        given = {"token": "canary", "base_url": f"{both.url}/api/v10"}
        api = DiscordApi(DiscordSettings.model_validate(given))
        await api.open(ManualClock())
        with pytest.raises(ChannelDown) as caught:
            await api.call("POST", "/channels/1/messages", {"content": TEXT})
        is_refused(caught.value, "discord", both)
        with pytest.raises(Redirected):
            await api.ws_connect(both.url.replace("http", "ws"))
        await api.close()
    assert both.elsewhere == 0


@STATUSES
async def test_slack(status: int) -> None:
    async with redirecting(status) as both:
        given = {"bot_token": "xoxb-canary", "base_url": f"{both.url}/api/"}
        settings = SlackSettings.model_validate(given)
        sessions, limits = ApiSessions(settings), RateLimits(ManualClock())
        await sessions.open()
        api = SlackApi("xoxb-canary", settings, sessions, limits, lambda _text: None)
        with pytest.raises(ChannelDown) as caught:
            await api.call("chat.postMessage", channel="C1", text=TEXT)
        is_refused(caught.value, "slack", both)
        with pytest.raises(MediaRefused):
            await api.download(f"{settings.files_origin}/one.png", 100, "image/png")
        with pytest.raises(Redirected):
            await sessions.session.ws_connect(both.url.replace("http", "ws"))
        await sessions.close()
    assert both.elsewhere == 0


async def test_a_file_of_discord_that_is_elsewhere_is_refused_for_good() -> None:
    async with redirecting() as both:
        given = {"token": "canary", "base_url": f"{both.url}/api/v10"}
        api = DiscordApi(DiscordSettings.model_validate(given))
        await api.open(ManualClock())
        with pytest.raises(ApiRefused):
            await api.start_of(f"{both.url}/attachments/1/2/one.png", 100)
        await api.close()
    assert both.elsewhere == 0


@pytest.mark.parametrize("target", ["", "http://[::1", "/elsewhere/canary", "mailto:canary@a.b"])
async def test_a_redirect_that_names_no_host_is_refused_too(target: str) -> None:
    async with redirecting(target=target) as both:
        given = {"token": "123456:canary-token", "base_url": f"{both.url}/bot"}
        api = BotApi(TelegramSettings.model_validate(given))
        await api.open()
        with pytest.raises(ChannelDown) as caught:
            await api.call("getMe")
        await api.close()
    assert "canary" not in str(caught.value)
