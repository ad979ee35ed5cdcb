"""Addresses: the id of a chat of ours, and where the Bot API sends what is written there.

Two kinds of chats are part of a Telegram chat, and still chats of their own, since not everybody
there reads them: what one subscriber and the admins of a channel write to each other (a topic of
the channel's direct messages), and what one person and the bot write in a group without anybody
else seeing it (ephemeral messages). Their ids begin with that of the Telegram chat:
`-1001.T141` is the topic 141, and `-1001.E141` belongs to the user 141.

https://core.telegram.org/bots/api#directmessagestopic
https://core.telegram.org/bots/api#ephemeral-messages-and-commands
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

Raw = Mapping[str, Any]

_PART: Final = re.compile(r"(-?\d+)\.([TE])(-?\d+)")
_OURS, _THEIRS = "o", "i"
_EPHEMERAL: Final = re.compile(rf"[{_OURS}{_THEIRS}](\d+)")


@dataclass(frozen=True, slots=True)
class Address:
    """Where the Bot API sends a message.

    chat      the chat's id there: a number, or a public chat's @name
    topic     the topic of a channel's direct messages
    receiver  the only person who sees what is sent; such a chat is a group
    """

    chat: int | str
    topic: int | None = None
    receiver: int | None = None

    @property
    def is_part(self) -> bool:
        """Return whether it is only a part of a Telegram chat, of which others see nothing."""
        return self.topic is not None or self.receiver is not None

    def of_send(self) -> dict[str, Any]:
        """Return the parameters of a send to this address."""
        found: dict[str, Any] = {"chat_id": self.chat}
        if self.topic is not None:
            found["direct_messages_topic_id"] = self.topic
        if self.receiver is not None:
            found["ephemeral_message_parameters"] = {"receiver_user_id": self.receiver}
        return found

    def of_message(self, message_id: str) -> dict[str, Any]:
        """Return the parameters that name a message that was sent to this address."""
        if self.receiver is None:
            return {"chat_id": self.chat, "message_id": int(message_id)}
        number = ephemeral_number(message_id) or 0
        person = {"receiver_user_id": self.receiver}
        return {"chat_id": self.chat, **person, "ephemeral_message_id": number}


def address_of(chat: str) -> Address:
    """Return the address of a chat of ours."""
    if found := _PART.fullmatch(chat):
        base, number = int(found[1]), int(found[3])
        return Address(base, number) if found[2] == "T" else Address(base, receiver=number)
    return Address(int(chat) if chat.lstrip("-").isdigit() else chat)


def moved(chat: str, to_chat: str) -> str:
    """Return the id of a chat of ours once its Telegram chat has another id."""
    _base, dot, part = chat.partition(".")
    return f"{to_chat}{dot}{part}" if _PART.fullmatch(chat) else to_chat


def chat_of(raw: Raw) -> str:
    """Return the id of the chat that a message belongs to."""
    base = int(raw["chat"]["id"])
    if is_ephemeral(raw):
        return f"{base}.E{_person_of(raw)}"
    topic = raw.get("direct_messages_topic")
    return f"{base}.T{int(topic['topic_id'])}" if topic else str(base)


def message_of(raw: Raw) -> str:
    """Return the id of a message in its chat; all ephemeral messages have the `message_id` 0."""
    if not is_ephemeral(raw):
        return str(int(raw["message_id"]))
    # Those that a person sends and those that the bot sends are counted apart.
    sent = _OURS if (raw.get("from") or {}).get("is_bot") else _THEIRS
    return f"{sent}{int(raw['ephemeral_message_id'])}"


def ephemeral_number(message_id: str) -> int | None:
    """Return Telegram's number of an ephemeral message, or None for another message's id."""
    found = _EPHEMERAL.fullmatch(message_id)
    return int(found[1]) if found else None


def is_ephemeral(raw: Raw) -> bool:
    """Return whether only one person and the bot see a message."""
    return raw.get("ephemeral_message_id") is not None


def names_of(raw: Raw) -> str:
    """Return whose part of a Telegram chat a message belongs to, or "" if it is for all there."""
    user = _user_of(raw) if is_ephemeral(raw) else _writer_of(raw.get("direct_messages_topic"))
    return " ".join(str(user[key]) for key in ("first_name", "last_name") if user.get(key))


def _person_of(raw: Raw) -> int:
    return int(_user_of(raw)["id"])


def _user_of(raw: Raw) -> Raw:
    """Return the person who sees an ephemeral message: its author, or its receiver."""
    author: Raw = raw.get("from") or {}
    receiver: Raw = raw.get("receiver_user") or {}
    return receiver if receiver and (author.get("is_bot") or not author) else author


def _writer_of(topic: Raw | None) -> Raw:
    user: Raw = (topic or {}).get("user") or {}
    return user
