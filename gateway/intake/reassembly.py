"""Putting together again what a platform tears apart: albums, and pastes that are too long.

Each part is on the disk already; it is held here for a moment, and what else is said in its chat
waits behind it. Nothing of this is needed after a restart: the parts are accepted rows.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import anyio

from channels.message import REST, InboundMessage
from gateway.background import Spawn
from gateway.clock import Clock
from gateway.storage.ledger.rows import InboxRow

MOST_PARTS: Final = 30
HARD_CUT: Final = 4096
"""A part of just this length was cut in the middle of a word; a shorter one at a blank."""

Parts = tuple[InboxRow, ...]
_Chat = tuple[str, str]


@dataclass(slots=True)
class _Open:
    """Parts that wait for more, and what waits behind them."""

    parts: list[InboxRow]
    until: float
    later: deque[tuple[InboxRow, float]] = field(default_factory=deque)
    scope: anyio.CancelScope = field(default_factory=anyio.CancelScope)

    @property
    def named(self) -> bool:
        """Tell whether the platform names the parts, whatever others say between them."""
        return self.parts[0].message.joins != REST

    def overdue(self, behind: Iterable[tuple[InboxRow, float]], now: float) -> bool:
        """Tell whether nothing that waits behind is another part, and the wait for it is over."""
        return self.until <= now and not any(self.takes(row) for row, _arrived in behind)

    def takes(self, row: InboxRow) -> bool:
        """Tell whether a message is another part."""
        first, said = self.parts[0].message, row.message
        if len(self.parts) >= MOST_PARTS or said.kind != "message":
            return False
        if (said.sender.id, said.thread_id) != (first.sender.id, first.thread_id):
            return False
        if self.named:
            return said.joins == first.joins
        plain = not (said.media or said.forwarded or said.reply_to)
        return plain and self.parts[-1].message.joins == REST and not said.text.startswith(",")


class Reassembler:
    """Holds parts back; `release` gets every message in order, with all its parts."""

    def __init__(
        self,
        clock: Clock,
        wait_of: Callable[[str], float],
        release: Callable[[Parts], None],
        spawn: Spawn,
    ) -> None:
        self._clock = clock
        self._wait_of = wait_of
        self._release = release
        self._spawn = spawn
        self._open: dict[_Chat, _Open] = {}
        self._freed = anyio.Event()

    def put(self, row: InboxRow, *, arrived: float | None = None) -> None:
        """Take a message in the order of acceptance; `arrived` when it has waited elsewhere."""
        if arrived is None:
            arrived = self._clock.monotonic()
        chat = (row.account_id, row.message.chat_id)
        held = self._open.get(chat)
        if held is None:
            self._begin(chat, row, arrived)
        elif held.takes(row) and (held.named or not held.later):
            held.parts.append(row)
            held.until = arrived + self._wait_of(row.message.channel)
            if not held.named and row.message.joins != REST:
                held.scope.cancel()
                self._close(chat, held)
        else:
            held.later.append((row, arrived))

    async def idle(self) -> None:
        """Wait until nothing is held back."""
        while self._open:
            await self._freed.wait()

    def _begin(self, chat: _Chat, row: InboxRow, arrived: float) -> None:
        wait = self._wait_of(row.message.channel) if row.message.joins else 0.0
        if wait <= 0:
            self._release((row,))
            return
        held = self._open[chat] = _Open([row], arrived + wait)
        self._spawn("joiner", lambda: self._wait(chat, held))

    async def _wait(self, chat: _Chat, held: _Open) -> None:
        with held.scope:
            while (left := held.until - self._clock.monotonic()) > 0:
                await self._clock.sleep(left)
        if self._open.get(chat) is held:
            self._close(chat, held)

    def _close(self, chat: _Chat, held: _Open) -> None:
        del self._open[chat]
        self._release(tuple(held.parts))
        # They have waited already: what would follow them is here, or comes no more.
        while held.later:
            row, arrived = held.later.popleft()
            self.put(row, arrived=arrived)
            opened = self._open.get(chat)
            if opened is not None and opened.overdue(held.later, self._clock.monotonic()):
                del self._open[chat]
                opened.scope.cancel()
                self._release(tuple(opened.parts))
                held.later.extendleft(reversed(opened.later))
        self._freed.set()
        self._freed = anyio.Event()


def merge_parts(parts: Sequence[InboundMessage]) -> InboundMessage:
    """Make one message of its parts: the first one's place, everybody's text and media."""
    first = parts[0]
    asked = next((part for part in parts if part.addressed), first)
    return replace(
        first,
        text=joined_text([part.text for part in parts]),
        parts=tuple((part.message_id, part.text) for part in parts),
        media=tuple(media for part in parts for media in part.media),
        mentions=tuple(dict.fromkeys(name for part in parts for name in part.mentions)),
        addressed=asked.addressed,
        why=asked.why,
        follows=any(part.follows for part in parts),
    )


def joined_text(texts: Sequence[str]) -> str:
    """Put the texts of parts together: with a line's end, or none where a word was cut."""
    joined = ""
    last = ""
    for text in texts:
        if last:
            cut_in_a_word = len(last) + sum(char > "\uffff" for char in last) >= HARD_CUT
            joined += "" if cut_in_a_word else "\n"
        joined += text
        last = text or last
    return joined
