"""A message's row in the ledger."""

from __future__ import annotations

from channels.message import InboundMessage
from gateway.storage.ledger.rows import InboxRow


def row_of(message: InboundMessage) -> InboxRow:
    return InboxRow(3, "plain", None, None, None, None, "accepted", 0, message)
