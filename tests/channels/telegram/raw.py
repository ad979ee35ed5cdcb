"""Raw updates of the Bot API, as small as they can be."""

from __future__ import annotations

from typing import Any, Final

from channels.message import InboundMessage
from channels.telegram.addressing import TelegramSelf
from channels.telegram.inbound import parse

Json = dict[str, Any]

BOT: Final = {"id": 1, "is_bot": True, "first_name": "Tapeway", "username": "tapeway_bot"}
ADA: Final = {"id": 7, "is_bot": False, "first_name": "Ada", "last_name": "Lovelace"}
BOB: Final = {"id": 8, "is_bot": False, "first_name": "Bob"}
PRIVATE: Final = {"id": 7, "type": "private", "first_name": "Ada"}
GROUP: Final = {"id": -100, "type": "supergroup", "title": "Ops"}
FORUM: Final = {**GROUP, "is_forum": True}
TOPIC: Final = {"message_thread_id": 40, "is_topic_message": True}

ALL_RULES: Final = frozenset({"private", "mention", "reply", "name", "topic"})
ME: Final = TelegramSelf(1, "tapeway_bot", ("Tapeway", "Robin"), ALL_RULES - {"topic"})


def said(text: str | None = "hi", chat: Json = GROUP, **more: Any) -> Json:
    """Return the update of a message; a value of None leaves its field out."""
    raw = {"message_id": 5, "date": 1767225600, "chat": chat, "from": ADA, "text": text, **more}
    return {"update_id": 90, "message": _given(raw)}


def edited(text: str, **more: Any) -> Json:
    """Return the update of an edit."""
    raw = said(text, **{"edit_date": 1767225700, **more})["message"]
    return {"update_id": 91, "edited_message": raw}


def entity(text: str, part: str, kind: str, **more: Any) -> Json:
    """Return the entity of a part of a text, in UTF-16 units."""
    before = text[: text.index(part)]
    return {"type": kind, "offset": units(before), "length": units(part), **more}


def units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _given(raw: Json) -> Json:
    return {name: value for name, value in raw.items() if value is not None}


def read(update: Json, me: TelegramSelf = ME) -> InboundMessage:
    """Return what the adapter reads in an update."""
    message = parse(update, me)
    assert message is not None
    return message
