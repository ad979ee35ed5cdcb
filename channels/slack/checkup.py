"""Asks Slack about an app: its tokens, scopes and channels. It opens no connection.

`apps.connections.open` only hands out an address, which is thrown away: a connection that nobody
opens gets no events and so takes none from a running gateway.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from channels.checkup import Checkup
from channels.clock import SystemClock
from channels.errors import ChannelError, SendDelayed
from channels.findings import CHECK_SECONDS, CheckSeconds, Findings, clock_fact
from channels.slack.api import ApiSessions, SlackApi
from channels.slack.api_methods import RateLimits, scopes
from channels.slack.installations import Installed, read_installations
from channels.slack.settings import SlackSettings
from channels.slack.token_check import check_tokens
from channels.slack.troubles import (
    CONNECTION,
    INSTALLATIONS,
    NO_BOT_TOKEN,
    NO_CHANNEL,
    NO_SCOPE,
    NO_TOKEN,
    NOT_LET_IN,
)
from channels.slack.workspaces import organization_of

CHANNEL_SCOPES: Final = {"channels:read": "public_channel", "groups:read": "private_channel"}
MAX_WORKSPACES: Final = 5
"""Maximum number of workspaces in the file of installations that are asked about."""


async def examine(settings: SlackSettings, seconds: CheckSeconds = CHECK_SECONDS) -> Checkup:
    """Check an app beside a running gateway or without one."""
    found = Findings("slack", CONNECTION, seconds)
    if not settings.enabled:
        found.add("tokens", "no token is set", NO_TOKEN, "note")
        return found.checkup()
    sessions = ApiSessions(settings)
    await sessions.open()
    return await found.run(lambda: _check(settings, sessions, found), sessions.close)


async def _check(settings: SlackSettings, sessions: ApiSessions, found: Findings) -> None:
    try:
        check_tokens(settings)
    except ChannelError as error:
        found.failed("tokens", error)
        if error.trouble is not NO_BOT_TOKEN:
            return
    for one in _installed(settings, found):
        api = SlackApi(one.token, settings, sessions, RateLimits(SystemClock()), lambda _text: None)
        if (me := await _check_bot(api, one, found)) is not None:
            with found.asking("channels"):
                await (_check_organization if organization_of(me) else _check_channels)(api, found)
    if token := settings.app_token.get_secret_value():
        api = SlackApi(token, settings, sessions, RateLimits(SystemClock()), lambda _text: None)
        await _check_app_token(api, found)
    elif settings.signing_secret.get_secret_value():
        found.add("events", "events come over HTTP, signed with the signing secret")


def _installed(settings: SlackSettings, found: Findings) -> list[Installed]:
    token = settings.bot_token.get_secret_value()
    installed = [Installed("", token)] if token else []
    if settings.installations is None:
        return installed
    try:
        listed = read_installations(settings.installations)
    except ChannelError as error:
        found.add("installations", str(error), INSTALLATIONS)
        return installed
    if len(listed) > MAX_WORKSPACES:
        says = f"{MAX_WORKSPACES} of {len(listed)} workspaces are checked"
        found.add("installations", says, state="note")
    return [*installed, *listed[:MAX_WORKSPACES]]


async def _check_bot(api: SlackApi, one: Installed, found: Findings) -> Mapping[str, Any] | None:
    """Return who the app is, or None if its token is refused."""
    try:
        me = await api.call("auth.test")
    except ChannelError as error:
        where = f"{one.title}: " if one.team else ""
        if error.trouble is None and not isinstance(error, SendDelayed):
            found.add("bot_token", f"{where}{error}", NOT_LET_IN)
        else:
            found.failed("bot_token", error)
        return None
    name, team = str(me.get("user") or "the app"), str(me.get("team") or me.get("team_id"))
    found.bot, found.invite = found.bot or f"@{name}", found.invite or f"/invite @{name}"
    if not one.team and me.get("team_id") and me.get("user_id"):
        found.bot_id = f"{me['team_id']}/{me['user_id']}"
    found.add(
        "bot_token",
        f"the token is @{name}'s in {team}",
        team=team,
        url=me.get("url"),
        **clock_fact(api.date),
    )
    if missing := sorted(scopes() - api.granted) if api.granted else []:
        says = f"{team} has not granted {', '.join(missing)}"
        found.add("scopes", says, NO_SCOPE, missing=missing)
    elif api.granted:
        found.add("scopes", f"all {len(scopes())} scopes are granted")
    return me


async def _check_organization(api: SlackApi, found: Findings) -> None:
    teams = (await api.call("auth.teams.list", limit=100)).get("teams") or ()
    says = f"the app is installed for an organization, and in {len(teams)} of its workspaces"
    found.add("workspaces", says, state="ok" if teams else "note")


async def _check_channels(api: SlackApi, found: Findings) -> None:
    readable = [kind for scope, kind in CHANNEL_SCOPES.items() if scope in api.granted]
    if not readable:
        return
    listed = await api.call(
        "users.conversations", types=",".join(readable), exclude_archived=True, limit=100
    )
    count = len(listed.get("channels") or ())
    if count:
        found.add("channels", f"the bot is in {count} channel{'s' if count > 1 else ''}")
    else:
        found.add("channels", "the bot is in no channel", NO_CHANNEL, "warning")


async def _check_app_token(api: SlackApi, found: Findings) -> None:
    try:
        await api.call("apps.connections.open")
    except SendDelayed as delay:  # a running gateway may just have asked
        says = f"Slack asks to wait for {delay.retry_after:g} s before it checks the token"
        found.add("app_token", says, state="note")
    except ChannelError as error:
        found.failed("app_token", error)
    else:
        found.add("app_token", "Slack accepts the app-level token")
