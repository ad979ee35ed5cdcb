"""Break the platforms' share of the forty: fakes that refuse what the platforms refuse."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from channels.slack.api_methods import scopes
from tests.doctor.scene import Scene, breaks
from tests.fakes.discord.permissions import Permission
from tests.fakes.discord.server import FakeDiscord
from tests.fakes.slack.server import FakeSlack
from tests.fakes.telegram.client import Api
from tests.fakes.telegram.faults import RetryAfter
from tests.fakes.telegram.server import FakeTelegram

Variables = AsyncIterator[dict[str, str]]

CLOSED = "http://127.0.0.1:1"


def telegram_of(fake: FakeTelegram, **more: str) -> dict[str, str]:
    found = {"TOKEN": fake.token, "BASE_URL": fake.base_url, **more}
    return {f"TELEGRAM__{name}": value for name, value in found.items()}


def discord_of(fake: FakeDiscord, **more: str) -> dict[str, str]:
    found = {"TOKEN": fake.token, "BASE_URL": fake.base_url, "GATEWAY_URL": fake.gateway_url}
    return {f"DISCORD__{name}": value for name, value in (found | more).items()}


def slack_of(fake: FakeSlack, **more: str) -> dict[str, str]:
    found = {"BOT_TOKEN": fake.bot_token, "APP_TOKEN": fake.app_token, "BASE_URL": fake.base_url}
    return {f"SLACK__{name}": value for name, value in (found | more).items()}


@asynccontextmanager
async def without_tls() -> AsyncIterator[str]:
    """Serve plain text where TLS is expected; yields HOST:PORT."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"


@breaks("telegram.revoked", "discord.reset", "slack.bot_revoked", "slack.app_scope")
async def revoked(scene: Scene) -> Variables:
    async with FakeTelegram() as telegram, FakeDiscord() as discord, FakeSlack() as slack:
        telegram.token_revoked = discord.revoked = True
        slack.workspace.refused = "token_revoked"
        slack.tokens.app_scopes = {"authorizations:read"}
        yield scene.environ(**telegram_of(telegram), **discord_of(discord), **slack_of(slack))


@breaks("telegram.misplaced", "discord.misplaced", "slack.misplaced")
async def misplaced(scene: Scene) -> Variables:
    yield scene.environ(
        TELEGRAM__TOKEN="MTAxMjM0NTY3ODkwMTIzNDU2.GabcdE.0123456789-0123456789-01234567",
        DISCORD__TOKEN=f"123456:{'A' * 35}",
        SLACK__BOT_TOKEN="xoxb-1-2-three",
        SLACK__APP_TOKEN="0123456789abcdef" * 2,
    )


@breaks(
    "telegram.privacy",
    "telegram.groups",
    "telegram.webhook_elsewhere",
    "discord.intent",
    "discord.permission",
    "slack.scopes",
)
async def switches(scene: Scene) -> Variables:
    async with (
        FakeTelegram(can_read_all_group_messages=False) as telegram,
        FakeDiscord(message_content=False) as discord,
        FakeSlack() as slack,
        Api(telegram) as api,
    ):
        telegram.can_join_groups = False
        await api("setWebhook", url="https://elsewhere.example/hook")
        guild = discord.guild("Harbour")
        guild.roles[guild.id].permissions &= ~Permission.SEND_MESSAGES
        slack.channel()
        slack.events.scopes = set(scopes()) - {"files:read"}
        yield scene.environ(**telegram_of(telegram), **discord_of(discord), **slack_of(slack))


@breaks("telegram.limited", "discord.sessions", "discord.no_server", "slack.no_channel")
async def limits(scene: Scene) -> Variables:
    async with FakeTelegram() as telegram, FakeDiscord() as discord, FakeSlack() as slack:
        telegram.fail("getMe", RetryAfter(30))
        discord.sessions_left = 0
        yield scene.environ(**telegram_of(telegram), **discord_of(discord), **slack_of(slack))


@breaks("telegram.unreachable", "discord.proxy", "slack.tls")
async def ways(scene: Scene) -> Variables:
    async with FakeTelegram() as telegram, FakeDiscord() as discord, FakeSlack() as slack:
        async with without_tls() as plain:
            yield scene.environ(
                **telegram_of(telegram, BASE_URL=f"{CLOSED}/bot"),
                **discord_of(discord, PROXY=CLOSED),
                **slack_of(slack, BASE_URL=f"https://{plain}/api/"),
            )


@breaks("telegram.webhook_fails", "discord.code_grant", "discord.commands", "slack.no_way_in")
async def settings(scene: Scene) -> Variables:
    async with FakeTelegram() as telegram, FakeDiscord() as discord, FakeSlack() as slack:
        url = f"{CLOSED}/webhooks/telegram"
        async with Api(telegram) as api:
            await api("setWebhook", url=url)
        telegram.say(telegram.private_chat(ada := telegram.user(7, "Ada")), ada, "hello")
        await telegram.deliver_webhook()
        discord.guild("Harbour")
        discord.requires_code_grant = True
        discord.interactions_url = "https://elsewhere.example/interactions"
        yield scene.environ(
            **telegram_of(telegram, WEBHOOK_URL=url),
            **discord_of(discord),
            **slack_of(slack, APP_TOKEN=""),
        )
