"""Notify people whose answer the platform refused, where something can still be said."""

from __future__ import annotations

from typing import Final

from channels.errors import ChannelError, SendRefused
from channels.message import InboundMessage, OutboundMessage
from gateway.logs import get_log
from gateway.services import Services
from gateway.storage.ledger.rows import OutboxRow

PREFIX: Final = "n-refused:"
"""Begins the keys of these notices; one that is refused, too, has no notice of its own."""

REFUSED: Final = "I have an answer for you{place}, but I can't post it. {why} (Ref {ref})"
COMMAND: Final = "n-command:"


def is_refusal_notice(message: OutboundMessage) -> bool:
    """Return whether a message only says that an answer was refused."""
    return message.idem.startswith(PREFIX)


async def refusal_notices(
    services: Services, row: OutboxRow, refused: SendRefused
) -> list[OutboundMessage]:
    """Return the notice about a refused answer, if anybody can be notified.

    It replies to the question; where the chat takes nothing, it goes to the person alone. The
    pieces of an answer share one notice.
    """
    lost, trouble = row.message, refused.explanation
    is_answer = bool(row.turn_id) or lost.idem.startswith(COMMAND)
    if trouble is None or not lost.answers or not is_answer or is_refusal_notice(lost):
        return []
    asked = await services.ledger.inbox.by_key(lost.channel, lost.account, lost.answers)
    if asked is None:
        return []
    chat, place = lost.chat_id, ""
    if refused.closed:
        chat, place = await _private_chat(services, asked), f" in {asked.chat_title or chat}"
    if not chat:
        return []
    is_here = chat == lost.chat_id
    ref = row.turn_id or lost.idem
    notice = OutboundMessage(
        channel=lost.channel,
        chat_id=chat,
        text=REFUSED.format(place=place, why=f"{trouble.cause} {trouble.remedy}", ref=ref),
        idem=f"{PREFIX}{ref}",
        account=lost.account,
        thread_id=lost.thread_id if is_here else None,
        reply_to=asked.message_id if is_here else None,
        answers=lost.answers if is_here else None,
        kind="notice",
    )
    return [notice]


async def _private_chat(services: Services, asked: InboundMessage) -> str:
    """Return the id of the private chat with who asked in a group, or "" if there is none."""
    channel = services.router.channels.get(asked.channel)
    if channel is None or asked.chat_kind == "private" or asked.sender.is_bot:
        return ""
    try:
        return await channel.private_chat(asked.sender.id, asked.account)
    except ChannelError as cause:
        get_log().warning("delivery.person_not_notified", person=asked.sender.id, why=str(cause))
        return ""
