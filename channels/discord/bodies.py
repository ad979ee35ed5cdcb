"""The bodies of the requests that post and edit messages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from discord.flags import MessageFlags
from discord.mentions import AllowedMentions

from channels.commands import with_choices
from channels.discord.format import LIMIT
from channels.message import Button, OutboundMessage
from channels.refusals import Step

NOBODY: Final = {**AllowedMentions.none().to_dict(), "replied_user": False}
NO_PREVIEW: Final = MessageFlags(suppress_embeds=True).value
MAX_LABEL: Final = 80
MAX_IN_ROW: Final = 5


@dataclass(frozen=True, slots=True)
class PostPlace:
    """Where a message is posted, and what it replies to."""

    channel_id: str
    reply_to: str | None

    @property
    def reply(self) -> dict[str, Any]:
        if not self.reply_to or not self.reply_to.isdigit():
            return {}
        reply = {"message_id": self.reply_to, "channel_id": self.channel_id}
        # The question may have been deleted.
        return {"message_reference": {**reply, "fail_if_not_exists": False}}

    def ways_out(self, message: OutboundMessage) -> set[Step]:
        """Return the other forms that a message can take from here."""
        ways: set[Step] = {"reopened", "bare", "parts", "token"}
        if self.reply:
            ways.add("unreplied")
        if self.channel_id != message.chat_id:
            ways.add("chat")
        return ways


def content_of(text: str, buttons: Sequence[Button]) -> dict[str, Any]:
    return {
        "content": text,
        "allowed_mentions": NOBODY,
        "flags": NO_PREVIEW,
        "components": _rows(buttons),
    }


def _rows(buttons: Sequence[Button]) -> list[dict[str, Any]]:
    shown = [
        {"type": 2, "style": 2, "label": one.label[:MAX_LABEL], "custom_id": one.token}
        for one in buttons
    ]
    rows = [shown[at : at + MAX_IN_ROW] for at in range(0, len(shown), MAX_IN_ROW)]
    return [{"type": 1, "components": row} for row in rows]


def bare_content(text: str, buttons: Sequence[Button]) -> dict[str, Any]:
    """Return the barest form of a content."""
    return {"content": with_choices(text, buttons)[:LIMIT], "allowed_mentions": NOBODY}


def nonce_fields(nonce: str | None) -> dict[str, Any]:
    return {} if nonce is None else {"nonce": nonce, "enforce_nonce": True}
