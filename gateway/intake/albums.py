"""Parts of an album that come when others of it are on the tape already.

Such a part has an entry of its own, which says whose part it is. If the album has asked the agent,
a part without words asks nothing more: it is taken with the question that waits, shown to the
running turn at its next model step, or else shown to the next turn.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from channels.message import InboundMessage, Media
from gateway.intake.reassembly import album_of
from gateway.services import Services
from gateway.storage.ledger.rows import InboxRow
from tape.linking import LaneLink

LATE: Final = "a late part of an album"
NOTE: Final = "[more of an album: "
_ASKED_NOTHING: Final = ("taped", "refused")


@dataclass(frozen=True, slots=True)
class EarlierParts:
    """The parts of a message's album that are on the tape.

    first   the one that asked the agent, or else the first
    asked   whether one has asked the agent
    media   their attachments
    """

    first: InboxRow
    asked: bool
    media: tuple[Media, ...]

    @property
    def link(self) -> LaneLink | None:
        """The link to their lane, or None if the chat is a single conversation."""
        if self.first.lane is None:
            return None
        said = self.first.message
        return LaneLink(self.first.lane, f"{said.chat_id}/{said.message_id}", LATE)

    @property
    def note(self) -> str:
        """The line that says to the model how much of the album came before."""
        noun = "picture" if all(media.kind == "image" for media in self.media) else "file"
        count = len(self.media)
        many = f"1 {noun} of it was" if count == 1 else f"{count} {noun}s of it were"
        when = "seen before" if self.first.turn_id else "sent before"
        return f"\n{NOTE}{many} {when}]"

    def as_part(self, message: InboundMessage) -> InboundMessage:
        """Return the message as a part of the album: without words of its own, it asks nothing."""
        if not self.asked or message.text.strip():
            return message
        return replace(message, addressed=False, follows=False, why=LATE)


def note_in(content: str) -> str:
    """Return the `note` in a framed message, or ""."""
    last = content.rpartition("\n")[2]
    return f"\n{last}" if last.startswith(NOTE) else ""


async def earlier_parts(services: Services, row: InboxRow, session_id: str) -> EarlierParts | None:
    """Return what is on the tape of a message's album, or None."""
    if not album_of(row.message):
        return None
    rows = await services.ledger.inbox.album(row, session_id)
    if not rows:
        return None
    asked = [one for one in rows if one.status not in _ASKED_NOTHING]
    return EarlierParts((asked or rows)[0], bool(asked), _media(rows))


def _media(rows: Sequence[InboxRow]) -> tuple[Media, ...]:
    return tuple(media for row in rows for media in row.message.media)
