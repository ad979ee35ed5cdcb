"""What a check of a Discord bot finds, on a server that refuses what Discord refuses."""

from __future__ import annotations

from typing import Any

import pytest

from channels.checkup import Checkup
from channels.discord.checkup import examine
from channels.discord.settings import DiscordSettings
from channels.discord.troubles import (
    CODE_GRANT,
    COMMANDS_ELSEWHERE,
    CONNECTION,
    NO_CONTENT,
    NO_PERMISSION,
    NO_SERVER,
    NO_SESSIONS,
    NO_TOKEN,
    PRIVATE_BOT,
    TOKEN_REFUSED,
    TOO_MANY_SERVERS,
    TROUBLES,
    WRONG_TOKEN,
)
from channels.findings import CHECK_SECONDS, CheckSeconds
from tests.channels.checkups import troubles
from tests.fakes.base.faults import Hang, ServerError
from tests.fakes.discord.faults import Fault, RateLimited, Refuse
from tests.fakes.discord.permissions import Permission
from tests.fakes.discord.server import FakeDiscord


async def examined(
    fake: FakeDiscord, seconds: CheckSeconds = CHECK_SECONDS, **more: object
) -> Checkup:
    values = {"token": fake.token, "base_url": fake.base_url, "gateway_url": fake.gateway_url}
    found = await examine(DiscordSettings.model_validate(values | more), seconds)
    assert fake.token not in repr(found)
    return found


async def test_a_bot_in_order_is_named_and_can_be_invited_with_what_it_needs() -> None:
    async with FakeDiscord() as fake:
        fake.guild("Harbour")
        found = await examined(fake)
        assert fake.live_sockets == 0
        asked = [call.kind for call in fake.calls]
    assert troubles(found) == []
    assert found.bot == "Tapeway"
    assert f"client_id={fake.application_id}" in found.invite
    assert "scope=bot+applications.commands&permissions=274877975552" in found.invite
    assert asked == ["me", "application", "gateway_bot", "own_guilds"]


async def test_without_a_token_or_with_another_platform_s_nothing_is_asked() -> None:
    async with FakeDiscord() as fake:
        (off,) = troubles(await examined(fake, token=""))
        (wrong,) = troubles(await examined(fake, token="123456:AAE-of-telegram"))
        assert fake.calls == []
    assert (off.trouble, off.state) == (NO_TOKEN, "note")
    assert (wrong.trouble, wrong.says) == (WRONG_TOKEN, "this looks like a Telegram bot token")


FAULTS: list[tuple[Fault, Any]] = [
    (RateLimited(30.0), CONNECTION.limited),
    (RateLimited(30.0, cloudflare=True), CONNECTION.limited),
    (ServerError(503), CONNECTION.unreachable),
    (ServerError(500), CONNECTION.unreachable),
    (Refuse(403, 40002, "You need to verify your account"), CONNECTION.unreachable),
]


@pytest.mark.parametrize(("fault", "trouble"), FAULTS, ids=range(len(FAULTS)))
async def test_a_refusal_is_named(fault: Fault, trouble: object) -> None:
    async with FakeDiscord() as fake:
        fake.fail("me", fault)
        (result,) = troubles(await examined(fake))
    assert (result.check, result.trouble) == ("discord.token", trouble)


async def test_a_token_that_was_reset_is_refused() -> None:
    async with FakeDiscord() as fake:
        fake.revoked = True
        (result,) = troubles(await examined(fake))
    assert (result.trouble, result.state) == (TOKEN_REFUSED, "failure")


async def test_checks_that_take_too_long_end_with_what_they_found() -> None:
    async with FakeDiscord() as fake:
        fake.fail("gateway_bot", hang := Hang())
        found = await examined(fake, CheckSeconds(platform=0.5))
        hang.release()
    assert [found.results[0].state, found.results[-1].check] == ["ok", "discord.time"]


async def test_what_the_portal_has_switched_off_or_set_is_named() -> None:
    async with FakeDiscord(message_content=False) as fake:
        fake.guild("Harbour")
        fake.requires_code_grant = True
        fake.interactions_url = "https://elsewhere.example/interactions"
        found = troubles(await examined(fake))
        assert [one.trouble for one in found] == [NO_CONTENT, CODE_GRANT, COMMANDS_ELSEWHERE]
        fake.requires_code_grant, fake.is_public, fake.interactions_url = False, False, ""
        private = troubles(await examined(fake))[1]
    assert (private.trouble, private.state) == (PRIVATE_BOT, "note")


@pytest.mark.parametrize(("left", "state"), [(0, "failure"), (7, "warning")])
async def test_connections_that_are_used_up_are_named(left: int, state: str) -> None:
    async with FakeDiscord() as fake:
        fake.guild("Harbour")
        fake.sessions_left = left
        (result,) = troubles(await examined(fake))
    assert (result.trouble, result.state) == (NO_SESSIONS, state)
    assert result.says == f"{left} new connections are left for the next 2.0 h"


async def test_a_bot_that_needs_more_connections_says_how_many() -> None:
    async with FakeDiscord() as fake:
        fake.guild("Harbour")
        fake.advised_shards = 3
        (result,) = troubles(await examined(fake))
        assert not troubles(await examined(fake, shards=3))
    assert (result.trouble, result.says) == (
        TOO_MANY_SERVERS,
        "Discord advises 3 connections; 1 is set",
    )


async def test_a_bot_in_no_server_gets_its_link() -> None:
    async with FakeDiscord() as fake:
        found = await examined(fake)
    (result,) = troubles(found)
    assert (result.trouble, result.state) == (NO_SERVER, "warning")
    assert found.invite


async def test_what_the_bot_may_not_do_is_named_with_the_server() -> None:
    async with FakeDiscord() as fake:
        guild = fake.guild("Harbour")
        guild.roles[guild.id].permissions &= ~(
            Permission.SEND_MESSAGES | Permission.READ_MESSAGE_HISTORY
        )
        fake.guild("Market", bot_permissions=int(Permission.ADMINISTRATOR))
        (result,) = troubles(await examined(fake))
    assert (result.trouble, result.state) == (NO_PERMISSION, "warning")
    assert result.says == ("Harbour lacks Send Messages, Read Message History (2 servers in all)")


def test_every_trouble_has_an_id_of_its_own() -> None:
    assert len({trouble.id for trouble in TROUBLES}) == len(TROUBLES)
