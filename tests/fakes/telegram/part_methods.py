"""What the Bot API does in parts of chats that not everybody there reads, and refuses there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from tests.fakes.base.http import JsonObject
from tests.fakes.telegram import rules
from tests.fakes.telegram.calls import Call
from tests.fakes.telegram.parts import ephemeral
from tests.fakes.telegram.rich import rich_content
from tests.fakes.telegram.rules import Refusal, bad_request
from tests.fakes.telegram.webhook_methods import WebhookMethods
from tests.fakes.telegram.world import Chat, Message

EPHEMERAL_SECONDS: Final = 15.0
"""Seconds in which a bot that is no administrator may answer an ephemeral message."""


def direct_topic(chat: Chat, params: JsonObject) -> JsonObject:
    """Return what a message to a subscriber says of its topic; a send there must name one."""
    if not chat.direct_messages:
        return {}
    wanted = params.get("direct_messages_topic_id")
    if wanted is None:
        raise bad_request("channel direct messages topic must be specified")
    known = (message.json.get("direct_messages_topic") for message in chat.messages.values())
    topic = next((one for one in known if one and one["topic_id"] == wanted), None)
    if topic is None:
        raise bad_request("direct messages topic not found")
    return {"direct_messages_topic": topic}


@dataclass(slots=True)
class PartMethods(WebhookMethods):
    """Answer the methods for ephemeral messages; say what a message's new content is.

    Without `knows_rich` the server is older than rich messages.
    """

    knows_rich: bool = True

    def has_rich(self, params: JsonObject) -> bool:
        """Return whether a call has a rich message that the server knows to read."""
        return self.knows_rich and "rich_message" in params

    def text_content(
        self, params: JsonObject, call: Call, too_long: str = "message is too long"
    ) -> JsonObject:
        """Return the fields of a message that keep the text of a call."""
        text = rules.given_text(params)
        fit, call.dropped_entities = rules.fit_text(text, params, too_long=too_long)
        return {"text": fit.text} | ({"entities": fit.entities} if fit.entities else {})

    def new_content(
        self, params: JsonObject, call: Call, too_long: str = "message is too long"
    ) -> JsonObject:
        """Return what an edited message says then, text or a rich message."""
        if not self.has_rich(params):
            return self.text_content(params, call, too_long)
        if params.get("text"):
            raise bad_request("text and rich_message can't be used together")
        return rich_content(params)

    def on_edit_ephemeral_message_text(self, params: JsonObject, call: Call) -> bool:
        message = self._own_ephemeral(params)
        message.say(self.new_content(params, call))
        message.markup = rules.keyboard(params)
        return True

    def on_delete_ephemeral_message(self, params: JsonObject, _call: Call) -> bool:
        message = self._own_ephemeral(params)
        chat = rules.open_chat(self.people.world, params)
        place = params["receiver_user_id"], message.json["ephemeral_message_id"]
        del chat.ephemerals[place]
        return True

    def send_ephemeral(self, chat: Chat, content: JsonObject, params: JsonObject) -> JsonObject:
        """Send a message that only one person sees, if the bot may."""
        world = self.people.world
        if chat.kind not in ("group", "supergroup") or chat.direct_messages:
            raise bad_request("ephemeral messages can be sent only in groups")
        receiver = world.users.get(params["ephemeral_message_parameters"].get("receiver_user_id"))
        if receiver is None or receiver.is_bot:
            raise bad_request("USER_ID_INVALID")
        self._check_right(chat, params)
        now, at = self.people.now, self.people.clock()
        message = ephemeral(chat, world.bot, receiver, content, now, mine=True, at=at)
        message.markup = rules.keyboard(params)
        return message.json

    def _check_right(self, chat: Chat, params: JsonObject) -> None:
        """Refuse what neither an administrator sends nor answers a new message."""
        answered = int((params.get("reply_parameters") or {}).get("ephemeral_message_id") or 0)
        found = chat.ephemerals.get((self.people.world.bot.id, answered))
        fresh = found is not None and self.people.clock() - found[1] <= EPHEMERAL_SECONDS
        if chat.bot_status != "administrator" and not fresh:
            raise Refusal(403, "Forbidden: not enough rights to send an ephemeral message")

    def _own_ephemeral(self, params: JsonObject) -> Message:
        chat = rules.open_chat(self.people.world, params)
        place = params.get("receiver_user_id", 0), params.get("ephemeral_message_id", 0)
        if place not in chat.ephemerals:
            raise bad_request("message to edit not found")
        return chat.ephemerals[place][0]
