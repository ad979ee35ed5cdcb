"""What people do on the fake Telegram, and the updates the bot gets of it."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from tests.fakes.base.http import JsonObject
from tests.fakes.telegram.entities import detected, units
from tests.fakes.telegram.updates import Updates
from tests.fakes.telegram.world import Chat, Message, Press, Topic, User, World

_FIRST_SUPERGROUP: Final = -1001000000001
# Who acts when nobody is named: an administrator that does not show who it is.
_ANONYMOUS: Final = User(1087968824, "Group", "GroupAnonymousBot", is_bot=True)
# Who stands in the place of another chat.
_AS_CHANNEL: Final = User(136817688, "Channel", "Channel_Bot", is_bot=True)
_PHOTO_SIZES: Final = ((90, 67), (320, 240), (1280, 960))


class People:
    """Have people act; each action changes the world, makes its updates and returns the message.

    A chat can be given as itself or by its id. `date` of what happens runs with the clock.
    """

    def __init__(
        self, bot: User, clock: Callable[[], float], can_read_all_group_messages: bool
    ) -> None:
        self.world = World(bot)
        self.updates = Updates(clock)
        self.clock = clock
        self.can_read_all_group_messages = can_read_all_group_messages
        self.can_join_groups = True
        self.epoch = time.time() - clock()

    @property
    def now(self) -> int:
        """Return the Unix time of the clock."""
        return int(self.epoch + self.clock())

    def changed(self) -> None:
        """Wake whoever waits for a change."""

    # -- who and where ---------------------------------------------------------------------

    def user(
        self,
        id: int,  # noqa: A002 - the API's own name
        first_name: str,
        username: str | None = None,
        is_bot: bool = False,
        last_name: str | None = None,
        language_code: str | None = None,
    ) -> User:
        """Make a user."""
        return self.world.user(User(id, first_name, username, is_bot, last_name, language_code))

    def private_chat(self, user: User, *, started: bool = True) -> Chat:
        """Return the chat of bot and user; not `started`, the bot may not write there."""
        known = self.world.chats.get(user.id)
        if known is not None:
            return known
        status = "member" if started else "left"
        return self.world.chat(Chat(user.id, "private", person=user, bot_status=status))

    def group(
        self,
        chat_id: int = _FIRST_SUPERGROUP,
        title: str = "Group",
        forum: bool = False,
        kind: str = "supergroup",
        *,
        username: str | None = None,
        admin: bool = False,
        member: bool = True,
    ) -> Chat:
        """Make a group; the bot is in it, as an administrator with `admin`."""
        status = "administrator" if admin else "member" if member else "left"
        chat = Chat(chat_id, kind, title, forum=forum, username=username, bot_status=status)
        return self.world.chat(chat)

    def topic(self, chat: Chat | int, name: str, maker: User) -> Topic:
        """Have someone make a topic in a forum."""
        chat = self.chat(chat)
        topic = self.world.topic(chat, name, maker, self.now)
        self._tell(chat, chat.messages[topic.id])
        return topic

    def chat(self, chat: Chat | int) -> Chat:
        """Return the chat of an id."""
        return chat if isinstance(chat, Chat) else self.world.chats[chat]

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
        sizes: Sequence[tuple[int, int]] = _PHOTO_SIZES,
        size: int | None = None,
        reply_to: int | None = None,
        topic: int | None = None,
        extra: JsonObject | None = None,
    ) -> JsonObject:
        """Have someone send a photo; the API lists its sizes from small to large.

        Only the largest has the data as it is given; `size` is what it is said to have.
        """
        shown = []
        for width, height in sizes:
            largest = (width, height) == sizes[-1]
            file = self.world.file(
                data if largest else data[:1000], "photos/file_{}.jpg", size if largest else None
            )
            shown.append(file.as_json() | {"width": width, "height": height})
        content: JsonObject = {"photo": shown} | _caption(caption)
        if media_group is not None:
            content["media_group_id"] = media_group
        return self._post(chat, user, content | (extra or {}), reply_to, topic)

    def send_document(
        self,
        chat: Chat | int,
        user: User,
        *,
        data: bytes,
        name: str = "file.txt",
        mime: str = "text/plain",
        caption: str = "",
        media_group: str | None = None,
        size: int | None = None,
        reply_to: int | None = None,
        topic: int | None = None,
        extra: JsonObject | None = None,
    ) -> JsonObject:
        """Have someone send a file; a `size` of more than 20 MB cannot be downloaded."""
        suffix = name.rpartition(".")[2]
        file = self.world.file(data, "documents/file_{}." + suffix, size)
        document = file.as_json() | {"file_name": name, "mime_type": mime}
        content: JsonObject = {"document": document} | _caption(caption)
        if media_group is not None:
            content["media_group_id"] = media_group
        return self._post(chat, user, content | (extra or {}), reply_to, topic)

    def send_voice(
        self,
        chat: Chat | int,
        user: User,
        *,
        data: bytes,
        duration: int = 1,
        mime: str = "audio/ogg",
        caption: str = "",
        size: int | None = None,
        reply_to: int | None = None,
        topic: int | None = None,
        extra: JsonObject | None = None,
    ) -> JsonObject:
        """Have someone send a voice message of so many seconds."""
        file = self.world.file(data, "voice/file_{}.oga", size)
        voice = file.as_json() | {"duration": duration, "mime_type": mime}
        content = {"voice": voice} | _caption(caption) | (extra or {})
        return self._post(chat, user, content, reply_to, topic)

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
        return self.say(chat, _ANONYMOUS if source is chat else _AS_CHANNEL, text, extra=extra)

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
        actor = user or _ANONYMOUS
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

    def close_topic(self, chat: Chat | int, topic: Topic | int, by: User | None = None) -> None:
        """Have an administrator close a topic."""
        self._set_topic(chat, topic, True, by)

    def reopen_topic(self, chat: Chat | int, topic: Topic | int, by: User | None = None) -> None:
        """Have an administrator open a topic again."""
        self._set_topic(chat, topic, False, by)

    def stop_draft(self, chat: Chat | int, draft_id: int, topic: int | None = None) -> None:
        """Have someone stop what the bot is writing."""
        chat = self.chat(chat)
        content: JsonObject = {"chat": chat.as_json(), "draft_id": draft_id}
        if topic is not None:
            content["message_thread_id"] = topic
        self._update("stopped_message_generation", content, chat.id)

    # -- updates by themselves -------------------------------------------------------------

    def push_update(self, raw: JsonObject | bytes) -> int:
        """Deliver an update as it is given, and return its id; bytes may be no JSON at all."""
        update_id = self.updates.push(raw)
        self.changed()
        return update_id

    def redeliver(self, update_id: int, *, new_id: bool = False) -> int:
        """Deliver an update again, under its own id or a new one, and return that id."""
        again = self.updates.redeliver(update_id, new_id=new_id)
        self.changed()
        return again

    # -- parts -----------------------------------------------------------------------------

    def _post(
        self,
        chat: Chat | int,
        user: User,
        content: JsonObject,
        reply_to: int | None = None,
        topic: int | None = None,
    ) -> JsonObject:
        chat = self.chat(chat)
        if chat.person is user and chat.bot_status == "left":
            chat.bot_status = "member"
        if user not in (_ANONYMOUS, _AS_CHANNEL):
            chat.members.setdefault(user.id, (user, "member"))
        topic = None if topic == 1 else topic
        message = self.world.post(
            chat, user, content, date=self.now, topic=topic, reply_to=reply_to
        )
        self._tell(chat, message)
        return message.json

    def _tell(self, chat: Chat, message: Message, kind: str = "message") -> None:
        if self._sees(chat, message):
            self.updates.add(kind, message.json, chat.id)
        self.changed()

    def _update(self, kind: str, content: JsonObject, chat_id: int) -> None:
        self.updates.add(kind, content, chat_id)
        self.changed()

    def _sees(self, chat: Chat, message: Message) -> bool:
        """Return whether the bot gets a message: all but those that its privacy mode hides."""
        if chat.bot_status not in ("member", "administrator"):
            return False
        if self.can_read_all_group_messages or chat.bot_status == "administrator":
            return True
        return chat.kind == "private" or self._concerns_bot(message)

    def _concerns_bot(self, message: Message) -> bool:
        json = message.json
        if not any(name in json for name in ("text", "caption", "photo", "document", "voice")):
            return True
        answered = json.get("reply_to_message", {})
        if answered.get("from", {}).get("id") == self.world.bot.id:
            return True
        return any(self._calls_bot(message.text, entity) for entity in message.entities)

    def _calls_bot(self, text: str, entity: JsonObject) -> bool:
        encoded = text.encode("utf-16-le")
        start = entity["offset"] * 2
        part = encoded[start : start + entity["length"] * 2].decode("utf-16-le").lower()
        own = f"@{self.world.bot.username}".lower()
        if entity["type"] == "bot_command":
            return "@" not in part or part.endswith(own)
        if entity["type"] == "text_mention":
            return bool(entity["user"]["id"] == self.world.bot.id)
        return entity["type"] == "mention" and part == own

    def _set_bot(self, chat: Chat, status: str, by: User | None) -> None:
        bot = self.world.bot.as_json()
        actor = by or chat.person or _ANONYMOUS
        content = {
            "chat": chat.as_json(),
            "from": actor.as_json(),
            "date": self.now,
            "old_chat_member": member_json(bot, chat.bot_status),
            "new_chat_member": member_json(bot, status),
        }
        chat.bot_status = status
        self._update("my_chat_member", content, chat.id)

    def _set_topic(
        self, chat: Chat | int, topic: Topic | int, closed: bool, by: User | None
    ) -> None:
        chat = self.chat(chat)
        topic = topic if isinstance(topic, Topic) else chat.topics[topic]
        topic.closed = closed
        service: JsonObject = {"forum_topic_closed" if closed else "forum_topic_reopened": {}}
        self._post(chat, by or _ANONYMOUS, service, topic=topic.id)


def member_json(user: JsonObject, status: str) -> JsonObject:
    """Return the ChatMember object of a status."""
    found: JsonObject = {"user": user, "status": status}
    if status == "kicked":
        found["until_date"] = 0
    if status == "creator":
        found["is_anonymous"] = False
    if status == "administrator":
        found |= _ADMINISTRATOR
    return found


_ADMINISTRATOR: Final[dict[str, Any]] = {
    "can_be_edited": False,
    "is_anonymous": False,
    "can_manage_chat": True,
    "can_delete_messages": True,
    "can_manage_video_chats": False,
    "can_restrict_members": False,
    "can_promote_members": False,
    "can_change_info": False,
    "can_invite_users": True,
    "can_post_stories": False,
    "can_edit_stories": False,
    "can_delete_stories": False,
}


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
