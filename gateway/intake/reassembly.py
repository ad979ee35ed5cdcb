"""Merge messages that a platform has split: albums, and pastes that are too long for one message.

A part waits here for the next parts, and later messages of its chat wait behind it. All of them are
already in the inbox, so a crash loses nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import anyio

from agent.powers import COMMANDS
from channels.message import REST, InboundMessage
from gateway.background import Spawn
from gateway.clock import Clock
from gateway.intake.entry_meta import word_of
from gateway.pipeline.router import OutboundChannelRouter
from gateway.storage.ledger.rows import InboxRow
from tape.entry import parse_date

MAX_PARTS: Final = 30
MAX_PART_LENGTH: Final = 4096
"""UTF-16 units of a part that was cut at the limit, wherever that was; others end at a blank."""

MAX_GAP_SECONDS: Final = 3.0
"""Maximum seconds between the dates of two parts: what has waited on a platform comes at once."""

Parts = tuple[InboxRow, ...]
_Chat = tuple[str, str]


@dataclass(slots=True)
class _Open:
    """Parts that wait for further parts, and the messages that wait behind them."""

    parts: list[InboxRow]
    until: float  # `join_wait` after its last long part, or the last one of an album
    later: deque[tuple[InboxRow, float]] = field(default_factory=deque)
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)

    @property
    def named(self) -> bool:
        """Whether the platform marks related parts: other messages may then come in between."""
        return self.parts[0].message.joins != REST

    def all_rows(self) -> list[InboxRow]:
        """Return its parts, and what waits behind them."""
        return [*self.parts, *(row for row, _arrived in self.later)]

    def overdue(self, behind: Iterable[tuple[InboxRow, float]], now: float) -> bool:
        """Return whether the wait is over and no message in `behind` is another part."""
        return self.until <= now and not any(self.takes(row) for row, _arrived in behind)

    def takes(self, row: InboxRow) -> bool:
        first, message = self.parts[0].message, row.message
        if len(self.parts) >= MAX_PARTS or message.kind != "message":
            return False
        if (message.sender.id, message.thread_id) != (first.sender.id, first.thread_id):
            return False
        if self.named:
            return message.joins == first.joins
        plain = not (message.media or message.forwarded or message.excerpts or message.reply_to)
        return plain and word_of(message) not in COMMANDS and self._continues(row)

    def _continues(self, row: InboxRow) -> bool:
        """Return whether its author has said nothing else since, and has not taken long to."""
        author = row.message.sender.id
        if any(other.message.sender.id == author for other, _arrived in self.later):
            return False
        gap = parse_date(row.message.date) - parse_date(self.parts[-1].message.date)
        return abs(gap.total_seconds()) <= MAX_GAP_SECONDS


@dataclass(slots=True)
class Reassembler:
    """Holds parts back; `_release` receives all parts of a message together, in order.

    `_held` is called with each part that waits for others, and the seconds for which it does.
    """

    _clock: Clock
    _router: OutboundChannelRouter
    _release: Callable[[Parts], None]
    _spawn: Spawn
    _held: Callable[[InboxRow, float], None] = lambda _row, _seconds: None
    _open: dict[_Chat, _Open] = field(default_factory=dict)
    _freed: anyio.Event = field(default_factory=anyio.Event)

    def put(self, row: InboxRow, *, arrived: float | None = None) -> None:
        """Add a message, in the order of acceptance; pass `arrived` if it has waited before."""
        chat = (row.account_id, row.message.chat_id)
        if arrived is None:
            arrived = self._clock.monotonic()
            if row.message.joins:
                self._held(row, self._join_wait(row))
        held = self._open.get(chat)
        if held is None:
            self._begin(chat, row, arrived)
        elif held.takes(row):
            held.parts.append(row)
            if held.named or row.message.joins == REST:
                held.until = arrived + self._join_wait(row)
        else:
            held.later.append((row, arrived))

    def ids_of(self, session_id: str) -> set[int]:
        """Return the rows of a session that wait here."""
        held = (row for one in self._open.values() for row in one.all_rows())
        return {row.id for row in held if row.session_id == session_id}

    async def idle(self) -> None:
        while self._open:
            await self._freed.wait()

    def _begin(self, chat: _Chat, row: InboxRow, arrived: float) -> None:
        wait = self._join_wait(row) if row.message.joins else 0.0
        if wait <= 0:
            self._release((row,))
            return
        held = self._open[chat] = _Open([row], arrived + wait)
        self._spawn("joiner", lambda: self._wait(chat, held))

    def _join_wait(self, row: InboxRow) -> float:
        channel = self._router.channels.get(row.message.channel)
        return channel.traits.join_wait if channel else 0.0

    async def _wait(self, chat: _Chat, held: _Open) -> None:
        with held.scope:
            while (left := held.until - self._clock.monotonic()) > 0:
                await self._clock.sleep(left)
        if self._open.get(chat) is held:
            self._close(chat, held)

    def _close(self, chat: _Chat, held: _Open) -> None:
        del self._open[chat]
        try:
            self._release_all(chat, held)
        finally:
            self._freed.set()
            self._freed = anyio.Event()

    def _release_all(self, chat: _Chat, held: _Open) -> None:
        self._release(tuple(held.parts))
        # The later messages' own waits ran too: their parts have arrived by now, or never will.
        while held.later:
            row, arrived = held.later.popleft()
            self.put(row, arrived=arrived)
            opened = self._open.get(chat)
            if opened is not None and opened.overdue(held.later, self._clock.monotonic()):
                del self._open[chat]
                opened.scope.cancel()
                self._release(tuple(opened.parts))
                held.later.extendleft(reversed(opened.later))


def joined_parts(rows: Iterable[InboxRow], is_part: Callable[[InboxRow], bool]) -> list[Parts]:
    """Join the parts of messages that have all been accepted, maybe in several chats.

    `is_part` says whether a message may have further parts. The messages are returned in the order
    of their first parts.
    """
    found: list[Parts] = []
    left = deque(rows)
    while left:
        row = left.popleft()
        if not is_part(row):
            found.append((row,))
            continue
        held = _Open([row], float("-inf"))
        place = (row.account_id, row.message.chat_id)
        behind, left = left, deque[InboxRow]()
        for other in behind:
            if (other.account_id, other.message.chat_id) == place and held.takes(other):
                held.parts.append(other)
            else:
                held.later.append((other, 0.0))
                left.append(other)
        found.append(tuple(held.parts))
    return found


def planned_together(left: Iterable[Parts]) -> list[Parts]:
    """Return the first messages, up to a part of an album that another one has to be planned for.

    What belongs to a message is planned when that is on its tape.
    """
    found: list[Parts] = []
    albums: set[tuple[str, str, str]] = set()
    for parts in left:
        row = parts[0]
        album = (row.account_id, row.message.chat_id, album_of(row.message))
        if row.message.kind != "message" or album in albums:
            break
        if album[-1]:
            albums.add(album)
        found.append(parts)
    return found


def album_of(message: InboundMessage) -> str:
    """Return the platform's key of the album that a message is a part of, or ""."""
    return message.joins if message.joins != REST else ""


