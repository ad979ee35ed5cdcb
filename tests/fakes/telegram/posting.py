"""What every action of people on the fake Telegram does: it changes the world and tells the bot."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Final

from tests.fakes.base.http import JsonObject
from tests.fakes.telegram.updates import Updates
from tests.fakes.telegram.world import Chat, Message, Topic, User, World

_FIRST_SUPERGROUP: Final = -1001000000001
# Who acts when nobody is named: an administrator that does not show who it is.
ANONYMOUS: Final = User(1087968824, "Group", "GroupAnonymousBot", is_bot=True)
# Who stands in the place of another chat.
AS_CHANNEL: Final = User(136817688, "Channel", "Channel_Bot", is_bot=True)


class Posting:
    """Make chats and messages in the world, and the updates that the bot gets of them."""

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
        if user not in (ANONYMOUS, AS_CHANNEL):
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
        actor = by or chat.person or ANONYMOUS
        content = {
            "chat": chat.as_json(),
            "from": actor.as_json(),
            "date": self.now,
            "old_chat_member": member_json(bot, chat.bot_status),
            "new_chat_member": member_json(bot, status),
        }
        chat.bot_status = status
        self._update("my_chat_member", content, chat.id)

    def _set_topic(self, chat: Chat | int, topic: Topic | int, closed: bool) -> None:
        chat = self.chat(chat)
        topic = topic if isinstance(topic, Topic) else chat.topics[topic]
        topic.closed = closed
        service: JsonObject = {"forum_topic_closed" if closed else "forum_topic_reopened": {}}
        self._post(chat, ANONYMOUS, service, topic=topic.id)


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
