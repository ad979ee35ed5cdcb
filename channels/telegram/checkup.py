"""Asks Telegram about a bot: its token, what it may read, its webhook. It never polls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from channels.checkup import Checkup
from channels.errors import ChannelError, ChannelUnfit, SendRefused
from channels.findings import CHECK_SECONDS, CheckSeconds, Findings, clock_fact
from channels.telegram.api import BotApi, Migrated, NotAsSent
from channels.telegram.polling import webhook_host
from channels.telegram.settings import TelegramSettings
from channels.telegram.troubles import (
    CONNECTION,
    NO_GROUPS,
    NO_TOKEN,
    PRIVACY_MODE,
    RICH_CHAT_UNKNOWN,
    TOKEN_REFUSED,
    WEBHOOK_ELSEWHERE,
    WEBHOOK_FAILS,
)

MAX_CHATS: Final = 10


async def examine(settings: TelegramSettings, seconds: CheckSeconds = CHECK_SECONDS) -> Checkup:
    """Check a bot beside a running gateway or without one.

    That takes two requests, and one for each of the first MAX_CHATS chats with rich messages.
    """
    found = Findings("telegram", CONNECTION, seconds)
    if not settings.enabled:
        found.add("token", "no token is set", NO_TOKEN, "note")
        return found.checkup()
    api = BotApi(settings)
    await api.open()

    async def checks() -> None:
        if await _check_bot(api, found):
            await _check_webhook(api, settings, found)
            await _check_rich_chats(api, settings, found)

    return await found.run(checks, api.close)


async def _check_bot(api: BotApi, found: Findings) -> bool:
    try:
        api.check_token()
        me = await api.call("getMe", seconds=found.seconds.request)
    except NotAsSent:  # Telegram's answer to a malformed token
        found.failed("token", ChannelUnfit(trouble=TOKEN_REFUSED))
        return False
    except ChannelError as error:
        found.failed("token", error)
        return False
    me = me if isinstance(me, Mapping) else {}
    username, found.bot_id = str(me.get("username") or ""), str(me.get("id") or "")
    found.bot = f"@{username}" if username else str(me.get("first_name") or "a bot without a name")
    found.invite = f"https://t.me/{username}?startgroup" if username else ""
    found.add(
        "token",
        f"the token is {found.bot}'s",
        id=me.get("id"),
        username=username,
        **clock_fact(api.date),
    )
    if me.get("can_read_all_group_messages") is False:
        found.add("privacy", "privacy mode is on", PRIVACY_MODE, "warning")
    else:
        found.add("privacy", "the bot reads every message of its groups")
    if me.get("can_join_groups") is False:
        found.add("groups", "groups are switched off", NO_GROUPS, "warning")
    else:
        found.add("groups", "the bot can be added to groups")
    return True


async def _check_webhook(api: BotApi, settings: TelegramSettings, found: Findings) -> None:
    try:
        info = await api.call("getWebhookInfo", seconds=found.seconds.request)
    except NotAsSent:
        return  # a server without webhooks
    except ChannelError as error:
        found.failed("webhook", error)
        return
    info = info if isinstance(info, Mapping) else {}
    url, ours = str(info.get("url") or ""), settings.webhook_url
    waiting = info.get("pending_update_count")
    facts: dict[str, Any] = {"waiting": waiting if isinstance(waiting, int) else 0}
    if not url:
        says = "no webhook: the gateway polls" if not ours else "it is set when the gateway starts"
        found.add("webhook", says, state="note" if ours else "ok", **facts)
    elif url != ours:
        found.add(
            "webhook", f"it is at {webhook_host(info)}", WEBHOOK_ELSEWHERE, "warning", **facts
        )
    elif (last := info.get("last_error_message")) and facts["waiting"]:
        found.add("webhook", str(last)[:200], WEBHOOK_FAILS, **facts)
    else:
        found.add("webhook", f"it is at {webhook_host(info)}", **facts)


async def _check_rich_chats(api: BotApi, settings: TelegramSettings, found: Findings) -> None:
    """Ask about the chats that get rich messages: an id that no chat has stays without effect."""
    chats = sorted(settings.rich_chats())
    if not chats:
        return
    wrong: list[str] = []
    for chat in chats[:MAX_CHATS]:
        try:
            await api.call("getChat", seconds=found.seconds.request, chat_id=chat)
        except Migrated as migrated:
            wrong.append(f"{chat} has become {migrated.chat_id}")
        except SendRefused as refused:
            wrong.append(f"{chat}: {str(refused)[:80]}")
        except ChannelError as error:
            found.failed("rich", error)
            return
    if wrong:
        found.add("rich", "; ".join(wrong), RICH_CHAT_UNKNOWN, "warning")
    else:
        found.add("rich", f"chats with rich messages: {len(chats)}")
