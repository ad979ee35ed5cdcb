"""Partial text: what a draft shows, and an editor that shows it as fast as the chat allows.

Each edit waits for the previous one, and unchanged text is skipped. The editor never shows the
final text: sending the answer edits the draft into it.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Final, Protocol

import anyio

from channels.clock import Clock
from channels.errors import ChannelError, SendDelayed
from channels.message import InboundMessage
from channels.pacing import Pacing, Priority
from channels.tally import Tally


@dataclass(slots=True)
class Draft:
    """The text of an answer that is still being written."""

    _pieces: list[str] = field(default_factory=list)

    def push(self, delta: str) -> None:
        self._pieces.append(delta)

    def reset(self) -> None:
        self._pieces.clear()

    def render(self) -> str:
        if len(self._pieces) > 1:
            self._pieces = ["".join(self._pieces)]
        return self._pieces[0] if self._pieces else ""


@dataclass(frozen=True, slots=True)
class DraftReference:
    """Where a draft is shown: the key of its answer, and the platform's id once it is known.

    again  an earlier process may have shown the draft but ended before it recorded the id
    """

    idem: str
    platform_id: str | None = None
    again: bool = False


class DraftJournal(Protocol):
    """Records drafts before they are shown, so that a restart edits them and adds none."""

    async def wait_sent(self, message: InboundMessage) -> None:
        """Wait until the messages that must appear above the draft are sent."""

    async def open_draft(self, message: InboundMessage) -> DraftReference | None:
        """Record that a draft is about to be shown; if the result is None, it must not be shown."""

    async def locate_draft(self, reference: DraftReference) -> None:
        """Record the id that the platform gave a draft."""


MAX_SHOW_SECONDS: Final = 30.0
"""Maximum duration of one update; a draft whose update takes longer is abandoned."""

Show = Callable[[InboundMessage, DraftReference, str], Awaitable[str | None]]
"""The type of `Channel.show`: it posts text without a platform id, and edits text that has one."""


@dataclass(frozen=True, slots=True)
class Pace:
    """The pace at which partial text is shown.

    first_after  seconds to wait for the answer before showing partial text
    interval     minimum seconds between two updates that are not charged
    charged      whether an update counts as a write, which needs a send permit
    rest         how many times the duration of an update to wait after it
    longest      maximum characters shown before the answer is complete; 0: no maximum
    """

    first_after: float = 0.0
    interval: float = 0.0
    rest: float = 0.0
    charged: Callable[[], bool] = lambda: True
    longest: int = 0


class DraftEditor:
    """Shows the partial text of one answer for as long as `run` runs."""

    def __init__(
        self,
        message: InboundMessage,
        show: Show,
        journal: DraftJournal,
        pacing: Pacing,
        clock: Clock,
        pace: Pace,
        tally: Tally,
    ) -> None:
        self._message = message
        self._show = show
        self._journal = journal
        self._pacing = pacing
        self._clock = clock
        self._pace = pace
        self._tally = tally
        self._next = clock.monotonic() + pace.first_after
        self._draft = Draft()
        self._changed = anyio.Event()
        self._closed = False
        self._idle = anyio.Event()
        self._waiting = anyio.CancelScope()
        self._reference: DraftReference | None = None
        self._shown = self._placeholder = ""

    def push(self, delta: str) -> None:
        self._draft.push(delta)
        self._changed.set()

    def hold(self, text: str) -> None:
        """Show a text as long as there is none of the answer."""
        self._placeholder = text
        self._changed.set()

    def reset(self) -> None:
        """Discard the text so far; what is shown stays until there is new text."""
        self._draft.reset()

    def move(self, show: Show, pacing: Pacing) -> None:
        """Show all further updates by another connection."""
        self._show, self._pacing = show, pacing

    async def close(self) -> DraftReference | None:
        """Stop updating, wait for the update in progress, and return the draft."""
        self._closed = True
        self._changed.set()
        self._waiting.cancel()  # leave the send permit to the answer
        await self._idle.wait()
        return self._reference

    async def run(self) -> None:
        """Show partial text until `close`, or until the platform refuses it."""
        try:
            while not self._closed:
                await self._changed.wait()
                self._changed = anyio.Event()
                if self._to_show() is None:
                    continue
                await self._wait_for_permit()
                text = self._to_show()
                if text is not None:
                    await self._show_text(text)
                else:
                    self._tally.dropped += 1
        except ChannelError:
            self._tally.dropped += 1
            self._closed = True  # sending the answer will raise the same error
        finally:
            self._idle.set()

    def _to_show(self) -> str | None:
        text = self._draft.render()
        if self._pace.longest:
            text = text[: self._pace.longest]
        text = text if text.strip() else self._placeholder
        return None if self._closed or not text.strip() or text == self._shown else text

    async def _wait_for_permit(self) -> None:
        with anyio.CancelScope() as self._waiting:
            wait = self._next - self._clock.monotonic()
            if wait > 0:
                await self._clock.sleep(wait)
            if self._pace.charged():
                if self._reference is None:
                    await self._journal.wait_sent(self._message)
                priority = Priority.EDIT if self._reference else Priority.FIRST_TEXT
                await self._pacing.permit(self._message.chat_id, priority)
            else:
                self._next = self._clock.monotonic() + self._pace.interval

    async def _show_text(self, text: str) -> None:
        if self._reference is None:
            self._reference = await self._journal.open_draft(self._message)
            if self._reference is None:
                self._closed = True
                return
            if self._closed:  # the answer is being sent already
                return
            if self._pacing.is_late(self._message.chat_id):  # it took long to record the draft
                self._changed.set()
                return
        began_at = self._clock.monotonic()
        try:
            # Shielded, since a draft that is shown but not recorded would stay in the chat forever.
            with anyio.CancelScope(shield=True), anyio.fail_after(MAX_SHOW_SECONDS):
                platform_id = await self._show(self._message, self._reference, text)
                if platform_id != self._reference.platform_id:
                    self._reference = DraftReference(self._reference.idem, platform_id)
                    await self._journal.locate_draft(self._reference)
        except TimeoutError:
            self._tally.dropped += 1
            self._closed = True
            return
        except SendDelayed as delayed:
            self._tally.dropped += 1
            self._pacing.close(self._message.chat_id, delayed.retry_after)
            self._next = self._clock.monotonic() + delayed.retry_after
            self._changed.set()
            return
        finally:
            if self._pace.charged():
                self._pacing.wrote(self._message.chat_id)
            now = self._clock.monotonic()
            self._next = max(self._next, now + self._pace.rest * (now - began_at))
        self._tally.edits += 1
        self._shown = text
