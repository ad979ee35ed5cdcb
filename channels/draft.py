"""Partial text: a pure renderer, and an editor that shows it at the chat's pace.

The next edit starts after the last one returned; unchanged text is skipped; the final text is not
the editor's: it goes out as the answer's own send, into the place that the draft has.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, Protocol

import anyio

from channels.errors import ChannelError, SendDelayed
from channels.message import InboundMessage
from channels.pacing import Clock, Pacing, Priority


@dataclass(slots=True)
class Draft:
    """The text of an answer in progress."""

    _pieces: list[str] = field(default_factory=list)
    _finished: bool = False

    def push(self, delta: str) -> None:
        """Add a piece."""
        if not self._finished:
            self._pieces.append(delta)

    def reset(self) -> None:
        """Forget the text: the answer begins anew."""
        self._pieces.clear()

    def finish(self) -> str:
        """Take no more pieces, and return the text."""
        self._finished = True
        return self.render()

    def render(self) -> str:
        """Return the text so far."""
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""


@dataclass(frozen=True, slots=True)
class DraftReference:
    """Where a draft stands: the key of the answer, and the platform's id once there is one.

    `again`: it was begun before, by a process that may have ended between showing it and writing
    its id down.
    """

    idem: str
    platform_id: str | None = None
    again: bool = False


class DraftJournal(Protocol):
    """Who writes down where drafts stand, before they do: a crash then ends in an edit."""

    async def wait_sent(self, message: InboundMessage) -> None:
        """Wait until nothing is under way to the chat that must stand above a first text."""
        ...

    async def open_draft(self, message: InboundMessage) -> DraftReference | None:
        """Write down that a first text is about to be shown; None: it must not be."""
        ...

    async def locate_draft(self, place: DraftReference) -> None:
        """Write down the platform's id of a draft."""
        ...


LONGEST_SHOWING: Final = 30.0
"""A showing that takes longer is given up, in seconds."""

Show = Callable[[InboundMessage, DraftReference, str], Awaitable[str | None]]
"""Post (no platform id yet) or edit partial text; returns the platform's id of the message.

None where the platform shows partial text that is no message: the answer is then sent beside it.
"""


@dataclass(frozen=True, slots=True)
class Pace:
    """How partial text is shown.

    first_after  how long an answer is waited for before partial text is shown, seconds
    interval     the least time between two showings, seconds, where they cost nothing
    charged      whether a showing is, by now, a write like any other, which waits for its slot
    longest      so many characters of a text are shown while it is written; 0: all
    """

    first_after: float = 0.0
    interval: float = 0.0
    charged: Callable[[], bool] = lambda: True
    longest: int = 0


class DraftEditor:
    """Shows one answer's partial text; `run` is its task."""

    def __init__(
        self,
        message: InboundMessage,
        show: Show,
        journal: DraftJournal,
        pacing: Pacing,
        clock: Clock,
        pace: Pace,
    ) -> None:
        self._message = message
        self._show = show
        self._journal = journal
        self._pacing = pacing
        self._clock = clock
        self._pace = pace
        self._next = clock.monotonic() + pace.first_after
        self._draft = Draft()
        self._changed = anyio.Event()
        self._closed = False
        self._idle = anyio.Event()
        self._waiting = anyio.CancelScope()
        self._place: DraftReference | None = None
        self._shown = ""

    def push(self, delta: str) -> None:
        """Add a piece of text; shown when the chat's pace allows."""
        self._draft.push(delta)
        self._changed.set()

    def reset(self) -> None:
        """Begin anew; what is shown stays until there is other text."""
        self._draft.reset()

    async def close(self) -> DraftReference | None:
        """Show no more, wait for the edit under way, and return where the draft stands.

        A slot that the editor waits for is given up: it is the final's.
        """
        self._closed = True
        self._draft.finish()
        self._changed.set()
        self._waiting.cancel()
        await self._idle.wait()
        return self._place

    async def run(self) -> None:
        """Show text until closed; a platform that refuses partial text ends it early."""
        try:
            while await self._something_new():
                if self._to_show() is None:
                    continue
                await self._slot()
                text = self._to_show()
                if text is not None:
                    await self._show_text(text)
        except ChannelError:
            self._closed = True  # the answer itself will tell what is wrong
        finally:
            self._idle.set()

    def _to_show(self) -> str | None:
        """Return the text, where there is one that is not shown yet."""
        text = self._draft.render()
        if self._pace.longest:
            text = text[: self._pace.longest]
        return None if self._closed or not text.strip() or text == self._shown else text

    async def _slot(self) -> None:
        with anyio.CancelScope() as self._waiting:
            wait = self._next - self._clock.monotonic()
            if wait > 0:
                await self._clock.sleep(wait)
            if self._pace.charged():
                if self._place is None:
                    await self._journal.wait_sent(self._message)
                priority = Priority.EDIT if self._place else Priority.FIRST_TEXT
                await self._pacing.slot(self._message.chat_id, priority)
            else:
                self._next = self._clock.monotonic() + self._pace.interval

    async def _something_new(self) -> bool:
        await self._changed.wait()
        self._changed = anyio.Event()
        return not self._closed

    async def _show_text(self, text: str) -> None:
        if self._place is None:
            self._place = await self._journal.open_draft(self._message)
            if self._place is None:
                self._closed = True
                return
            if self._closed:  # the answer itself goes out now
                return
        try:
            # Also when the gateway ends: a first text whose place nobody knows would stay there.
            with anyio.CancelScope(shield=True), anyio.fail_after(LONGEST_SHOWING):
                platform_id = await self._show(self._message, self._place, text)
                if platform_id != self._place.platform_id:
                    self._place = DraftReference(self._place.idem, platform_id)
                    await self._journal.locate_draft(self._place)
        except TimeoutError:
            self._closed = True
            return
        except SendDelayed as delayed:
            self._pacing.close(self._message.chat_id, delayed.retry_after)
            self._next = self._clock.monotonic() + delayed.retry_after
            self._changed.set()
            return
        finally:
            if self._pace.charged():
                self._pacing.wrote(self._message.chat_id)
        self._shown = text
