"""What is posted on the fake Discord: messages, whom they alert, and what the bot hears of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.base.http import JsonObject
from tests.fakes.discord.permissions import Permission
from tests.fakes.discord.places import Places
from tests.fakes.discord.session import Event, Intent
from tests.fakes.discord.text import mentioned, trimmed
from tests.fakes.discord.world import DEFAULT_TYPE, REPLY, Channel, Message, Ping, User


@dataclass(frozen=True, slots=True)
class Allowed:
    """Hold what a message may alert; None: all of a kind."""

    users: frozenset[int] | None = None
    roles: frozenset[int] | None = None
    everyone: bool = True
    replied: bool = True


@dataclass(slots=True)
class Alerts:
    """Hold what a message says of whom it mentions, and whom it alerts."""

    users: list[User] = field(default_factory=list)
    roles: list[int] = field(default_factory=list)
    everyone: bool = False
    pings: list[tuple[str, int]] = field(default_factory=list)


class Posting(Places):
    """Post for people and the bot, and announce what became of messages."""

    def post(
        self,
        channel: Channel,
        author: User,
        text: str,
        *,
        allowed: Allowed | None = None,
        reply_to: int | None = None,
        embeds: Sequence[JsonObject] = (),
        extra: JsonObject | None = None,
        nonce: str | None = None,
        number: int | None = None,
        quiet: bool = False,
        seen_by: int | None = None,
    ) -> Message:
        """Add a message to a channel and tell of it; a `quiet` one waits for nobody to take it."""
        answered = channel.messages.get(reply_to) if reply_to is not None else None
        alerts = self.alerts(channel, author, text, allowed or Allowed(), answered)
        message_id = self.world.snowflake() if number is None else number
        json: JsonObject = {
            "id": str(message_id),
            "channel_id": str(channel.id),
            "author": author.as_json(),
            "content": trimmed(text),
            "timestamp": self.world.stamp(),
            "edited_timestamp": None,
            "tts": False,
            "attachments": [],
            "embeds": list(embeds),
            "components": [],
            "pinned": False,
            "type": DEFAULT_TYPE,
            "flags": 0,
        }
        json |= self._named(alerts)
        if reply_to is not None:
            json |= {"type": REPLY, "message_reference": _reference(channel, reply_to)}
        json |= extra or {}
        mine = author.id == self.world.bot.id
        message = Message(message_id, channel.id, author, mine, json, self.clock(), reply_to, nonce)
        message.history.append(message.text)
        message.seen_by = seen_by
        message.pings = [Ping(kind, one, message_id) for kind, one in alerts.pings]
        channel.messages[message_id] = message
        channel.sent += 1
        if seen_by is None:
            channel.last_message_id = message_id
        self._come_in(channel, author, alerts)
        self.tell("MESSAGE_CREATE", message, waits=not mine and not quiet)
        return message

    def tell(self, name: str, message: Message, *, waits: bool = False) -> None:
        """Send the bot the part of a message that it may see."""
        channel = self.world.channels[message.channel_id]
        if message.seen_by is not None:
            return
        whole = self.world.event_json(message)
        if name == "MESSAGE_CREATE" and message.nonce is not None:
            whole["nonce"] = message.nonce
        intent = Intent.MESSAGES if channel.guild_id is not None else Intent.DM_MESSAGES
        spot = (channel.id, message.id) if waits else None
        event = Event(name, whole, intent, self.stripped(whole), spot)
        if spot is not None and self._sees(channel):
            self.untaken[spot] = self.unconfirmed[spot] = None
        self._to_bot(channel, event)

    def stripped(self, message: JsonObject) -> JsonObject:
        """Return a message as the bot sees it without the message content intent.

        What it said itself, what mentions it, and what is no guild's stays whole.
        """
        found = dict(message)
        quoted = message.get("referenced_message")
        if isinstance(quoted, dict):
            found["referenced_message"] = self.stripped(quoted)
        channel = self.world.channels.get(int(message["channel_id"]))
        own = str(self.world.bot.id)
        if channel is None or channel.guild_id is None or message["author"]["id"] == own:
            return found
        if any(user["id"] == own for user in message["mentions"]):
            return found
        return found | {"content": "", "attachments": [], "embeds": [], "components": []}

    def tell_reaction(
        self, name: str, channel: Channel, message_id: int, user: User, emoji: str
    ) -> None:
        """Announce a reaction that came or went."""
        data: JsonObject = {
            "user_id": str(user.id),
            "channel_id": str(channel.id),
            "message_id": str(message_id),
            "emoji": {"id": None, "name": emoji},
            "burst": False,
            "type": 0,
        }
        guild = self.world.guild_of(channel)
        if guild is not None:
            data["guild_id"] = str(guild.id)
            member = guild.members.get(user.id)
            if member is not None and name.endswith("_ADD"):
                data["member"] = member.as_json()
        intent = Intent.REACTIONS if guild is not None else Intent.DM_REACTIONS
        self._to_bot(channel, Event(name, data, intent))

    def alerts(
        self, channel: Channel, author: User, text: str, allowed: Allowed, answered: Message | None
    ) -> Alerts:
        """Return whom a text mentions and alerts, as far as it may."""
        named, found = mentioned(text), Alerts()
        guild = self.world.guild_of(channel)
        anybody = self.world.may(channel, author.id, Permission.MENTION_EVERYONE)
        for number in named.users:
            user = self.world.users.get(number)
            if user is not None and (allowed.users is None or number in allowed.users):
                found.users.append(user)
                found.pings.append(("user", number))
        if guild is None:
            return self._answering(found, answered, allowed)
        for number in named.roles:
            role = guild.roles.get(number)
            if role is None or not (allowed.roles is None or number in allowed.roles):
                continue
            found.roles.append(number)
            if role.mentionable or anybody:
                found.pings.append(("role", number))
        if named.everyone and anybody and allowed.everyone:
            found.everyone = True
            found.pings.append(("everyone", guild.id))
        return self._answering(found, answered, allowed)

    # -- parts -------------------------------------------------------------------------------

    def _answering(self, found: Alerts, answered: Message | None, allowed: Allowed) -> Alerts:
        if answered is not None and allowed.replied and answered.author not in found.users:
            found.users.append(answered.author)
            found.pings.append(("replied", answered.author.id))
        return found

    def _named(self, alerts: Alerts) -> JsonObject:
        return {
            "mentions": [user.as_json() for user in alerts.users],
            "mention_roles": [str(role) for role in alerts.roles],
            "mention_everyone": alerts.everyone,
        }

    def _come_in(self, channel: Channel, author: User, alerts: Alerts) -> None:
        """Make a writer a member of the guild; whom it mentions joins its thread with it."""
        guild = self.world.guild_of(channel)
        if guild is None:
            return
        if author.id not in guild.members and not author.is_webhook:
            self.join(guild, author)
        if channel.is_thread:
            for user in (author, *alerts.users):
                self.add_to_thread(channel, user)

    def _sees(self, channel: Channel) -> bool:
        guild = self.world.guild_of(channel)
        if guild is not None and (guild.left or guild.unavailable):
            return False
        return self.world.may(channel, self.world.bot.id, Permission.VIEW_CHANNEL)

    def _to_bot(self, channel: Channel, event: Event) -> None:
        if self._sees(channel):
            self.gateway.emit(event)
        self.changed()

    def _gone(self, name: str, channel: Channel, data: JsonObject) -> None:
        data["channel_id"] = str(channel.id)
        if channel.guild_id is not None:
            data["guild_id"] = str(channel.guild_id)
        intent = Intent.MESSAGES if channel.guild_id is not None else Intent.DM_MESSAGES
        self._to_bot(channel, Event(name, data, intent))


def _reference(channel: Channel, message_id: int) -> dict[str, Any]:
    found = {"type": 0, "channel_id": str(channel.id), "message_id": str(message_id)}
    return found | ({"guild_id": str(channel.guild_id)} if channel.guild_id is not None else {})
