"""What a burst of messages asks."""

from __future__ import annotations

from agent.tool import Role
from channels.message import Author, InboundMessage
from gateway.pipeline.turn import Question
from gateway.storage.ledger.rows import InboxRow


def asked(
    number: int, author: str = "a", session: str = "s", thread: str | None = None
) -> Question:
    message = InboundMessage(
        channel="web",
        chat_id="1",
        ext_id=f"1/{number}",
        message_id=str(number),
        sender=Author(author, author),
        text=f"text {number}",
        date="2026-01-01T00:00:00+00:00",
        thread_id=thread,
    )
    row = InboxRow(number, "web", session, number, "lane", None, "waiting", 0, message)
    return Question(session, "tape", "lane", Role.MEMBER, (row,))
