"""What is backed up and restored."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from channels.message import InboundMessage
from tests.kit.editing_channel import QUESTION


def quiet(_what: str, _done: int, _whole: int) -> None:
    """Show no progress."""


def said(number: int, ago: timedelta = timedelta()) -> InboundMessage:
    moment = (datetime.now(UTC) - ago).isoformat()
    text, ext_id = f"question {number}", f"1/{number}"
    return replace(QUESTION, text=text, date=moment, ext_id=ext_id, message_id=str(number))
