"""What people do on the fake Discord, and the events the bot gets of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from tests.fakes.base.http import JsonObject
from tests.fakes.discord.commands import Commands, Interaction
from tests.fakes.discord.posting import Allowed, Posting
from tests.fakes.discord.session import Event, Intent
from tests.fakes.discord.text import trimmed
from tests.fakes.discord.world import (
    COMMAND_ANSWER,
    EPHEMERAL,
    HAS_THREAD,
    LOADING,
    STARTER,
    THREAD_CREATED,
    Channel,
    File,
    Message,
    User,
)

_LONGEST_TITLE: Final = 100


class People(Posting):
    """Have people act; each action changes the world and tells the bot what it may know.

    A channel can be given as itself or by its id. The date of what happens runs with the clock.
    """

    commands: Commands

    # -- messages ----------------------------------------------------------------------------

    def say(
        self,
        channel: Channel | int,
        user: User,
        text: str,
        *,
        reply_to: int | None = None,
        ping: bool = True,
        files: Sequence[File] = (),
        embeds: Sequence[JsonObject] = (),
        extra: JsonObject | None = None,
        id: int | None = None,  # noqa: A002 - the API's own name
    ) -> Message:
        """Have someone write.

        A mention is written as Discord sends it: `<@ID>`, `<@&ID>`, `@everyone`. An answer alerts
        whom it answers unless `ping` is False. `extra` goes into the message.
        """
        channel = self.channel(channel)
        if channel.archived:
            self.set_archived(channel, archived=False)
        allowed = Allowed(replied=ping)
        more: JsonObject = {"attachments": [file.as_json() for file in files]}
        if user.is_webhook:
            more["webhook_id"] = str(user.id)
        return self.post(
            channel,
            user,
            text,
            allowed=allowed,
            reply_to=reply_to,
            embeds=embeds,
            extra=more | (extra or {}),
            number=id,
        )

    def webhook(self, name: str) -> User:
        """Make a webhook, which speaks under a name of its own and is nobody's member."""
        user = self.user(name)
        user.is_webhook = True
        return user

    def attachment(
        self,
        data: bytes,
        name: str = "file.txt",
        mime: str | None = "text/plain",
        *,
        size: int | None = None,
        length: int | None = None,
        status: int = 200,
        dimensions: tuple[int, int] | None = None,
        pieces: Callable[[], Iterator[bytes]] | None = None,
        seconds_between: float = 0.0,
        encoding: str | None = None,
    ) -> File:
        """Upload a file, to be sent with `say`.

        `size` is what the API says of it, `length` what its download promises, both the data's
        own unless given; `pieces` are sent instead of the data, so many seconds apart. What is
        sent must be packed as `encoding`, the Content-Encoding, says.
        """
        said = len(data) if size is None else size
        file = File(self.world.snowflake(), name, data, said, mime)
        file.length = len(data) if length is None and pieces is None else length
        file.status, file.pieces, file.seconds_between = status, pieces, seconds_between
        file.encoding = encoding
        if dimensions is not None:
            file.width, file.height = dimensions
        file.url = f"{self.cdn_url}/attachments/{file.id}/{name}?ex=0&is=0&hm=0"
        self.world.files[file.id] = file
        return file

    def edit(self, channel: Channel | int, message_id: int, text: str) -> Message:
        """Have someone change what was said; whom it mentions now is not alerted."""
        channel = self.channel(channel)
        message = channel.messages[message_id]
        alerts = self.alerts(channel, message.author, text, Allowed(), None)
        message.json |= self._named(alerts) | {
            "content": trimmed(text),
            "edited_timestamp": self.world.stamp(),
        }
        message.edits += 1
        message.history.append(message.text)
        self.tell("MESSAGE_UPDATE", message)
        return message

    def embed_link(self, channel: Channel | int, message_id: int, title: str = "") -> None:
        """Have Discord add the preview of a link: an update in which nobody changed anything."""
        message = self.channel(channel).messages[message_id]
        preview = {"type": "link", "url": "https://example.org/"}
        message.json["embeds"] = [preview | ({"title": title} if title else {})]
        self.tell("MESSAGE_UPDATE", message)

    def announce(self, channel: Channel | int, app: User, user: User) -> Message:
        """Have another app announce its answer to a command: it is thinking."""
        asked = {"id": str(self.world.snowflake()), "type": 2, "user": user.as_json()}
        more = {"type": COMMAND_ANSWER, "flags": LOADING, "interaction_metadata": asked}
        return self.say(channel, app, "", extra=more)

    def fill_in(self, channel: Channel | int, message_id: int, text: str) -> None:
        """Bring the answer that an app has announced; Discord does not call that an edit."""
        message = self.channel(channel).messages[message_id]
        message.json |= {"content": trimmed(text), "flags": message.json["flags"] & ~LOADING}
        message.history.append(message.text)
        self.tell("MESSAGE_UPDATE", message)

    def delete(self, channel: Channel | int, message_id: int) -> None:
        """Have someone delete a message."""
        channel = self.channel(channel)
        message = channel.messages.pop(message_id)
        self.world.removed.append(message)
        self._gone("MESSAGE_DELETE", channel, {"id": str(message_id)})

    def delete_bulk(self, channel: Channel | int, message_ids: Sequence[int]) -> None:
        """Have a moderator delete several messages at once."""
        channel = self.channel(channel)
        for number in message_ids:
            self.world.removed.append(channel.messages.pop(number))
        self._gone("MESSAGE_DELETE_BULK", channel, {"ids": [str(one) for one in message_ids]})

    def react(self, channel: Channel | int, user: User, message_id: int, emoji: str) -> None:
        """Have someone react to a message."""
        channel = self.channel(channel)
        users = channel.messages[message_id].reactions.setdefault(emoji, [])
        if user.id not in users:
            users.append(user.id)
            self.tell_reaction("MESSAGE_REACTION_ADD", channel, message_id, user, emoji)

    def type_in(self, channel: Channel | int, user: User) -> None:
        """Have someone begin to type."""
        channel = self.channel(channel)
        data = {
            "channel_id": str(channel.id),
            "user_id": str(user.id),
            "timestamp": int(self.world.unix()),
        }
        if channel.guild_id is not None:
            data["guild_id"] = str(channel.guild_id)
        intent = Intent.TYPING if channel.guild_id is not None else Intent.DM_TYPING
        self._to_bot(channel, Event("TYPING_START", data, intent))

    # -- threads -----------------------------------------------------------------------------

    def thread(
        self,
        channel: Channel | int,
        user: User,
        name: str,
        *,
        private: bool = False,
        at: int | None = None,
    ) -> Channel:
        """Have someone begin a thread, at a message or by itself; the bot is in no private one."""
        channel = self.channel(channel)
        thread = self.make_thread(channel, name, user, private=private, message_id=at)
        reference = {"channel_id": str(thread.id), "guild_id": str(thread.guild_id)}
        if at is not None:
            begun = channel.messages[at]
            begun.json["flags"] = int(begun.json["flags"]) | HAS_THREAD
            begun.json["thread"] = self.world.channel_json(thread)
            self.tell("MESSAGE_UPDATE", begun)
            reference |= {"channel_id": str(channel.id), "message_id": str(at)}
            more: JsonObject = {"type": STARTER, "message_reference": reference}
            more["referenced_message"] = self.world.message_json(begun, quoting=False)
            self.post(thread, user, "", extra=more, quiet=True)
        elif not private:
            more = {"type": THREAD_CREATED, "message_reference": reference}
            self.post(channel, user, name, extra=more, quiet=True)
        return thread

    def forum_post(
        self, forum: Channel | int, user: User, title: str, text: str
    ) -> tuple[Channel, Message]:
        """Have someone post in a forum; the post's first message has the id of the post."""
        forum = self.channel(forum)
        thread = self.make_thread(forum, title[:_LONGEST_TITLE], user)
        return thread, self.say(thread, user, text, id=thread.id)

    # -- commands ----------------------------------------------------------------------------

    def slash(
        self, channel: Channel | int, user: User, name: str, options: JsonObject | None = None
    ) -> Interaction:
        """Have someone use a slash command that the bot has registered."""
        channel = self.channel(channel)
        return self.commands.use(channel, user, name, options or {})

    def press(
        self, channel: Channel | int, user: User, message: Message, label: str
    ) -> Interaction:
        """Have someone press the button with a label."""
        return self.commands.press(self.channel(channel), user, message, label)

    # -- events by themselves ----------------------------------------------------------------

    def redeliver(self, channel: Channel | int, message_id: int) -> None:
        """Deliver a message again: the same id, as a new event."""
        message = self.channel(channel).messages[message_id]
        self.tell("MESSAGE_CREATE", message, waits=not message.mine)

    def push_event(self, name: str, data: JsonObject) -> None:
        """Deliver an event as it is given."""
        self.gateway.emit(Event(name, data))
        self.changed()


def is_ephemeral(flags: int) -> bool:
    """Return whether a message's flags show it to one person only."""
    return bool(flags & EPHEMERAL)
