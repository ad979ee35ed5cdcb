"""Read messages, which may be our own types or mappings from a script or plugin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from channels.message import OutboundMessage


def field_of(message: Any, name: str, default: Any = None) -> Any:
    if isinstance(message, Mapping):
        return message.get(name, default)
    return getattr(message, name, default)


def content_of(message: Any) -> str:
    """Return a message's text: its `text` or, if that is empty, its `content`."""
    return str(field_of(message, "text") or field_of(message, "content") or "")


def session_of(message: Any) -> str:
    """Return a message's default session: `channel:chat` or `channel:account/chat`."""
    channel = field_of(message, "channel", "unknown")
    chat = field_of(message, "chat_id", "default")
    account = field_of(message, "account", "")
    return f"{channel}:{account}/{chat}" if account else f"{channel}:{chat}"


def as_outbound(rendered: Any, inbound: Any) -> OutboundMessage:
    """Return a plugin's result as an outbound message; missing fields come from the inbound one."""
    if isinstance(rendered, OutboundMessage):
        return rendered
    given = {
        field.name: rendered[field.name]
        for field in fields(OutboundMessage)
        if isinstance(rendered, Mapping) and field.name in rendered
    }
    text = given.pop("text", None)
    if text is None:
        text = content_of(rendered) if isinstance(rendered, Mapping) else str(rendered)
    # An answer in another chat must not reply to a message in this one.
    origin = address_of(inbound)
    if {"channel", "chat_id"} & given.keys():
        origin = {name: origin[name] for name in ("channel", "chat_id", "account")}
    return OutboundMessage(**{**origin, **given, "text": text})


def address_of(inbound: Any) -> dict[str, Any]:
    """Return the address fields for an answer to a message."""
    return {
        "channel": field_of(inbound, "output_channel") or field_of(inbound, "channel", ""),
        "account": field_of(inbound, "account", ""),
        "chat_id": str(field_of(inbound, "chat_id", "")),
        "thread_id": field_of(inbound, "thread_id"),
        "reply_to": field_of(inbound, "message_id"),
        "answers": field_of(inbound, "ext_id"),
    }