def merge_parts(parts: Sequence[InboundMessage]) -> InboundMessage:
    """Merge parts into one message with the ids of the first, and the text and media of all."""
    first, text = parts[0], joined_text([part.text for part in parts])
    addressed = next((part for part in parts if part.addressed), first)
    return replace(
        first,
        text=text,
        command=_command_of(parts, text),
        parts=tuple((part.message_id, part.text) for part in parts),
        media=tuple(media for part in parts for media in part.media),
        excerpts=tuple(excerpt for part in parts for excerpt in part.excerpts),
        omitted=tuple(dict.fromkeys(one for part in parts for one in part.omitted)),
        mentions=tuple(dict.fromkeys(name for part in parts for name in part.mentions)),
        addressed=addressed.addressed,
        why=addressed.why,
        follows=any(part.follows for part in parts),
    )


def _command_of(parts: Sequence[InboundMessage], text: str) -> str:
    """Return the command of a long message, or of an album's only caption."""
    first = parts[0]
    if first.joins == REST:
        return first.command and first.command + text.removeprefix(first.text)
    said = [part.command for part in parts if part.text.strip()]
    return said[0] if len(said) == 1 else ""


def joined_text(texts: Sequence[str]) -> str:
    """Join the texts of parts with line breaks, or with nothing where a part fills the limit.

    Apps cut at a blank, a line or a sentence if there is one in reach, and trim the parts. What
    fills the limit was cut wherever that was: in a word, an address, or a script without blanks.
    """
    joined = ""
    last = ""
    for text in texts:
        if last and text:
            joined += "" if _length(last) >= MAX_PART_LENGTH else "\n"
        joined += text
        last = text or last
    return joined


def _length(text: str) -> int:
    return len(text) + sum(char > "\uffff" for char in text)
