"""Parts of chats that not everybody there reads: a channel's direct messages, and ephemeral ones.

https://core.telegram.org/bots/api#directmessagestopic
https://core.telegram.org/bots/api#ephemeral-messages-and-commands
"""

from __future__ import annotations

import itertools

from tests.fakes.base.http import JsonObject
from tests.fakes.telegram.entities import detected
from tests.fakes.telegram.posting import Posting
from tests.fakes.telegram.world import Chat, Message, User


class PartPeople(Posting):
    """Have people act where not everybody of a chat sees it."""

    def direct_messages(self, title: str = "News", *, chat_id: int = -1009000000001) -> Chat:
        """Make the chat of a channel's direct messages, whose administrators include the bot."""
        chat = Chat(chat_id, "supergroup", title, bot_status="administrator")
        chat.direct_messages = True
        return self.world.chat(chat)

    def say_directly(
        self,
        chat: Chat,
        subscriber: User,
        text: str,
        *,
        writer: User | None = None,
        reply_to: int | None = None,
    ) -> JsonObject:
        """Have a subscriber write to the channel, or a `writer` for the channel answer there."""
        content: JsonObject = {"text": text, "direct_messages_topic": topic_json(subscriber)}
        if found := detected(text):
            content["entities"] = found
        return self._post(chat, writer or subscriber, content, reply_to)

    def say_ephemerally(
        self, chat: Chat | int, user: User, text: str, *, reply_to: Message | None = None
    ) -> JsonObject:
        """Have someone write in a group what only the bot sees."""
        chat = self.chat(chat)
        content: JsonObject = {"text": text}
        if found := detected(text):
            content["entities"] = found
        if reply_to is not None:
            content["reply_to_message"] = reply_to.quoted()
        bot = self.world.bot
        message = ephemeral(chat, user, bot, content, self.now, mine=False, at=self.clock())
        self._update("message", message.json, chat.id)
        return message.json


def topic_json(subscriber: User) -> JsonObject:
    return {"topic_id": subscriber.id, "user": subscriber.as_json()}


def ephemeral(
    chat: Chat,
    sender: User,
    receiver: User,
    content: JsonObject,
    date: int,
    *,
    mine: bool,
    at: float,
) -> Message:
    """Add an ephemeral message to a chat; ids run for each receiver."""
    ids = chat.ephemeral_ids.setdefault(receiver.id, itertools.count(1))
    number = next(ids)
    json: JsonObject = {
        "message_id": 0,
        "ephemeral_message_id": number,
        "from": sender.as_json(),
        "receiver_user": receiver.as_json(),
        "chat": chat.as_json(),
        "date": date,
        **content,
    }
    message = Message(0, chat.id, mine, json)
    message.history.append(message.text)
    chat.ephemerals[receiver.id, number] = (message, at)
    return message
