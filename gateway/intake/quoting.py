"""Decide how much of the message that it replies to is quoted in a message.

A model must know what a reply is about. A view that shows that message just above the reply needs
no quote. If it stands further above, its beginning says which one is meant. Otherwise, the quote is
all that the model has of it. What holds is decided once, as the reply goes on the tape.

What has been deleted or erased since it was said does not come back in a quote. What the platform
does not bring along is read from the tape.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from agent.taint import author_of, taint_of
from channels.message import InboundMessage, Quote
from gateway.context.lane_assignment import BatchIndex, LaneAssigner, LaneAssignment
from gateway.intake.editing.revision import newest_of
from gateway.storage.ledger.rows import InboxRow, KnownMessage
from tape.context import MESSAGE_EDIT, beginning
from tape.deletions import deleted, source_message
from tape.entry import EVENT, MESSAGE, Entry
from tape.erasing import erased_on
from tape.handle import Tape
from tape.lanes import shown_in
from tape.query import subject_of

BEGINNING_CHARACTERS: Final = 200
"""Maximum characters quoted of a message that the view shows, too."""

NEAR: Final = 100
"""Messages said after one in its lane from which on its view may no longer show it."""

NEXT: Final = 8  # messages to look at for whether anything was said after one but commands

GONE: Final = Quote("a message that is gone")


@dataclass(frozen=True, slots=True)
class FittedQuote:
    """What a message quotes.

    is_own  whether none of it is text of others for the message's author, as far as is known
    """

    quote: Quote | None
    is_own: bool = False

    @property
    def is_gone(self) -> bool:
        return self.quote is GONE

    def put_in(self, message: InboundMessage) -> InboundMessage:
        """Return a message with this quote: itself, if it is the one that the message has."""
        return message if self.quote is message.quote else replace(message, quote=self.quote)


@dataclass(frozen=True, slots=True)
class Quoting:
    """A message that replies to another one: where it stands, and what of its batch is known."""

    tape: Tape
    lanes: LaneAssigner
    session_id: str
    row: InboxRow
    assignment: LaneAssignment
    known: BatchIndex

    async def fitted(self) -> FittedQuote:
        """Return what the message quotes."""
        said, replied = self.row.message, self.assignment.replied
        if replied is not None and not replied.session_id:
            return self._in_batch(replied)
        if replied is None or replied.session_id != self.session_id:
            return FittedQuote(said.quote)
        entry = await self._entry(replied)
        if replied.is_erased or (entry is not None and await self._is_gone(entry)):
            return FittedQuote(GONE, is_own=True)
        if entry is None:
            return FittedQuote(said.quote)
        quote = said.quote or await self._from_tape(entry)
        is_long = len(quote.text) > BEGINNING_CHARACTERS  # it is shortened if the view shows it
        later = await self._later(entry, NEAR if is_long else NEXT)
        is_last = later == [] and self._is_all_of(entry, replied) and not self._may_move()
        taint = taint_of(entry, author_of(entry), f"{said.channel}:{said.sender.id}")
        is_own = not taint and _has_words_of(quote, entry)
        return FittedQuote(_fit(quote, is_last=is_last, in_view=later is not None), is_own)

    def _in_batch(self, replied: KnownMessage) -> FittedQuote:
        said, lane = self.row.message, self.assignment.lane
        key = (self.row.account_id, said.chat_id, said.reply_to)
        is_last = self.known.newest.get((self.session_id, lane)) == key and not self._may_move()
        return FittedQuote(_fit(said.quote, is_last=is_last, in_view=replied.lane == lane))

    def _may_move(self) -> bool:
        """Return whether others may be shown between the two, said while the reply waits."""
        return self.lanes.is_busy(self.session_id, self.assignment.lane)

    async def _entry(self, replied: KnownMessage) -> Entry | None:
        """Return the entry of the words of what is replied to, which may be erased, or None."""
        if replied.entry_id:
            found = (await self.tape.entries([replied.entry_id])).get(replied.entry_id)
            of = subject_of(found) if found is not None and found.kind == EVENT else None
            if of is not None:  # its newest row is that of an edit or of a deletion
                found = (await self.tape.entries([int(of)])).get(int(of))
            has_words = found is not None and (found.kind == MESSAGE or erased_on(found))
            return found if has_words else None
        if not replied.is_answer:
            return None  # a notice, or an answer that is being written
        own = await self.tape.find(turn=replied.turn_id, kinds=(MESSAGE,))
        return next((one for one in reversed(own) if one.meta.get("final")), None)

    async def _is_gone(self, entry: Entry) -> bool:
        number = source_message(entry)
        about = () if number is None else (number,)
        return bool(erased_on(entry) or await deleted(self.tape, about=about))

    async def _later(self, entry: Entry, near: int) -> list[Entry] | None:
        """Return what is shown after a message, below `near`; None if its view may lack it."""
        lane = self.assignment.lane
        if entry.meta.get("lane") != lane and (lane is not None or not shown_in(entry, lane)):
            return None
        start, _outdated = await beginning(self.tape, lane)
        find = partial(self.tape.find, after=entry.id, lane=lane)
        if "command" in entry.meta or (start is not None and start.id > entry.id):
            return None
        messages = await find(kinds=(MESSAGE,), limit=near)
        if len(messages) == near:
            return None
        edits = await find(kinds=(EVENT,), name=MESSAGE_EDIT, limit=1)
        said = [one for one in messages if not {"command", "prompt_of"} & one.meta.keys()]
        shown = [one for one in (*said, *edits) if shown_in(one, lane)]
        in_batch = (self.session_id, lane) in self.known.newest
        return [*shown, *([entry] if in_batch else [])]

    def _is_all_of(self, entry: Entry, replied: KnownMessage) -> bool:
        """Return whether the platform shows an entry as this one message, not as several."""
        if replied.entry_id:
            return entry.meta.get("message_id") == self.row.message.reply_to
        return entry.text == replied.said

    async def _from_tape(self, entry: Entry) -> Quote:
        """Return a message as a quote; its pictures are named, and stay where they are shown."""
        if entry.meta.get("final"):
            return Quote("", text=entry.text, ours=True)
        edits = await self.tape.find(kinds=(EVENT,), name=MESSAGE_EDIT, about=(entry.id,))
        text, media = newest_of(entry, edits)
        name, author = str(entry.meta.get("name", "")), str(entry.meta.get("author", ""))
        return Quote(name, author, text, media=tuple(replace(one, file="") for one in media))


def _has_words_of(quote: Quote, entry: Entry) -> bool:
    """Return whether an entry has all that a quote says, which the platform may write otherwise.

    A platform's quote may have more, such as the preview of a link, which is text of others.
    """
    return not quote.media and _letters(quote.text) in _letters(entry.text)


def _letters(text: str) -> str:
    return "".join(filter(str.isalnum, text))


def _fit(quote: Quote | None, *, is_last: bool, in_view: bool) -> Quote | None:
    if quote is None or quote.chosen:
        return quote
    if is_last and not quote.media:
        return None
    if not in_view or len(quote.text) <= BEGINNING_CHARACTERS:
        return quote
    return replace(quote, text=f"{quote.text[:BEGINNING_CHARACTERS].rstrip()}…")
