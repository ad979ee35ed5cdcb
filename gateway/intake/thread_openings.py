"""What a thread is opened with, its title and the message that it was made of, is shown once there.

A channel gives the title with each message that may ask in the thread: the first one in the
thread's view keeps it. A copy of the message that a thread was made of is taken by a turn only if
its view lacks the message itself (see `gateway.context.selection`).
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from channels.message import TITLE, Excerpt, InboundMessage
from gateway.context.selection import MAX_LOOKBACK
from gateway.services import Services
from gateway.storage.ledger.rows import InboxRow
from tape.entry import MESSAGE, Entry
from tape.excerpts import EXCERPTS

MAX_THREADS: Final = 10_000
"""Maximum number of threads of which it is remembered which message has the title."""


@dataclass(frozen=True, slots=True)
class ThreadOpenings:
    """Decides which message shows the title of its thread.

    _titled  for a session and a lane or thread, the key of the message that shows the title
    """

    _services: Services
    _titled: OrderedDict[tuple[str, str], str] = field(default_factory=OrderedDict)

    async def once(
        self, message: InboundMessage, session_id: str, lane: str | None
    ) -> InboundMessage:
        """Return a message without the title of its thread if the thread has shown it."""
        thread = message.thread_id
        if thread is None:
            return message
        left = replace(message, excerpts=without_titles(message.excerpts))
        opens = message.message_id == thread
        if not opens and left.excerpts == message.excerpts:
            return message
        if message.command:  # no view shows it
            return left
        first = self._first((session_id, lane or thread), message.ext_id)
        if opens or not (left.excerpts or says_more(left)):  # it is the title that is new
            return message
        is_first = first == message.ext_id and not await self._shows(message, session_id, lane)
        return message if is_first else left

    def _first(self, place: tuple[str, str], ext_id: str) -> str:
        first = self._titled.setdefault(place, ext_id)
        self._titled.move_to_end(place)
        if len(self._titled) > MAX_THREADS:
            self._titled.popitem(last=False)
        return first

    async def _shows(self, message: InboundMessage, session_id: str, lane: str | None) -> bool:
        """Return whether an earlier process has taken in a message that shows the title."""
        if lane is not None and await self._services.ledger.inbox.asked_in(session_id, lane):
            return True
        tape = self._services.tapes.session_tape(session_id)
        found = await tape.find(lane=lane, kinds=(MESSAGE,), limit=MAX_LOOKBACK, newest=True)
        return any(_has_title(entry, message) for entry in found)

    async def copied(self, row: InboxRow, session_id: str) -> int:
        """Return the entry of the message that a message only repeats, or 0."""
        message = row.message
        copies = {one.copies for one in message.excerpts}
        of = copies.pop() if len(copies) == 1 else ""
        if not of or says_more(message):
            return 0
        inbox, tape = self._services.ledger.inbox, self._services.tapes.session_tape(session_id)
        known = await inbox.find(row.account_id, message.chat_id, of)
        number = known.entry_id if known is not None else 0
        entry = (await tape.entries([number])).get(number) if number else None
        return number if entry is not None and entry.meta.get("message_id") == of else 0


def without_titles(excerpts: Sequence[Excerpt]) -> tuple[Excerpt, ...]:
    """Return excerpts without the titles of threads."""
    return tuple(one for one in excerpts if one.label != TITLE)


def says_more(message: InboundMessage) -> bool:
    """Return whether a message says something beside its excerpts."""
    return bool(message.text.strip() or message.media or message.quote or message.omitted)


def _has_title(entry: Entry, message: InboundMessage) -> bool:
    if entry.meta.get("thread") != message.thread_id:
        return False
    labels = [one.get("label") for one in entry.meta.get(EXCERPTS, ())]
    return TITLE in labels or entry.meta.get("message_id") == message.thread_id
