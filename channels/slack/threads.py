"""Chooses the thread of an answer, and attaches the answer's key to it as metadata."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from channels.message import InboundMessage, OutboundMessage
from channels.slack.event_fields import TS

EVENT_TYPE: Final = "tapeway"  # the event type of the metadata that all our messages carry


def is_direct(chat_id: str) -> bool:
    return chat_id.startswith("D")


def thread_of(message: OutboundMessage) -> str | None:
    """Return the thread to post a message in; in a channel, that is the question's thread."""
    if message.thread_id:
        return message.thread_id
    return None if is_direct(message.chat_id) else question_of(message)


def thread_for(message: InboundMessage) -> str | None:
    if message.thread_id or message.chat_kind == "private":
        return message.thread_id
    return message.message_id or None


def question_of(message: OutboundMessage) -> str | None:
    """Return the timestamp of the question, which all pieces of an answer share."""
    # The id of a change or of a command has a word between the channel and a stamp of no message.
    answered = (message.answers or "").removeprefix(f"{message.chat_id}/")
    for found in (message.reply_to or "", answered):
        if TS.fullmatch(found):
            return found
    return None


def named(message: OutboundMessage) -> str | None:
    """Return the question to store in the metadata: a timestamp, or the id of a command."""
    if message.piece:
        return None
    return message.reply_to or (message.answers or "").rpartition("/")[2] or None


def metadata(key: str, question: str | None, *, draft: bool = False) -> dict[str, Any]:
    """Return the metadata to find a message by; `draft` marks the message as incomplete."""
    payload: dict[str, Any] = {"key": key}
    if question:
        payload["reply_to"] = question
    if draft:
        payload["draft"] = True
    return {"event_type": EVENT_TYPE, "event_payload": payload}


def payload_of(raw: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the payload of our metadata on a message, or None if there is none."""
    found = raw.get("metadata")
    if not isinstance(found, Mapping) or found.get("event_type") != EVENT_TYPE:
        return None
    payload = found.get("event_payload")
    return payload if isinstance(payload, Mapping) else {}
