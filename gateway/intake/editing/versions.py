"""Find the versions of a message, and judge whether an edit of it may ask the agent.

An edit asks once, as a new message would, if its author made it soon after the message, and if no
version of the message has asked before it. Its own row of the ledger is the question. So it is if
it makes a command of a question that still waits, or a question of such a command.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from channels.commands import command_line
from channels.message import InboundMessage
from gateway.intake.editing.revision import content_of, is_same, revised, with_edit
from gateway.services import Services
from gateway.storage.holding import HELD
from gateway.storage.ledger.rows import InboxRow
from tape.entry import parse_date
from tape.erasing import ERASED

MAX_EDIT_SECONDS: Final = 300.0
"""Seconds after a message's own date in which an edit of it may ask."""

TOO_LATE: Final = "it was edited more than five minutes after it was written"
ASKED: Final = "its message has asked already, and no edit asks it again"
GONE: Final = "its message was deleted"
OTHERS: Final = "somebody else than its author edited it"
UNDATED: Final = "its channel does not say when it was edited"


@dataclass(frozen=True, slots=True)
class Versions:
    """The versions of a message that are known when an edit or a deletion of it comes.

    original  the row of the message, which may be a part of another; None if it is on no tape
    subject   the row that has its newest words: of the edit that asked, or of the whole message
    asked     the row of the version that asked the agent, or of its deletion, if there is one
    """

    original: InboxRow | None = None
    subject: InboxRow | None = None
    asked: InboxRow | None = None

    @property
    def known(self) -> InboxRow | None:
        """The original, unless nothing of it is on the tape."""
        one = self.original
        is_known = one is not None and one.status != "refused" and one.message.kind != "change"
        return one if is_known else None

    @property
    def is_erased(self) -> bool:
        return self.original is not None and self.original.message.why == ERASED

    @property
    def is_deleted(self) -> bool:
        """Whether it was deleted, perhaps before it came."""
        return self.asked is not None and self.asked.message.kind == "delete"

    @property
    def was_refused(self) -> bool:
        """Whether it asked, and was refused."""
        one = self.original
        return one is not None and one.status == "refused" and one.message.addressed

    def why_not(self, edit: InboundMessage) -> str:
        """Return why an edit may not ask the agent, or "" if it may."""
        if self.asked is not None:
            return GONE if self.is_deleted else ASKED
        if self.known is not None and self.known.message.sender.id != edit.sender.id:
            return OTHERS
        if not edit.edited:  # a bot fills in what it announced before: that is no edit
            return "" if edit.sender.is_bot and self.known is None else UNDATED
        age = (parse_date(edit.edited) - parse_date(edit.date)).total_seconds()
        return TOO_LATE if age > MAX_EDIT_SECONDS else ""


EDITED: Final = "it was edited, and the edit was taken in its place"


async def versions_of(services: Services, row: InboxRow) -> Versions:
    """Return the versions, before this row, of the message that it is about."""
    inbox = services.ledger.inbox
    original = await inbox.original_of(row)
    head = await inbox.head_of(original) if original is not None else None
    parts = [number for number, _text in head.message.parts] if head is not None else []
    asked = await inbox.asked_version(row, parts)
    by_edit = asked is not None and asked.message.kind == "edit" and asked.entry_id is not None
    return Versions(original, asked if by_edit else head, asked)


def as_question(versions: Versions, row: InboxRow) -> InboxRow | None:
    """Return the row of an edit as that of a new message, or None if it is only recorded.

    Of a message that is on no tape, an edit is taken in, too, if it does not ask.
    """
    edit = row.message
    if versions.is_erased or versions.was_refused:
        return None
    if versions.why_not(edit):
        return _in_place_of_waiting(versions, row)
    if versions.known is None or versions.subject is None:
        said = edit.addressed or edit.command or not content_of(edit).is_empty
        return row if said else None
    whole = versions.subject.message
    if not (edit.addressed or edit.follows or edit.command) or is_same(*revised(whole, edit)):
        return None
    if whole.parts:
        new = with_edit(whole, edit)
        edit = replace(edit, text=new.text, media=new.media, parts=new.parts)
    return replace(row, message=edit, original=versions.known)


def _in_place_of_waiting(versions: Versions, row: InboxRow) -> InboxRow | None:
    """Return the row of an edit that may make a command of a waiting question, or the reverse.

    What has begun is not replaced, nor one part of a message by another.
    """
    subject, edit = versions.subject, row.message
    if subject is None or versions.known is None or subject.status not in ("waiting", HELD):
        return None
    said = subject.message
    if said.parts or said.sender.id != edit.sender.id or said.text == edit.text:
        return None
    if not (said.command or edit.command or command_line(edit.text)):
        return None
    if not edit.edited and not said.command:  # its channel may not say whether it asks
        edit = replace(edit, addressed=True, why=said.why)
    return replace(row, message=edit, original=versions.known, replaces=subject)
