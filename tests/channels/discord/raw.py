"""Raw events of Discord's gateway, as small as they can be."""

from __future__ import annotations

from typing import Any, Final

from channels.discord.guild_cache import GuildCache
from channels.discord.identity import DiscordSelf

Json = dict[str, Any]

BOT: Final = {"id": "1", "username": "Tapeway", "bot": True}
ADA: Final = {"id": "7", "username": "ada", "global_name": "Ada Lovelace"}
BOB: Final = {"id": "8", "username": "bob", "global_name": None}
SERVER, GENERAL, THREAD, FORUM, POST, PRIVATE = "100", "200", "300", "400", "500", "600"
HIDDEN: Final = "700"

ALL_RULES: Final = frozenset({"private", "mention", "reply", "name", "thread"})
ME: Final = DiscordSelf("1", "Tapeway", ("Tapeway", "Robin"), ALL_RULES)


def guild_cache() -> GuildCache:
    """Return a guild with a channel and its threads, a forum and its post, and a private chat."""
    found = GuildCache()
    found.bot_id = "1"
    found.apply(
        "GUILD_CREATE",
        {
            "id": SERVER,
            "name": "Ops",
            "roles": [
                {"id": "100", "name": "@everyone"},
                {"id": "101", "name": "Tapeway", "tags": {"bot_id": "1"}},
                {"id": "102", "name": "cooks"},
                {"id": "103", "name": "Other", "tags": {"bot_id": "2"}},
            ],
            "channels": [
                {"id": GENERAL, "type": 0, "name": "general"},
                {"id": FORUM, "type": 15, "name": "questions"},
            ],
            "threads": [
                {"id": THREAD, "type": 11, "name": "a thread", "parent_id": GENERAL},
                {"id": POST, "type": 11, "name": "a post", "parent_id": FORUM},
                {"id": HIDDEN, "type": 12, "name": "layoffs", "parent_id": GENERAL},
            ],
        },
    )
    found.add_channel({"id": PRIVATE, "type": 1})
    return found


def message(content: str = "hi", channel: str = GENERAL, **more: Any) -> Json:
    """Return a message; a value of None leaves its field out."""
    raw: Json = {
        "id": "5000",
        "channel_id": channel,
        "guild_id": SERVER if channel != PRIVATE else None,
        "author": ADA,
        "content": content,
        "timestamp": "2026-01-01T00:00:00.000000+00:00",
        "edited_timestamp": None,
        "type": 0,
        "mentions": [],
        "mention_roles": [],
        **more,
    }
    kept = ("edited_timestamp", "referenced_message")
    return {name: value for name, value in raw.items() if value is not None or name in kept}


def replying(to: Json, content: str = "hi", **more: Any) -> Json:
    """Return a reply."""
    reference = {"type": 0, "message_id": to["id"], "channel_id": to["channel_id"]}
    return message(content, type=19, message_reference=reference, referenced_message=to, **more)
