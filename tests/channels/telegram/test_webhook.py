"""The Telegram channel behind a webhook: it hears who shows the secret, and writes down first."""

from __future__ import annotations

from typing import Any

import httpx2
from starlette.applications import Starlette

from channels.errors import ChannelUnfit
from channels.telegram.adapter import SECRET_HEADER
from channels.telegram.inbound import ALLOWED_UPDATES
from tests.channels.telegram.bots import Running, running
from tests.fakes.base.faults import ServerError
from tests.fakes.telegram.server import FakeTelegram


def client(bot: Running) -> httpx2.AsyncClient:
    app = Starlette(routes=bot.channel.routes())
    transport = httpx2.ASGITransport(app=app)
    return httpx2.AsyncClient(transport=transport, base_url="http://bot.example")


HOOK: dict[str, Any] = {
    "webhook_url": "http://127.0.0.1:9/webhooks/telegram",
    "webhook_secret": "canary",
}
PATH = "/webhooks/telegram"
UPDATE = {
    "update_id": 3,
    "message": {"message_id": 1, "date": 1, "chat": {"id": 7, "type": "private"}, "text": "hi"},
}


async def test_a_webhook_is_set_with_its_secret_and_nothing_is_dropped() -> None:
    async with FakeTelegram() as fake, running(fake, **HOOK) as bot:
        await bot.host.until(lambda: bot.host.times_ready == 1)
        (call,) = fake.calls_of("setWebhook")
        assert call.params == {
            "url": HOOK["webhook_url"],
            "secret_token": "canary",
            "allowed_updates": list(ALLOWED_UPDATES),
            "max_connections": 1,
            "drop_pending_updates": False,
        }
        assert fake.calls_of("getUpdates") == []


async def test_a_webhook_takes_what_shows_the_secret_and_refuses_the_rest() -> None:
    async with FakeTelegram() as fake, running(fake, **HOOK) as bot, client(bot) as web:
        await bot.host.until(lambda: bot.host.times_ready == 1)
        for headers in ({}, {SECRET_HEADER: "wrong"}, {SECRET_HEADER: ""}):
            assert (await web.post(PATH, json=UPDATE, headers=headers)).status_code == 403
        assert bot.host.accepted == []
        right = {SECRET_HEADER: "canary"}
        for _ in range(2):
            assert (await web.post(PATH, json=UPDATE, headers=right)).status_code == 200
        assert bot.host.texts() == ["hi"]


async def test_d7_a_webhook_says_200_only_for_what_is_on_the_disk() -> None:
    async with FakeTelegram() as fake, running(fake, **HOOK) as bot, client(bot) as web:
        await bot.host.until(lambda: bot.host.times_ready == 1)
        bot.host.refusals = [OSError("the disk is full")]
        right = {SECRET_HEADER: "canary"}
        assert (await web.post(PATH, json=UPDATE, headers=right)).status_code == 503
        assert (await web.post(PATH, json=UPDATE, headers=right)).status_code == 200
        assert bot.host.texts() == ["hi"]
        assert bot.host.errors == ["telegram.webhook_failed: the disk is full"]


async def test_a_webhook_keeps_what_is_no_json_once_and_refuses_what_is_too_large() -> None:
    async with FakeTelegram() as fake, running(fake, **HOOK) as bot, client(bot) as web:
        await bot.host.until(lambda: bot.host.times_ready == 1)
        right = {SECRET_HEADER: "canary"}
        for _ in range(2):
            broken = await web.post(PATH, content=b"\xff no json", headers=right)
            assert broken.status_code == 200
        (kept,) = bot.host.accepted
        assert kept.kind == "unreadable"
        large = await web.post(PATH, content=b"x" * 4_000_001, headers=right)
        assert large.status_code == 413


async def test_before_the_bot_knows_itself_a_webhook_asks_to_come_again() -> None:
    async with FakeTelegram() as fake:
        fake.fail("getMe", ServerError(502))
        async with running(fake, **HOOK) as bot, client(bot) as web:
            await bot.error()
            answer = await web.post(PATH, json=UPDATE, headers={SECRET_HEADER: "canary"})
            assert answer.status_code == 503


async def test_a_webhook_that_telegram_refuses_is_unfit_with_the_remedy() -> None:
    async with FakeTelegram() as fake:
        async with running(fake, webhook_url="http://bot.example/x") as bot:
            error = await bot.error()
        assert isinstance(error, ChannelUnfit)
        assert "TAPEWAY_TELEGRAM__WEBHOOK_URL" in str(error)


async def test_without_a_secret_each_bot_has_a_long_one_that_all_its_processes_know() -> None:
    url = "http://127.0.0.1:9/webhooks/telegram"
    found = []
    for token in ("1:one", "1:one", "2:two"):
        async with FakeTelegram(token=token) as fake, running(fake, webhook_url=url) as bot:
            await bot.host.until(lambda bot=bot: bot.host.times_ready == 1)  # type: ignore[misc]
            found.append(fake.calls_of("setWebhook")[0].params["secret_token"])
    assert found[0] == found[1] != found[2]
    assert len(found[0]) > 30
    assert "one" not in found[0]
