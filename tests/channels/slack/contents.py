"""Slack's messages and their parts, and what is read of them."""

from __future__ import annotations

from typing import Any

from channels.content import Content
from channels.message import InboundMessage
from channels.slack.content import read_content
from channels.slack.inbound import of_event
from tests.channels.slack.events import event, me


def content(text: str = "", **more: Any) -> Content:
    return read_content(event(text, **more), me())


def message(text: str = "", **more: Any) -> InboundMessage:
    found = of_event(event(text, **more), me())
    assert found is not None
    return found


def rich(*elements: dict[str, Any]) -> dict[str, Any]:
    return {"type": "rich_text", "elements": list(elements)}


def section(*elements: dict[str, Any]) -> dict[str, Any]:
    return {"type": "rich_text_section", "elements": list(elements)}


def words(text: str, **style: bool) -> dict[str, Any]:
    return {"type": "text", "text": text} | ({"style": style} if style else {})


def mrkdwn(text: str) -> dict[str, Any]:
    return {"type": "mrkdwn", "text": text}


def plain(text: str) -> dict[str, Any]:
    return {"type": "plain_text", "text": text}


def share(text: str, author: str = "Bob", **more: Any) -> dict[str, Any]:
    given = {"is_share": True, "author_name": author, "author_id": "U2", "text": text}
    return {**given, "ts": "1690000000.000100", "fallback": "[July 22] bob: ..."} | more


# -- rich text and other blocks ----------------------------------------------------------------
