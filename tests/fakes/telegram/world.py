"""What exists on the fake Telegram: users, chats with their topics and messages, files."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from tests.fakes.base.http import JsonObject
from tests.fakes.telegram.rich_reader import shown

MAX_DOWNLOAD: Final = 20 * 1024 * 1024
DRAFT_SECONDS: Final = 30.0


@dataclass(slots=True)
class User:
    """Hold one account, a person's or a bot's."""

    id: int
    first_name: str
    username: str | None = None
    is_bot: bool = False
    last_name: str | None = None
    language_code: str | None = None

    def as_json(self) -> JsonObject:
        """Return the API's User object."""
        found: JsonObject = {"id": self.id, "is_bot": self.is_bot, "first_name": self.first_name}
        return found | _given(
            last_name=self.last_name, username=self.username, language_code=self.language_code
        )


@dataclass(slots=True)
class Topic:
    """Hold one topic of a forum; its id is that of the message that made it."""

    id: int
    name: str
    closed: bool = False


@dataclass(slots=True)
class Message:
    """Hold one message; `mine` are the bot's, `history` has its texts from first to last.

    `previews` tells that people see a preview of its first link.
    """

    message_id: int
    chat_id: int
    mine: bool
    json: JsonObject
    reply_to: int | None = None
    topic: int | None = None
    edits: int = 0
    history: list[str] = field(default_factory=list)
    silent: bool = False
    previews: bool = False
    markup: Any = None

    @property
    def text(self) -> str:
        """Return the text, the caption or the words of the blocks; "" for a message without."""
        if self.rich is not None:
            return shown(self.rich)
        return str(self.json.get("text", self.json.get("caption", "")))

    @property
    def rich(self) -> JsonObject | None:
        """Return what is kept of a rich message."""
        return self.json.get("rich_message")

    @property
    def content(self) -> JsonObject:
        """Return what a bot can edit: the text with its entities, or the rich message."""
        return {name: self.json[name] for name in _CONTENT if name in self.json}

    def say(self, content: JsonObject) -> None:
        """Say something else from now on."""
        for name in _CONTENT:
            self.json.pop(name, None)
        self.json |= content
        self.edits += 1
        self.history.append(self.text)

    @property
    def entities(self) -> list[JsonObject]:
        """Return the entities of text or caption."""
        found: list[JsonObject] = self.json.get("entities") or self.json.get("caption_entities", [])
        return list(found)

    @property
    def buttons(self) -> dict[str, str]:
        """Return the labels of the buttons below it, with their data."""
        rows = (self.markup or {}).get("inline_keyboard", [])
        return {button["text"]: button["callback_data"] for row in rows for button in row}

    def quoted(self) -> JsonObject:
        """Return the message as it stands in an answer to it, without what it answers itself."""
        return {name: value for name, value in self.json.items() if name != "reply_to_message"}

    def quoted_elsewhere(self) -> JsonObject:
        """Return what an answer in another topic says of the message: no text, but an origin.

        https://core.telegram.org/bots/api#externalreplyinfo
        """
        origin = self.json.get("forward_origin") or {
            "type": "user",
            "date": self.json["date"],
            "sender_user": self.json["from"],
        }
        files = {name: value for name, value in self.json.items() if name in _EXTERNAL}
        place = {"chat": self.json["chat"], "message_id": self.message_id}
        return {"origin": origin} | place | files


