"""Asks Discord who administers a server: its owner, and members with certain permissions.

In a private thread, they must be members of it, too: who was removed from it has no part in it.

The permissions are those of the member's roles. A role's name proves nothing, and what the gateway
last reported may be out of date.
"""

from __future__ import annotations

from discord.permissions import Permissions

from channels.discord.api import ApiRefused, Code, DiscordApi
from channels.errors import ChannelDown


async def is_in_thread(api: DiscordApi, thread_id: str, person_id: str) -> bool:
    """Return whether a person is a member of a thread; raises ChannelError."""
    try:
        await api.ask(f"/channels/{thread_id}/thread-members/{person_id}")
    except ApiRefused as refused:
        if refused.code in (Code.UNKNOWN_MEMBER, Code.UNKNOWN_USER, Code.UNKNOWN_CHANNEL):
            return False
        raise
    return True


async def is_administrator(api: DiscordApi, guild_id: str, person_id: str) -> bool:
    """Return whether a person administers or manages a server; raises ChannelError."""
    guild = await api.ask(f"/guilds/{guild_id}")
    try:
        if str(guild["owner_id"]) == person_id:
            return True
        member = await api.ask(f"/guilds/{guild_id}/members/{person_id}")
        held = {guild_id, *(str(role) for role in member["roles"])}  # the first one is @everyone
        roles = [role for role in guild["roles"] if str(role["id"]) in held]
        allowed = [Permissions(int(role["permissions"])) for role in roles]
    except ApiRefused as refused:
        if refused.code in (Code.UNKNOWN_MEMBER, Code.UNKNOWN_USER):
            return False
        raise
    except (LookupError, TypeError, ValueError) as cause:
        raise ChannelDown("Discord's answer about a member is unreadable") from cause
    return any(one.administrator or one.manage_guild for one in allowed)
