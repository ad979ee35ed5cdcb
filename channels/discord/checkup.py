"""Asks Discord about a bot: its token, intents, servers and rights. It opens no gateway socket."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from discord.flags import ApplicationFlags

from channels.checkup import Checkup
from channels.clock import SystemClock
from channels.discord.api import DiscordApi
from channels.discord.invitation import invite_link, missing_permissions
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
    TOO_MANY_SERVERS,
)
from channels.errors import ChannelError
from channels.findings import CHECK_SECONDS, CheckSeconds, Findings, clock_fact

FEW_SESSIONS: Final = 20
MAX_NAMED: Final = 5
"""Maximum number of servers that a line names."""


async def examine(settings: DiscordSettings, seconds: CheckSeconds = CHECK_SECONDS) -> Checkup:
    """Check a bot beside a running gateway or without one, in at most four requests."""
    found = Findings("discord", CONNECTION, seconds)
    if not settings.enabled:
        found.add("token", "no token is set", NO_TOKEN, "note")
        return found.checkup()
    api = DiscordApi(settings)
    await api.open(SystemClock())

    async def checks() -> None:
        if await _check_token(api, found):
            with found.asking("application"):
                await _check_application(api, found)
            with found.asking("sessions"):
                await _check_sessions(api, settings, found)
            with found.asking("servers"):
                await _check_servers(api, found)

    return await found.run(checks, api.close)


async def _ask(api: DiscordApi, found: Findings, path: str) -> Any:
    return await api.call("GET", path, seconds=found.seconds.request)


async def _check_token(api: DiscordApi, found: Findings) -> bool:
    try:
        api.check_token()
        me = await _ask(api, found, "/users/@me")
    except ChannelError as error:
        found.failed("token", error)
        return False
    me = me if isinstance(me, Mapping) else {}
    found.bot = str(me.get("global_name") or me.get("username") or "a bot without a name")
    if me.get("id"):
        found.bot_id = str(me["id"])
        found.invite = invite_link(str(me["id"]))  # the application's id, unless it is very old
    found.add(
        "token",
        f"the token is {found.bot}'s",
        id=me.get("id"),
        name=found.bot,
        **clock_fact(api.date),
    )
    return True


async def _check_application(api: DiscordApi, found: Findings) -> None:
    application = await _ask(api, found, "/applications/@me")
    flags = ApplicationFlags._from_value(int(application.get("flags") or 0))
    if application.get("id"):
        found.invite = invite_link(str(application["id"]))
    if flags.gateway_message_content or flags.gateway_message_content_limited:
        found.add("intents", "Message Content Intent is on")
    else:
        found.add("intents", "Message Content Intent is off", NO_CONTENT)
    if application.get("bot_require_code_grant") is True:
        found.add("invite", "Requires OAuth2 Code Grant is on", CODE_GRANT)
    elif application.get("bot_public") is False:
        found.add("invite", "only you can add it to a server", PRIVATE_BOT, "note")
    else:
        found.add("invite", "everybody with the link can add it to a server")
    if application.get("interactions_endpoint_url"):
        found.add("commands", "an Interactions Endpoint URL is set", COMMANDS_ELSEWHERE)


async def _check_sessions(api: DiscordApi, settings: DiscordSettings, found: Findings) -> None:
    info = await _ask(api, found, "/gateway/bot")
    limit = info["session_start_limit"]
    left, reset = int(limit["remaining"]), int(limit["reset_after"]) / 3_600_000
    advised = int(info["shards"])
    are = "connection is" if left == 1 else "connections are"
    says = f"{left} new {are} left for the next {reset:.1f} h"
    state: Any = "failure" if left == 0 else "warning"
    if left < FEW_SESSIONS:
        found.add("sessions", says, NO_SESSIONS, state, remaining=left)
    else:
        found.add("sessions", says, remaining=left)
    if advised > (settings.shards or 1):
        says = f"Discord advises {advised} connections; {settings.shards or 1} is set"
        found.add("shards", says, TOO_MANY_SERVERS, "warning", advised=advised)


async def _check_servers(api: DiscordApi, found: Findings) -> None:
    guilds = await _ask(api, found, "/users/@me/guilds")
    lacking = {
        str(guild["name"]): missing
        for guild in guilds
        if "permissions" in guild and (missing := missing_permissions(int(guild["permissions"])))
    }
    if not guilds:
        found.add("servers", "the bot is in no server", NO_SERVER, "warning", servers=0)
        return
    count = f"{len(guilds)} server{'s' if len(guilds) > 1 else ''}"
    if not lacking:
        found.add("servers", f"the bot may read and write in {count}", servers=len(guilds))
        return
    named = [f"{name} lacks {', '.join(what)}" for name, what in list(lacking.items())[:MAX_NAMED]]
    says = f"{'; '.join(named)} ({count} in all)"
    found.add("servers", says, NO_PERMISSION, "warning", servers=len(guilds), lacking=lacking)