@dataclass(slots=True)
class Chat:
    """Hold one chat.

    `bot_status` is the bot's ChatMember status there. In a private chat it is "left" until the
    person has started the bot, and "kicked" while the person blocks it.
    """

    id: int
    kind: str
    title: str | None = None
    person: User | None = None
    forum: bool = False
    username: str | None = None
    bot_status: str = "member"
    direct_messages: bool = False
    migrated_to: int | None = None
    topics: dict[int, Topic] = field(default_factory=dict)
    members: dict[int, tuple[User, str]] = field(default_factory=dict)
    messages: dict[int, Message] = field(default_factory=dict)
    # The first message of a supergroup is that of its making; 1 is also the General topic.
    ids: Iterator[int] = field(default_factory=lambda: itertools.count(2))
    # What one person and the bot see, by receiver and number, and when it was sent.
    ephemerals: dict[tuple[int, int], tuple[Message, float]] = field(default_factory=dict)
    ephemeral_ids: dict[int, Iterator[int]] = field(default_factory=dict)

    def as_json(self) -> JsonObject:
        """Return the API's Chat object."""
        found: JsonObject = {"id": self.id}
        if self.person is not None:
            names = self.person.as_json()
            found |= {
                key: names[key] for key in ("first_name", "last_name", "username") if key in names
            }
        else:
            found |= _given(title=self.title, username=self.username)
        found["type"] = self.kind
        found |= {"is_direct_messages": True} if self.direct_messages else {}
        return found | ({"is_forum": True} if self.forum else {})


@dataclass(slots=True)
class File:
    """Hold one file; `size` is what the API says of it, whatever the data is."""

    file_id: str
    path: str
    data: bytes = field(repr=False)
    size: int = 0

    @property
    def name(self) -> str:
        """Return the last part of the path, without the number that makes it unique."""
        return self.path.rpartition("/")[2].partition("-")[2] or self.path.rpartition("/")[2]

    def as_json(self) -> JsonObject:
        """Return the API's File object, as far as every kind of file has it."""
        unique = f"u{self.file_id}"
        return {"file_id": self.file_id, "file_unique_id": unique, "file_size": self.size}


@dataclass(slots=True)
class Press:
    """Hold one press of a button; `shown` is what the bot answered it with, None before that."""

    id: str
    person: int
    chat_id: int
    at: float
    shown: str | None = None
    alert: bool = False


@dataclass(frozen=True, slots=True)
class Draft:
    """Hold one state of a message draft."""

    chat_id: int
    draft_id: int
    text: str
    entities: list[JsonObject]
    topic: int | None
    at: float
    can_stop: bool = False
    rich: JsonObject | None = None


