"""Where an answer goes: the thread of its question, in a channel; a direct message has none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from channels.message import InboundMessage, OutboundMessage
from channels.slack.inbound import TS

EVENT_TYPE: Final = "tapeway"
"""Under this name the metadata of every message of ours has its key."""


def is_direct(chat_id: str) -> bool:
    """Tell whether a conversation is one of one person with the app."""
    return chat_id.startswith("D")


def thread_of(message: OutboundMessage) -> str | None:
    """Return the thread that a message goes to: in a channel, that of its question."""
    if message.thread_id:
        return message.thread_id
    return None if is_direct(message.chat_id) else question_of(message)


def thread_for(message: InboundMessage) -> str | None:
    """Return the thread in which a message is answered."""
    if message.thread_id or message.chat_kind == "private":
        return message.thread_id
    return message.message_id or None


def question_of(message: OutboundMessage) -> str | None:
    """Return the stamp of the message that one answers; its later pieces know it, too."""
    for found in (message.reply_to or "", (message.answers or "").rpartition("/")[2]):
        if TS.fullmatch(found):
            return found
    return None


def named(message: OutboundMessage) -> str | None:
    """Return what a message says that it answers: a stamp, or the mark of a command."""
    if message.piece:
        return None
    return message.reply_to or (message.answers or "").rpartition("/")[2] or None


def metadata(key: str, question: str | None, *, draft: bool = False) -> dict[str, Any]:
    """Return what a message is found by again; `draft`: it is not whole yet."""
    payload: dict[str, Any] = {"key": key}
    if question:
        payload["reply_to"] = question
    if draft:
        payload["draft"] = True
    return {"event_type": EVENT_TYPE, "event_payload": payload}


def payload_of(raw: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return what the metadata of a message of ours holds; None where it has none."""
    found = raw.get("metadata")
    if not isinstance(found, Mapping) or found.get("event_type") != EVENT_TYPE:
        return None
    payload = found.get("event_payload")
    return payload if isinstance(payload, Mapping) else {}
