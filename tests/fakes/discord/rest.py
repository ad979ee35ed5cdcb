"""The other requests of the fake Discord: the bot, channels, threads, guilds, commands."""

from __future__ import annotations

from typing import Any

from tests.fakes.base.http import JsonObject
from tests.fakes.discord import rules
from tests.fakes.discord.answers import Answers
from tests.fakes.discord.commands import fits
from tests.fakes.discord.permissions import EVERYTHING, Permission
from tests.fakes.discord.requests import Call
from tests.fakes.discord.rules import Refusal
from tests.fakes.discord.world import FORUM, TEXT, Channel, Guild


class Requests(Answers):
    """Answer every request; `on_KIND` takes a call and returns its result, None for no body."""

    # -- the bot

    def on_me(self, _call: Call) -> JsonObject:
        return self.world.bot.as_json() | {"verified": True, "mfa_enabled": False, "email": None}

    def on_user(self, call: Call) -> JsonObject:
        user = self.world.users.get(rules.snowflake("user_id", call.ids["user_id"]))
        if user is None:
            raise rules.unknown("User", 10013)
        return user.as_json()

    def on_own_guilds(self, _call: Call) -> list[JsonObject]:
        present = [guild for guild in self.world.guilds.values() if not guild.left]
        bot = self.world.bot.id
        return [
            {"id": str(one.id), "name": one.name, "icon": None, "owner": one.owner_id == bot}
            | {"permissions": str(self._of_roles(one))}
            for one in present
        ]

    def _of_roles(self, guild: Guild) -> int:
        """Return the bot's permissions in a guild, without what its channels change."""
        held = guild.roles[guild.id].permissions
        for role in guild.members[self.world.bot.id].roles:
            held |= guild.roles[role].permissions
        return EVERYTHING if held & Permission.ADMINISTRATOR else int(held)

    def on_gateway(self, _call: Call) -> JsonObject:
        return {"url": self.people.gateway_url.rstrip("/")}

    def on_gateway_bot(self, _call: Call) -> JsonObject:
        left = self.people.sessions_left
        limit = {"total": 1000, "remaining": left, "reset_after": 7_200_000, "max_concurrency": 1}
        url = self.people.gateway_url.rstrip("/")
        return {"url": url, "shards": self.people.advised_shards, "session_start_limit": limit}

    def on_application(self, _call: Call) -> JsonObject:
        owner = self.people.user("Owner", id=1)
        return {
            "id": str(self.people.application_id),
            "name": "Tapeway",
            "icon": None,
            "description": "",
            "summary": "",
            "bot_public": self.people.is_public,
            "bot_require_code_grant": self.people.requires_code_grant,
            "verify_key": "0" * 64,
            "owner": owner.as_json(),
            "flags": self.people.flags,
            "interactions_endpoint_url": self.people.interactions_url or None,
        }

    def on_dm(self, call: Call) -> JsonObject:
        number = rules.snowflake("recipient_id", call.params.get("recipient_id"))
        user = self.world.users.get(number)
        if user is None:
            code, message = "USER_UNKNOWN", "Unknown user"
            raise rules.invalid_form("recipient_id", code, message)
        if user.id == self.world.bot.id or user.is_webhook:
            raise Refusal(400, 50007, "Cannot send messages to this user")
        return self.world.channel_json(self.people.dm(user))

    # -- channels and threads

    def on_channel(self, call: Call) -> JsonObject:
        return self.world.channel_json(self._channel(call))

    def on_edit_channel(self, call: Call) -> JsonObject:
        channel = self._channel(call)
        if not channel.is_thread:
            rules.permitted(self.world, channel, Permission.MANAGE_CHANNELS)
        elif call.params == {"archived": False} and not channel.locked:
            rules.permitted(self.world, channel, Permission.SEND_MESSAGES)
        elif channel.owner_id != self.world.bot.id or channel.locked:
            rules.permitted(self.world, channel, Permission.MANAGE_THREADS)
        channel.name = str(call.params.get("name", channel.name))
        if channel.is_thread:
            archived = bool(call.params.get("archived", channel.archived))
            locked = bool(call.params.get("locked", channel.locked))
            self.people.set_archived(channel, archived=archived, locked=locked)
        return self.world.channel_json(channel)

    def on_message_thread(self, call: Call) -> JsonObject:
        channel = self._channel(call)
        rules.permitted(self.world, channel, Permission.CREATE_PUBLIC_THREADS)
        message = self._message(channel, call)
        if message.id in self.world.channels:
            raise Refusal(400, 160004, "A thread has already been created for this message")
        name = _thread_name(call)
        thread = self.people.thread(channel, self.world.bot, name, at=message.id)
        return self.world.channel_json(thread)

    def on_start_thread(self, call: Call) -> JsonObject:
        channel = self._channel(call)
        name = _thread_name(call)
        if channel.kind == FORUM:
            return self._forum_post(channel, name, call)
        if channel.kind != TEXT:
            raise Refusal(400, 50024, "Cannot execute action on this channel type")
        private = call.params.get("type", 12) == 12
        may = Permission.CREATE_PRIVATE_THREADS if private else Permission.CREATE_PUBLIC_THREADS
        rules.permitted(self.world, channel, may)
        thread = self.people.thread(channel, self.world.bot, name, private=private)
        return self.world.channel_json(thread)

    def on_join_thread(self, call: Call) -> None:
        thread = self._thread(call)
        if thread.archived:
            raise rules.archived()
        self.people.add_to_thread(thread, self.world.bot)

    def on_leave_thread(self, call: Call) -> None:
        thread = self._thread(call)
        if self.world.bot.id in thread.members:
            thread.members.remove(self.world.bot.id)

    def on_thread_member(self, call: Call) -> JsonObject:
        thread = self._thread(call)
        wanted = call.ids["user_id"]
        own = self.world.bot.id
        number = own if wanted == "@me" else rules.snowflake("user_id", wanted)
        if number not in thread.members:
            raise rules.unknown("Member", 10007)
        return self.world.thread_member(thread, number)

    def on_archived(self, call: Call) -> JsonObject:
        return self._archived(call, private=False)

    def on_archived_private(self, call: Call) -> JsonObject:
        rules.permitted(self.world, self._channel(call), Permission.MANAGE_THREADS)
        return self._archived(call, private=True)

    def on_joined_private(self, call: Call) -> JsonObject:
        return self._archived(call, private=True)

    # -- guilds

    def on_guild(self, call: Call) -> JsonObject:
        guild = self._guild(call)
        counts = {"approximate_member_count": len(guild.members), "approximate_presence_count": 1}
        return self.world.guild_json(guild) | counts

    def on_guild_channels(self, call: Call) -> list[JsonObject]:
        channels = [self.world.channels[number] for number in self._guild(call).channels]
        return [self.world.channel_json(one) for one in channels if not one.is_thread]

    def on_guild_roles(self, call: Call) -> list[JsonObject]:
        return [role.as_json() for role in self._guild(call).roles.values()]

    def on_active_threads(self, call: Call) -> JsonObject:
        found = [one for one in self.world.threads_of(self._guild(call)) if self._sees(one)]
        return self._threads(found)

    def on_members(self, call: Call) -> list[JsonObject]:
        guild = self._guild(call)
        limit = rules.whole_number("limit", call.query.get("limit", "1"), 1, 1000)
        after = rules.snowflake("after", call.query.get("after", "0"))
        found = sorted(number for number in guild.members if number > after)
        return [guild.members[number].as_json() for number in found[:limit]]

    def on_member(self, call: Call) -> JsonObject:
        guild = self._guild(call)
        member = guild.members.get(rules.snowflake("user_id", call.ids["user_id"]))
        if member is None:
            raise rules.unknown("Member", 10007)
        return member.as_json()

    def on_leave_guild(self, call: Call) -> None:
        self.people.kick_bot(self._guild(call))

    # -- commands

    def on_commands(self, call: Call) -> list[JsonObject]:
        return self.commands.registered.get(self._scope(call), [])

    def on_put_commands(self, call: Call) -> list[JsonObject]:
        given = call.params.get("_list")
        if not isinstance(given, list):
            raise Refusal(400, 50035, "Invalid Form Body")
        if len(given) > 100:
            raise Refusal(400, 30032, "Maximum number of application commands reached (100)")
        for number, one in enumerate(given):
            _checked_command(one, f"{number}.")
        return self.commands.replace(self._scope(call), given)

    def on_post_command(self, call: Call) -> JsonObject:
        _checked_command(call.params, "")
        return self.commands.add(self._scope(call), call.params)

    # -- parts

    def _thread(self, call: Call) -> Channel:
        channel = self._channel(call)
        if not channel.is_thread:
            raise rules.unknown_channel()
        return channel

    def _sees(self, channel: Channel) -> bool:
        return self.world.may(channel, self.world.bot.id, Permission.VIEW_CHANNEL)

    def _threads(self, found: list[Channel]) -> JsonObject:
        own = self.world.bot.id
        members = [one for one in found if own in one.members]
        return {
            "threads": [self.world.channel_json(one) for one in found],
            "members": [self.world.thread_member(one, own) for one in members],
        }

    def _archived(self, call: Call, *, private: bool) -> JsonObject:
        channel = self._channel(call)
        rules.permitted(self.world, channel, Permission.READ_MESSAGE_HISTORY)
        guild = self.world.guild_of(channel)
        if guild is None:
            raise Refusal(400, 50024, "Cannot execute action on this channel type")
        limit = rules.whole_number("limit", call.query.get("limit", "50"), 1, 100)
        before = call.query.get("before")
        found = [
            one
            for one in self.world.threads_of(guild, archived=True)
            if one.parent_id == channel.id
            and (one.kind == 12) is private
            and (before is None or one.archived_at < before)
        ]
        found.sort(key=lambda one: one.archived_at, reverse=True)
        return self._threads(found[:limit]) | {"has_more": len(found) > limit}

    def _forum_post(self, forum: Channel, name: str, call: Call) -> JsonObject:
        rules.permitted(self.world, forum, Permission.SEND_MESSAGES)
        inner = call.params.get("message")
        if not isinstance(inner, dict):
            raise rules.invalid_form("message", "BASE_TYPE_REQUIRED", "This field is required")
        body = rules.checked_body(inner)
        files = self.files(call, forum)
        if body.says_nothing and not files:
            raise Refusal(400, 50006, "Cannot send an empty message")
        thread = self.people.make_thread(forum, name, self.world.bot)
        message = self.send(thread, body, files, number=thread.id)
        call.message_id = message.id
        shown = self.world.channel_json(thread)
        return shown | {"message": self.world.message_json(message)}

    def _guild(self, call: Call) -> Guild:
        guild = self.world.guilds.get(rules.snowflake("guild_id", call.ids["guild_id"]))
        if guild is None or guild.left:
            raise rules.unknown("Guild", 10004)
        return guild

    def _scope(self, call: Call) -> int | None:
        number = rules.snowflake("application_id", call.ids["application_id"])
        if number != self.people.application_id:
            raise Refusal(403, 20012, "You are not authorized to perform this action")
        if "guild_id" not in call.ids:
            return None
        guild = self.world.guilds.get(rules.snowflake("guild_id", call.ids["guild_id"]))
        if guild is None or guild.left:
            raise rules.missing_access()
        return guild.id


def _thread_name(call: Call) -> str:
    name = call.params.get("name")
    if not name or not isinstance(name, str):
        raise rules.invalid_form("name", "BASE_TYPE_REQUIRED", "This field is required")
    if len(name) > 100:
        message = "Must be between 1 and 100 in length."
        raise rules.invalid_form("name", "BASE_TYPE_BAD_LENGTH", message)
    return name


def _checked_command(given: Any, where: str) -> None:
    if not isinstance(given, dict) or not fits(given.get("name")):
        message = "Command name is invalid"
        raise rules.invalid_form(f"{where}name", "APPLICATION_COMMAND_INVALID_NAME", message)
    if given.get("type", 1) == 1 and not 1 <= len(str(given.get("description", ""))) <= 100:
        message = "Must be between 1 and 100 in length."
        raise rules.invalid_form(f"{where}description", "BASE_TYPE_BAD_LENGTH", message)
