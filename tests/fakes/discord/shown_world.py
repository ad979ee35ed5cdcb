"""Everything that the fake Discord knows, as the API shows it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from tests.fakes.base.http import JsonObject
from tests.fakes.discord.permissions import Permission
from tests.fakes.discord.world import FORUM, PRIVATE_THREAD, Channel, Guild, Member, Message, World


class ShownWorld(World):
    """Writes the objects of the API."""

    def channel_json(self, channel: Channel) -> JsonObject:
        """Return the API's channel object."""
        found: JsonObject = {"id": str(channel.id), "type": channel.kind, "flags": 0}
        last = channel.last_message_id
        found["last_message_id"] = str(last) if last is not None else None
        if channel.person is not None:
            return found | {"recipients": [channel.person.as_json()]}
        found |= {
            "guild_id": str(channel.guild_id),
            "name": channel.name,
            "parent_id": str(channel.parent_id) if channel.parent_id is not None else None,
            "rate_limit_per_user": 0,
        }
        if channel.is_thread:
            return found | self._thread_json(channel)
        found |= {
            "position": channel.position,
            "permission_overwrites": [item.as_json() for item in channel.overwrites],
            "nsfw": False,
            "topic": channel.topic,
        }
        return found | (_FORUM_JSON if channel.kind == FORUM else {})

    def _thread_json(self, thread: Channel) -> JsonObject:
        count = len(thread.messages)
        found: JsonObject = {
            "owner_id": str(thread.owner_id),
            "member_count": min(len(thread.members), 50),
            "message_count": count,
            "total_message_sent": thread.sent,
            "thread_metadata": {
                "archived": thread.archived,
                "auto_archive_duration": 4320,
                "archive_timestamp": thread.archived_at,
                "locked": thread.locked,
            },
        }
        if thread.kind == PRIVATE_THREAD:
            found["thread_metadata"]["invitable"] = True
        if self.bot.id in thread.members:
            found["member"] = self.thread_member(thread, self.bot.id)
        return found

    def thread_member(self, thread: Channel, user_id: int) -> JsonObject:
        """Return the API's thread member object."""
        return {
            "id": str(thread.id),
            "user_id": str(user_id),
            "join_timestamp": thread.archived_at,
            "flags": 0,
        }

    def guild_json(self, guild: Guild) -> JsonObject:
        """Return the API's guild object."""
        return _GUILD_JSON | {
            "id": str(guild.id),
            "name": guild.name,
            "owner_id": str(guild.owner_id),
            "system_channel_id": (
                str(guild.system_channel_id) if guild.system_channel_id is not None else None
            ),
            "roles": [role.as_json() for role in guild.roles.values()],
        }

    def guild_create(self, guild: Guild, members: Iterable[Member]) -> JsonObject:
        """Return what GUILD_CREATE says of a guild; the members are those that the bot may see."""
        channels = [self.channels[number] for number in guild.channels]
        seen = [one for one in channels if self.may(one, self.bot.id, Permission.VIEW_CHANNEL)]
        whole = [one for one in channels if not one.is_thread]
        return self.guild_json(guild) | {
            "joined_at": guild.joined,
            "large": False,
            "member_count": len(guild.members),
            "members": [member.as_json() for member in members],
            "channels": [self.channel_json(channel) for channel in whole],
            "threads": [
                self.channel_json(one) for one in seen if one.is_thread and not one.archived
            ],
            "voice_states": [],
            "presences": [],
            "stage_instances": [],
            "guild_scheduled_events": [],
            "soundboard_sounds": [],
        }

    def message_json(self, message: Message, *, quoting: bool = True) -> JsonObject:
        """Return the API's message object, with the message that it answers."""
        found = message.json | {"reactions": self._reactions(message)}
        if not message.reactions:
            del found["reactions"]
        if quoting and message.reply_to is not None:
            place = self.channels.get(message.channel_id)
            answered = place.messages.get(message.reply_to) if place is not None else None
            found["referenced_message"] = (
                self.message_json(answered, quoting=False) if answered is not None else None
            )
        return found

    def event_json(self, message: Message) -> JsonObject:
        """Return what MESSAGE_CREATE and MESSAGE_UPDATE say: the message, its guild, its member."""
        found = self.message_json(message)
        guild = self.guild_of(self.channels[message.channel_id])
        if guild is None:
            return found
        found["guild_id"] = str(guild.id)
        member = guild.members.get(message.author.id)
        if member is not None:
            found["member"] = member.as_json(with_user=False)
        return found

    def _reactions(self, message: Message) -> list[JsonObject]:
        return [
            {
                "emoji": {"id": None, "name": emoji},
                "count": len(users),
                "count_details": {"burst": 0, "normal": len(users)},
                "burst_colors": [],
                "me": self.bot.id in users,
                "me_burst": False,
            }
            for emoji, users in message.reactions.items()
        ]


_FORUM_JSON: Final[dict[str, Any]] = {
    "available_tags": [],
    "default_reaction_emoji": None,
    "default_sort_order": None,
    "default_forum_layout": 0,
}
_GUILD_JSON: Final[dict[str, Any]] = {
    "icon": None,
    "splash": None,
    "discovery_splash": None,
    "emojis": [],
    "stickers": [],
    "features": [],
    "description": None,
    "incidents_data": None,
    "region": "deprecated",
    "afk_channel_id": None,
    "afk_timeout": 300,
    "verification_level": 0,
    "default_message_notifications": 0,
    "explicit_content_filter": 0,
    "mfa_level": 0,
    "nsfw_level": 0,
    "application_id": None,
    "system_channel_id": None,
    "system_channel_flags": 0,
    "rules_channel_id": None,
    "vanity_url_code": None,
    "banner": None,
    "premium_tier": 0,
    "premium_subscription_count": 0,
    "preferred_locale": "en-US",
    "public_updates_channel_id": None,
    "max_members": 500000,
    "max_presences": None,
    "max_video_channel_users": 25,
}


def chosen_members(guild: Guild, wanted: JsonObject) -> list[Member]:
    """Return the members of a server that a request of the gateway asks for."""
    members = list(guild.members.values())
    ids = wanted.get("user_ids")
    if ids is not None:
        asked = {int(one) for one in (ids if isinstance(ids, list) else [ids])}
        members = [member for member in members if member.user.id in asked]
    elif query := str(wanted.get("query", "")).lower():
        members = [one for one in members if one.user.username.lower().startswith(query)]
    if limit := int(wanted.get("limit", 0)):
        members = members[:limit]
    return members