class World:
    """Hold everything, and make messages with ids as Telegram gives them.

    Ids run per chat in supergroups, and over all chats together elsewhere.
    """

    def __init__(self, bot: User) -> None:
        self.bot = bot
        self.users: dict[int, User] = {bot.id: bot}
        self.chats: dict[int, Chat] = {}
        self.files: dict[str, File] = {}
        self.drafts: dict[tuple[int, int], Draft] = {}
        self.draft_history: list[Draft] = []
        self.removed: list[Message] = []
        self.presses: dict[str, Press] = {}
        self._common_ids = itertools.count(1)
        self._file_numbers = itertools.count(1)

    def user(self, user: User) -> User:
        """Add a user; one of the same id is replaced."""
        self.users[user.id] = user
        return user

    def chat(self, chat: Chat) -> Chat:
        """Add a chat, the bot being among its members."""
        if chat.kind != "supergroup":
            chat.ids = self._common_ids
        self.chats[chat.id] = chat
        return chat

    def find_chat(self, wanted: object) -> Chat | None:
        """Return the chat of an id or of an @username."""
        if isinstance(wanted, int):
            return self.chats.get(wanted)
        text = str(wanted)
        if text.lstrip("-").isdigit():
            return self.chats.get(int(text))
        name = text.removeprefix("@").lower()
        known = (chat for chat in self.chats.values() if chat.username)
        return next((chat for chat in known if str(chat.username).lower() == name), None)

    def post(
        self,
        chat: Chat,
        sender: User,
        content: JsonObject,
        *,
        date: int,
        topic: int | None = None,
        reply_to: int | None = None,
    ) -> Message:
        """Add a message to a chat."""
        message_id = next(chat.ids)
        json: JsonObject = {
            "message_id": message_id,
            "from": sender.as_json(),
            "chat": chat.as_json(),
            "date": date,
        }
        json |= self._place(chat, topic, reply_to)
        json |= content
        message = Message(message_id, chat.id, sender.id == self.bot.id, json, reply_to, topic)
        message.history.append(message.text)
        chat.messages[message_id] = message
        return message

    def _place(self, chat: Chat, topic: int | None, reply_to: int | None) -> JsonObject:
        """Return what says where in a chat a message stands.

        A message of a topic that answers nothing "answers" the message that made the topic; in
        a supergroup without topics an answer has a message_thread_id, which no send accepts.
        """
        place: JsonObject = {}
        if topic is not None:
            place = {"message_thread_id": topic, "is_topic_message": True}
            if reply_to is None:
                reply_to = topic
        answered = chat.messages.get(reply_to) if reply_to is not None else None
        if answered is None:
            return place
        if chat.forum and _topic_of(answered) != (topic or 1):
            # The server quotes by itself what cannot be seen from there.
            found = place | {"external_reply": answered.quoted_elsewhere()}
            start = {"text": answered.text[:1024], "position": 0}
            return found | ({"quote": start} if answered.text else {})
        if chat.kind == "supergroup" and not chat.forum:
            root = answered.json.get("message_thread_id", answered.message_id)
            place["message_thread_id"] = root
        return place | {"reply_to_message": answered.quoted()}

    def topic(self, chat: Chat, name: str, maker: User, date: int) -> Topic:
        """Make a topic, with the service message that begins it."""
        service = {"forum_topic_created": {"name": name, "icon_color": 7322096}}
        message = self.post(chat, maker, service, date=date)
        message.json |= {"message_thread_id": message.message_id, "is_topic_message": True}
        topic = Topic(message.message_id, name)
        chat.topics[topic.id] = topic
        return topic

    def remove(self, chat: Chat, message_id: int) -> Message | None:
        """Take a message out of its chat."""
        message = chat.messages.pop(message_id, None)
        if message is not None:
            self.removed.append(message)
        return message

    def file(self, data: bytes, path: str, size: int | None = None) -> File:
        """Add a file; `{}` in the path becomes its number."""
        number = next(self._file_numbers)
        size = len(data) if size is None else size
        file = File(f"file-{number}", path.format(number), data, size)
        self.files[file.file_id] = file
        return file

    def draft(self, draft: Draft) -> None:
        """Show a draft in place of the one before."""
        self.drafts[draft.chat_id, draft.draft_id] = draft
        self.draft_history.append(draft)

    def clear_drafts(self, chat_id: int) -> None:
        """Take all drafts out of a chat, as a real message does."""
        if self.drafts:
            gone = [key for key in self.drafts if key[0] == chat_id]
            for key in gone:
                del self.drafts[key]

    def member(self, chat: Chat, user_id: int) -> tuple[User, str]:
        """Return a user and its status in a chat; who is unknown has left."""
        if user_id == self.bot.id:
            return self.bot, chat.bot_status
        user = self.users.get(user_id) or User(user_id, "Deleted Account")
        return chat.members.get(user_id, (user, "left"))


_CONTENT: Final = ("text", "entities", "rich_message")

_EXTERNAL: Final = frozenset(
    (
        *("animation", "audio", "document", "live_photo", "photo", "sticker", "story", "video"),
        *("video_note", "voice", "contact", "dice", "game", "giveaway", "giveaway_winners"),
        *("invoice", "location", "paid_media", "poll", "checklist", "venue", "widget"),
    )
)
"""Fields that an answer from another topic or chat tells of a message."""


def _topic_of(message: Message) -> int:
    """Return the topic of a message in a forum; that which makes a topic belongs to it."""
    made = "forum_topic_created" in message.json
    return message.message_id if made else message.topic or 1


def _given(**fields: object) -> JsonObject:
    return {name: value for name, value in fields.items() if value is not None}
