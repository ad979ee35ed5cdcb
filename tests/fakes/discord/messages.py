"""The requests of the fake Discord that are about messages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from tests.fakes.base.http import JsonObject
from tests.fakes.discord import rules
from tests.fakes.discord.people import People
from tests.fakes.discord.permissions import Permission
from tests.fakes.discord.requests import Call
from tests.fakes.discord.rules import Body, Refusal
from tests.fakes.discord.session import Intent
from tests.fakes.discord.world import (
    COMMAND_ANSWER,
    DEFAULT_TYPE,
    REPLY,
    SUPPRESS_EMBEDS,
    Channel,
    File,
    Message,
)

MOST_AT_ONCE: Final = 100
DEFAULT_LIMIT: Final = 50
_KEPT_FLAGS: Final = SUPPRESS_EMBEDS | rules.COMPONENTS_V2 | 1 << 12


@dataclass(frozen=True, slots=True)
class Sign:
    """Hold one sign that the bot is typing; Discord shows it for ten seconds."""

    channel_id: int
    at: float


class MessageRequests:
    """Answer the requests about messages; `on_KIND` takes a call and returns its result.

    For `nonce_seconds` a nonce that is enforced makes one message only.
    """

    def __init__(self, people: People, nonce_seconds: float) -> None:
        self.people = people
        self.world = people.world
        self.nonce_seconds = nonce_seconds
        self.typing: list[Sign] = []
        self._nonces: dict[str, Message] = {}

    # -- reading

    def on_history(self, call: Call) -> list[JsonObject]:
        channel = self._channel(call)
        places = [name for name in ("before", "after", "around") if name in call.query]
        limit = call.query.get("limit", str(DEFAULT_LIMIT))
        most = rules.whole_number("limit", limit, 1, MOST_AT_ONCE)
        marks: dict[str, int] = {name: rules.snowflake(name, call.query[name]) for name in places}
        may_read = self.world.may(channel, self.world.bot.id, Permission.READ_MESSAGE_HISTORY)
        seen = [one for one in channel.messages.values() if one.seen_by is None]
        found = sorted(seen, key=lambda one: one.id) if may_read else []
        page = _page(found, marks, most)
        for message in page:
            self._told(message)
        return [self._shown(message) for message in reversed(page)]

    def on_message(self, call: Call) -> JsonObject:
        channel = self._channel(call)
        rules.permitted(self.world, channel, Permission.READ_MESSAGE_HISTORY)
        message = self._message(channel, call)
        self._told(message)
        return self._shown(message)

    # -- writing

    def on_typing(self, call: Call) -> None:
        channel = self._channel(call)
        rules.writable(self.world, channel)
        self.typing.append(Sign(channel.id, self.people.clock()))

    def on_post(self, call: Call) -> JsonObject:
        channel = self._channel(call)
        rules.writable(self.world, channel)
        body = rules.checked_body(call.params)
        if (known := self._same(body)) is not None:
            call.message_id = known.id
            return self._shown(known) | {"nonce": known.nonce}
        files = self.files(call, channel)
        if body.says_nothing and not files:
            raise Refusal(400, 50006, "Cannot send an empty message")
        reply_to = rules.replied_to(channel, call.params)
        if reply_to is not None:
            rules.permitted(self.world, channel, Permission.READ_MESSAGE_HISTORY)
        if channel.archived:
            self.people.set_archived(channel, archived=False)
        message = self.send(channel, body, files, reply_to=reply_to)
        call.message_id = message.id
        shown = self._shown(message)
        return shown | ({"nonce": body.nonce} if body.nonce is not None else {})

    def on_edit(self, call: Call) -> JsonObject:
        channel = self._channel(call)
        message = self._message(channel, call)
        if not message.mine:
            raise Refusal(403, 50005, "Cannot edit a message authored by another user")
        if message.json["type"] not in (DEFAULT_TYPE, REPLY, COMMAND_ANSWER):
            raise Refusal(403, 50021, "Cannot execute action on a system message")
        if channel.archived:
            raise rules.archived()
        call.message_id = message.id
        return self.change(message, call)

    def on_delete(self, call: Call) -> None:
        channel = self._channel(call)
        message = self._message(channel, call)
        if not message.mine:
            rules.permitted(self.world, channel, Permission.MANAGE_MESSAGES)
        if channel.archived:
            raise rules.archived()
        self.people.delete(channel, message.id)

    def on_bulk_delete(self, call: Call) -> None:
        channel = self._channel(call)
        rules.permitted(self.world, channel, Permission.MANAGE_MESSAGES)
        wanted = call.params.get("messages")
        if not isinstance(wanted, list) or not 2 <= len(wanted) <= MOST_AT_ONCE:
            message = "You must provide at least 2 and fewer than 100 messages to delete."
            raise Refusal(400, 50016, message)
        numbers = [rules.snowflake("messages", one) for one in wanted]
        there = [number for number in numbers if number in channel.messages]
        self.people.delete_bulk(channel, there)

    def on_react(self, call: Call) -> None:
        channel = self._channel(call)
        rules.permitted(self.world, channel, Permission.READ_MESSAGE_HISTORY)
        message = self._message(channel, call)
        emoji = call.ids["emoji"]
        if emoji.isascii() and ":" not in emoji:
            raise Refusal(400, 10014, "Unknown Emoji")
        if emoji not in message.reactions:
            rules.permitted(self.world, channel, Permission.ADD_REACTIONS)
        if channel.archived:
            raise rules.archived()
        self.people.react(channel, self.world.bot, message.id, emoji)

    def on_unreact(self, call: Call) -> None:
        channel = self._channel(call)
        message = self._message(channel, call)
        emoji, bot = call.ids["emoji"], self.world.bot
        users = message.reactions.get(emoji, [])
        if bot.id in users:
            users.remove(bot.id)
            if not users:
                del message.reactions[emoji]
            name = "MESSAGE_REACTION_REMOVE"
            self.people.tell_reaction(name, channel, message.id, bot, emoji)

    # -- what answers to commands use, too

    def send(
        self,
        channel: Channel,
        body: Body,
        files: Iterable[File],
        *,
        reply_to: int | None = None,
        extra: JsonObject | None = None,
        seen_by: int | None = None,
        number: int | None = None,
    ) -> Message:
        """Add a message of the bot's."""
        message = self.people.post(
            channel,
            self.world.bot,
            body.content or "",
            allowed=body.allowed,
            reply_to=reply_to,
            embeds=body.embeds or (),
            extra={
                "attachments": [file.as_json() for file in files],
                "components": body.components or [],
                "flags": body.flags & _KEPT_FLAGS,
            }
            | (extra or {}),
            nonce=body.nonce,
            seen_by=seen_by,
            number=number,
        )
        if body.nonce is not None:
            self._nonces[body.nonce] = message
        return message

    def change(self, message: Message, call: Call) -> JsonObject:
        """Edit a message of the bot's; nobody is alerted by an edit."""
        body = rules.checked_body(call.params)
        channel = self.world.channels[message.channel_id]
        kept = message.json
        if "attachments" in call.params or call.files:
            wanted = {str(one.get("id")) for one in call.params.get("attachments") or []}
            still = [one for one in kept["attachments"] if one["id"] in wanted]
            kept["attachments"] = still + [one.as_json() for one in self.files(call, channel)]
        content = message.text if body.content is None else body.content
        embeds = kept["embeds"] if body.embeds is None else body.embeds
        components = kept["components"] if body.components is None else body.components
        if not content and not embeds and not components and not kept["attachments"]:
            raise Refusal(400, 50006, "Cannot send an empty message")
        kept |= {"embeds": embeds, "components": components}
        if "flags" in call.params:
            kept["flags"] = int(kept["flags"]) & ~SUPPRESS_EMBEDS | body.flags & _KEPT_FLAGS
        self.people.edit(channel, message.id, content)
        return self._shown(message)

    def files(self, call: Call, channel: Channel) -> list[File]:
        """Return the files that came with a call, stored."""
        if call.files and channel.guild_id is not None:
            rules.permitted(self.world, channel, Permission.ATTACH_FILES)
        if sum(len(upload.data) for upload in call.files) > 10 * 1024 * 1024:
            raise Refusal(413, 40005, "Request entity too large")
        return [
            self.people.attachment(upload.data, upload.filename, "application/octet-stream")
            for upload in call.files
        ]

    def _same(self, body: Body) -> Message | None:
        """Return the message that an enforced nonce has made already, even if it is deleted."""
        if not body.enforced or body.nonce is None:
            return None
        known = self._nonces.get(body.nonce)
        if known is None or self.people.clock() - known.at > self.nonce_seconds:
            return None
        return known

    # -- parts

    def _channel(self, call: Call) -> Channel:
        number = rules.snowflake("channel_id", call.ids["channel_id"])
        return rules.visible(self.world, number)

    def _message(self, channel: Channel, call: Call) -> Message:
        number = rules.snowflake("message_id", call.ids["message_id"])
        message = channel.messages.get(number)
        if message is None or message.seen_by is not None:
            raise rules.unknown_message()
        return message

    def _told(self, message: Message) -> None:
        spot = (message.channel_id, message.id)
        self.people.handed_over(spot)
        self.people.confirmed(spot)

    def _shown(self, message: Message) -> JsonObject:
        shown = self.world.message_json(message)
        if self.people.portal & Intent.CONTENT:
            return shown
        return self.people.stripped(shown)


def _page(found: list[Message], marks: dict[str, int], most: int) -> list[Message]:
    """Return a page of messages, the oldest first, as all that are found."""
    if (around := marks.get("around")) is not None:
        before = [one for one in found if one.id < around][-(most // 2) :] if most > 1 else []
        after = [one for one in found if one.id >= around]
        return [*before, *after[: most - len(before)]]
    if (after_id := marks.get("after")) is not None:
        return [one for one in found if one.id > after_id][:most]
    before_id = marks.get("before")
    return [one for one in found if before_id is None or one.id < before_id][-most:]
