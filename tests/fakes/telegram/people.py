"""What people do on the fake Telegram, and the updates the bot gets of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from tests.fakes.base.http import JsonObject
from tests.fakes.telegram.entities import detected, units
from tests.fakes.telegram.parts import PartPeople
from tests.fakes.telegram.posting import ANONYMOUS, AS_CHANNEL
from tests.fakes.telegram.world import Chat, Message, Press, Topic, User

_PHOTO_SIZES: Final = ((90, 67), (320, 240), (1280, 960))


class People(PartPeople):
    """Have people act; each action changes the world, makes its updates and returns the message.

    A chat can be given as itself or by its id. `date` of what happens runs with the clock.
    """

    # -- messages --------------------------------------------------------------------------

    def say(
        self,
        chat: Chat | int,
        user: User,
        text: str,
        *,
        entities: Sequence[JsonObject] | None = None,
        mentions: Mapping[str, User] | None = None,
        reply_to: int | None = None,
        topic: int | None = None,
        forward_from: User | Chat | str | None = None,
        quote: str | None = None,
        extra: JsonObject | None = None,
    ) -> JsonObject:
        """Have someone write.

        Entities are found in the text unless given; `mentions` maps words to the users they
        mean (text_mention). `forward_from` is a user, a chat, or the name of a hidden user;
        `quote` the part of the answered message that is quoted. `extra` goes into the message.
        """
        if entities is None:
            users = {word: named.as_json() for word, named in (mentions or {}).items()}
            entities = detected(text, users)
        content: JsonObject = {"text": text}
        if entities:
            content["entities"] = list(entities)
        if quote is not None:
            content["quote"] = _quote(self.chat(chat).messages.get(reply_to or 0), quote)
        if forward_from is not None:
            content["forward_origin"] = _origin(forward_from, self.now)
        return self._post(chat, user, content | (extra or {}), reply_to, topic)

    def send_photo(
        self,
        chat: Chat | int,
        user: User,
        *,
        data: bytes,
        caption: str = "",
        media_group: str | None = None,
        topic: int | None = None,
    ) -> JsonObject:
        """Have someone send a photo; the API lists its sizes from small to large.

        Only the largest has the data as it is given.
        """
        shown = []
        for width, height in _PHOTO_SIZES:
            largest = (width, height) == _PHOTO_SIZES[-1]
            file = self.world.file(data if largest else data[:1000], "photos/file_{}.jpg")
            shown.append(file.as_json() | {"width": width, "height": height})
        content: JsonObject = {"photo": shown} | _caption(caption)
        if media_group is not None:
            content["media_group_id"] = media_group
        return self._post(chat, user, content, None, topic)

    def send_document(
        self,
        chat: Chat | int,
        user: User,
        *,
        data: bytes,
        name: str = "file.txt",
        mime: str = "text/plain",
        caption: str = "",
        size: int | None = None,
        topic: int | None = None,
    ) -> JsonObject:
        """Have someone send a file; a `size` of more than 20 MB cannot be downloaded."""
        suffix = name.rpartition(".")[2]
        file = self.world.file(data, "documents/file_{}." + suffix, size)
        document = file.as_json() | {"file_name": name, "mime_type": mime}
        return self._post(chat, user, {"document": document} | _caption(caption), None, topic)

    def send_voice(
        self, chat: Chat | int, user: User, *, data: bytes, duration: int = 1
    ) -> JsonObject:
        """Have someone send a voice message of some seconds."""
        file = self.world.file(data, "voice/file_{}.oga")
        voice = file.as_json() | {"duration": duration, "mime_type": "audio/ogg"}
        return self._post(chat, user, {"voice": voice})

    def send(
        self,
        chat: Chat | int,
        user: User,
        content: JsonObject,
        *,
        reply_to: int | None = None,
        topic: int | None = None,
    ) -> JsonObject:
        """Have someone send a message with these fields: rich text, a poll, a place, a pin."""
        return self._post(chat, user, content, reply_to, topic)

    def change(self, chat: Chat | int, message_id: int, content: JsonObject) -> JsonObject:
        """Have someone edit a message so that it has these fields; None takes a field away."""
        chat = self.chat(chat)
        message = chat.messages[message_id]
        message.json |= content | {"edit_date": self.now}
        for name in [name for name, value in content.items() if value is None]:
            del message.json[name]
        message.edits += 1
        message.history.append(message.text)
        self._tell(chat, message, "edited_message")
        return message.json

    def edit(self, chat: Chat | int, message_id: int, text: str) -> JsonObject:
        """Have someone change the text or the caption of a message."""
        chat = self.chat(chat)
        message = chat.messages[message_id]
        named = ("text", "entities") if "text" in message.json else ("caption", "caption_entities")
        found = detected(text)
        message.json |= {named[0]: text, "edit_date": self.now}
        message.json.pop(named[1], None)
        message.json |= {named[1]: found} if found else {}
        message.edits += 1
        message.history.append(text)
        self._tell(chat, message, "edited_message")
        return message.json

    def delete(self, chat: Chat | int, message_id: int) -> None:
        """Have someone delete a message; Telegram does not tell bots."""
        self.world.remove(self.chat(chat), message_id)
        self.changed()

    def press(self, chat: Chat | int, user: User, message_id: int, label: str) -> Press:
        """Have someone press a button of a message, which must be seen there."""
        chat = self.chat(chat)
        message = chat.messages[message_id]
        if user.id != chat.id:
            chat.members.setdefault(user.id, (user, "member"))
        number = str(4_000_000_000_000_000_001 + len(self.world.presses))
        press = Press(number, user.id, chat.id, self.clock())
        self.world.presses[press.id] = press
        content: JsonObject = {
            "id": press.id,
            "from": user.as_json(),
            "message": dict(message.json),
            "chat_instance": str(chat.id),
            "data": message.buttons[label],
        }
        self._update("callback_query", content, chat.id)
        return press

    def promote(self, chat: Chat | int, user: User, status: str = "administrator") -> None:
        """Make someone an administrator of a group, or its creator, or a member again."""
        self.chat(chat).members[user.id] = user, status

    def say_as(self, chat: Chat | int, source: Chat, text: str) -> JsonObject:
        """Have somebody write in the name of this chat, or of another one."""
        chat = self.chat(chat)
        extra: JsonObject = {"sender_chat": source.as_json()}
        return self.say(chat, ANONYMOUS if source is chat else AS_CHANNEL, text, extra=extra)

    def post(self, channel: Chat | int, content: JsonObject) -> JsonObject:
        """Have a channel's people post in it: only its signature says which of them it was."""
        channel = self.chat(channel)
        content = {"sender_chat": channel.as_json()} | content
        made = self.world.post(
            channel, AS_CHANNEL, content, date=self.now, topic=None, reply_to=None
        )
        del made.json["from"]
        self._tell(channel, made, "channel_post")
        return made.json

    def react(self, chat: Chat | int, user: User, message_id: int, *emojis: str) -> None:
        """Have someone set their reactions to a message."""
        chat = self.chat(chat)
        content = {
            "chat": chat.as_json(),
            "message_id": message_id,
            "user": user.as_json(),
            "date": self.now,
            "old_reaction": [],
            "new_reaction": [{"type": "emoji", "emoji": emoji} for emoji in emojis],
        }
        self._update("message_reaction", content, chat.id)

    # -- chats change ----------------------------------------------------------------------

    def migrate(self, chat: Chat | int, user: User | None = None) -> Chat:
        """Make a supergroup of a group; both chats get a service message."""
        old = self.chat(chat)
        new_id = -1_000_000_000_000 + old.id - 1_000_000
        new = self.world.chat(
            Chat(new_id, "supergroup", old.title, bot_status=old.bot_status, members=old.members)
        )
        actor = user or ANONYMOUS
        self._post(old, actor, {"migrate_to_chat_id": new.id})
        self._post(new, actor, {"migrate_from_chat_id": old.id})
        old.migrated_to = new.id
        return new

    def join(self, chat: Chat | int, user: User | None = None, by: User | None = None) -> None:
        """Have someone join a group; without a user, let the bot be added by `by`."""
        chat = self.chat(chat)
        if user is None:
            self._set_bot(chat, "member", by)
            return
        self.world.user(user)
        chat.members[user.id] = user, "member"
        self._post(chat, user, {"new_chat_members": [user.as_json()]})

    def leave(self, chat: Chat | int, user: User | None = None, by: User | None = None) -> None:
        """Have someone leave a group; without a user, the bot is removed."""
        chat = self.chat(chat)
        if user is None:
            self._set_bot(chat, "left", by)
            return
        chat.members[user.id] = user, "left"
        self._post(chat, user, {"left_chat_member": user.as_json()})

    def kick_bot(self, chat: Chat | int, by: User | None = None) -> None:
        """Have an administrator throw the bot out."""
        self._set_bot(self.chat(chat), "kicked", by)

    def block_bot(self, user: User) -> None:
        """Have someone block the bot."""
        self._set_bot(self.private_chat(user), "kicked", user)

    def unblock_bot(self, user: User) -> None:
        """Have someone take the block away."""
        self._set_bot(self.private_chat(user), "member", user)

    def close_topic(self, chat: Chat | int, topic: Topic | int) -> None:
        """Have an administrator close a topic."""
        self._set_topic(chat, topic, True)

    def reopen_topic(self, chat: Chat | int, topic: Topic | int) -> None:
        """Have an administrator open a topic again."""
        self._set_topic(chat, topic, False)

    def rename_topic(self, chat: Chat | int, topic: Topic, name: str, user: User) -> None:
        """Have someone give a topic another name; the message that began it keeps the first one."""
        topic.name = name
        self._post(self.chat(chat), user, {"forum_topic_edited": {"name": name}}, topic=topic.id)

    def stop_draft(self, chat: Chat | int, draft_id: int, topic: int | None = None) -> None:
        """Have someone stop what the bot is writing."""
        chat = self.chat(chat)
        content: JsonObject = {"chat": chat.as_json(), "draft_id": draft_id}
        content |= {"message_thread_id": topic} if topic is not None else {}
        self._update("stopped_message_generation", content, chat.id)


def _caption(caption: str) -> JsonObject:
    if not caption:
        return {}
    found = detected(caption)
    return {"caption": caption} | ({"caption_entities": found} if found else {})


def _quote(answered: Message | None, quote: str) -> JsonObject:
    text = answered.text if answered is not None else ""
    at = max(text.find(quote), 0)
    return {"text": quote, "position": units(text[:at]), "is_manual": True}


def _origin(source: User | Chat | str, date: int) -> JsonObject:
    if isinstance(source, User):
        return {"type": "user", "date": date, "sender_user": source.as_json()}
    if isinstance(source, Chat):
        return {"type": "chat", "date": date, "sender_chat": source.as_json()}
    return {"type": "hidden_user", "date": date, "sender_user_name": source}
